# SPDX-License-Identifier: MIT
"""The real libraries in build/libraries (tools/upkeep/fetch.py puts them there)."""
import platform

import build
import toolkits

FOLDER = build.BUILD / "libraries"


def files(name, cudas=("cu12", "cu13")):
    """That library of each CUDA, the oldest first."""
    return [path for cuda in cudas
            for path in sorted((FOLDER / cuda).glob(f"*/nvidia/*/lib/lib{name}.so.*"))]


def folders(file):
    """Where it and what it needs lie."""
    site = file.parents[3]
    own = sorted({path.parent for path in site.glob("nvidia/*/lib/lib*.so.*")})
    other = toolkits.Toolkit("12.1" if "cu12" in file.parts else "13.0").site
    return [file.parent, *own, *sorted(other.glob("nvidia/nvjitlink/lib")),
            *sorted(other.glob("nvidia/cu13/lib"))]


def why_absent(name):
    """A reason to skip, or None."""
    if platform.machine() != "x86_64":
        return "tools/upkeep/libraries.txt has them for x86-64"
    if files(name):
        return None
    if name != "curand" and not toolkits.all_requested():
        return f"{name} was not asked for (CUDA_VERSIONS=all)"
    return f"{name} could not be fetched"
