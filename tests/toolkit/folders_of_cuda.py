# SPDX-License-Identifier: MIT
"""`lazycuda toolkit` as it is called, and what it takes headers from."""
import json

import build
import toolkits
from projects import clean_environment

FETCHED = {12: "12.9", 13: "13.5"}


def run(*words, **env):
    return build.run(*map(str, (build.TOOL, "toolkit", *words)),
                     env={**clean_environment(), **env})


def make(*words):
    """What is said of a folder that was made."""
    done = run(*words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def packages(folder, *versions):
    """A folder of site-packages with what pip puts there of these CUDAs, but its large files."""
    for version in versions:
        tree = toolkits.TOOLKITS / version / build.ARCH
        for fetched in sorted((tree / ".fetched").glob("*")):
            name, _, number = fetched.name.rpartition("-")
            inside = "cu13" if version.startswith("13") else name[len("nvidia-"):-len("-cu12")].replace("-", "_")
            info = folder / f"{name.replace('-', '_')}-{number}.dist-info"
            info.mkdir(parents=True)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n")
            (folder / "nvidia").mkdir(exist_ok=True)
            if not (folder / "nvidia" / inside).exists():
                (folder / "nvidia" / inside).symlink_to(tree / "nvidia" / inside)
            # Since Python 3.12 a package has those of its files that are there.
            first = next((folder / "nvidia" / inside).glob("include/*")).relative_to(folder)
            (info / "RECORD").write_text(f"{first},,\n{info.name}/RECORD,,\n")
    return folder
