# SPDX-License-Identifier: MIT
"""Code that real compilers made, kept below build/."""
import functools
import hashlib
import pathlib
import subprocess
import sys
import tempfile

import build
import toolkits

PRODUCER = pathlib.Path(__file__).resolve().with_name("code_producer.py")


@functools.lru_cache(maxsize=None)
def real_code(version):
    """A folder of code that the nvrtc of this version compiled; compiled once."""
    key = hashlib.sha256(PRODUCER.read_bytes()).hexdigest()[:16]
    folder = build.BUILD / "tests" / "device_code" / key / version
    if folder.exists():
        return folder
    with build.locked(folder.parent / f"{version}.lock"):
        if not folder.exists():
            made = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
            subprocess.run([sys.executable, PRODUCER, toolkits.Toolkit(version).file("nvrtc"),
                            made], check=True)
            made.chmod(0o755)
            made.rename(folder)
    return folder


def archs(folder, name="k"):
    return sorted((file.stem.partition("_")[2] for file in folder.glob(f"{name}_*.ptx")),
                  key=lambda arch: (int(arch.rstrip("af")), arch))
