# SPDX-License-Identifier: MIT
"""Where the parts of lazycuda lie."""
from __future__ import annotations

import pathlib
from typing import List, Optional, Union

PACKAGE = pathlib.Path(__file__).resolve().parent

# The folder that has lib/ and bin/, relative to this one: in the Python package, in what make builds.
_ROOTS = ("", "../../../..")
_STUB = "libcudart_stub.so"


def _place(name: str) -> pathlib.Path:
    """The folder lib, include or bin: where `make install` says that it is, else in the root."""
    said = PACKAGE / "places"
    if said.exists():
        places = dict(line.split(" ", 1) for line in said.read_text().splitlines())
        return (PACKAGE / places[name]).resolve()
    found = [(PACKAGE / root).resolve() for root in _ROOTS]
    return next((root for root in found if (root / "lib" / _STUB).exists()), found[0]) / name


def libdir(major: Optional[Union[int, str]] = None) -> pathlib.Path:
    """The folder of the stubs; or of the import libraries of a CUDA major."""
    folder = _place("lib")
    return folder if major is None else of_major(folder, f"cuda{major}")


def of_major(folder: pathlib.Path, name: str) -> pathlib.Path:
    inside = folder / "lazycuda" / name
    return inside if inside.is_dir() else folder / name


def compatdir(major: Union[int, str], folder: Optional[pathlib.Path] = None) -> pathlib.Path:
    """The folder of the stubs that have the real libraries' names, of a CUDA major; of other
    stubs than those of this package, if their folder is given."""
    return of_major(folder or libdir(), f"compat{major}")


def majors(kind: str = "cuda", folder: Optional[pathlib.Path] = None) -> List[str]:
    """Those of which there are import libraries, or with "compat" stubs under the real names."""
    folder = folder or libdir()
    return sorted({path.name[len(kind):] for inside in (folder / "lazycuda", folder)
                   for path in inside.glob(f"{kind}[0-9]*") if path.is_dir()})


def includedir() -> pathlib.Path:
    """The folder of the headers; make leaves those of a source tree where they are."""
    folder = _place("include")
    source = folder.parents[1] / "include"
    return source if not folder.is_dir() and (source / "lazycuda.h").exists() else folder


def cmakedir() -> pathlib.Path:
    return libdir() / "cmake" / "lazycuda"


def pkgconfigdir() -> pathlib.Path:
    return libdir() / "pkgconfig"


def program() -> pathlib.Path:
    """The command itself."""
    return _place("bin") / "lazycuda"


FOLDERS = {"--libdir": libdir, "--compatdir": compatdir, "--includedir": includedir,
           "--cmakedir": cmakedir, "--pkgconfigdir": pkgconfigdir}
