# SPDX-License-Identifier: MIT
"""The real CUDA libraries in build/toolkits (tools/upkeep/fetch.py puts them there)."""
import os
import pathlib
import platform
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "upkeep"))
import fetch  # noqa: E402

TOOLKITS = ROOT / "build" / "toolkits"
FAILURES = ROOT / "build" / "tests" / "fetch-failures.txt"
# The newest of each major; `make test-all` takes the oldest of two as well.
DEFAULT = ("11.8", "12.9", "13.5")
WITH_ALL = ("11.8", "12.0", "12.9", "13.0", "13.5")


def known(arch=platform.machine()):
    """Every toolkit of tools/upkeep/toolkits.txt that has a runtime for this CPU,
    oldest first."""
    return [version for version, part, _, _, arches in fetch.read_table()
            if part == "cudart" and arch in arches]


def requested():
    """Versions that CUDA_VERSIONS asks for, oldest first."""
    words = re.split(r"[,\s]+", os.environ.get("CUDA_VERSIONS", "").strip())
    if words == [""]:
        return list(DEFAULT)
    if words == ["all"]:
        return known()
    wanted = [word for word in words if word != "none"]
    unknown = set(wanted) - set(known())
    if unknown:
        raise SystemExit(f"CUDA_VERSIONS: there is no {', '.join(sorted(unknown))}")
    return [version for version in known() if version in wanted]


def all_requested():
    return requested() == known()


def requested_aarch64():
    """Those of them that are also run for aarch64."""
    if all_requested():
        return known("aarch64")
    return [version for version in DEFAULT if version in requested()]


def linked():
    """Versions that programs are linked against, to run on all that are asked
    for."""
    return requested() if all_requested() else DEFAULT


def can_run_aarch64():
    return bool(platform.machine() == "aarch64" or
                shutil.which("qemu-aarch64-static") and shutil.which("aarch64-linux-gnu-gcc"))


class Toolkit:
    def __init__(self, version, arch=platform.machine()):
        self.version = version
        self.major, self.minor = map(int, version.split("."))
        self.site = TOOLKITS / version / arch

    def file(self, library):
        """.../libcudart.so.12, or None: there is no nvJitLink of 11."""
        found = [path for path in self.site.glob(f"nvidia/*/lib/lib{library}.so.*")]
        return found[0] if found else None

    def files(self):
        return [path for path in self.site.glob("nvidia/*/lib/lib*.so.*")]

    def present(self):
        return self.file("cudart") is not None and self.file("nvrtc") is not None

    def why_absent(self):
        """A reason to skip, or None."""
        if self.present():
            return None
        if self.version not in requested():
            return f"CUDA {self.version} was not asked for (CUDA_VERSIONS)"
        failures = FAILURES.read_text().splitlines() if FAILURES.exists() else []
        mine = [line for line in failures if f"=={self.version}" in line]
        return ": ".join([f"CUDA {self.version} could not be fetched", *mine[:1]])
