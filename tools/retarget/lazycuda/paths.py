# SPDX-License-Identifier: MIT
"""Where what belongs to lazycuda lies."""
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent

# What the folders lib/ and bin/ lie in, seen from here: in the Python package,
# in a source tree, in what `make install` made (share/lazycuda/python/lazycuda).
_ROOTS = ("", "../../../build", "../../../..")
_STUB = "libcudart_stub.so"


def _root():
    found = [(PACKAGE / root).resolve() for root in _ROOTS]
    return next((root for root in found if (root / "lib" / _STUB).exists()), found[0])


def libdir(major=None):
    """The folder of the stubs; or of the import libraries of a CUDA major."""
    folder = _root() / "lib"
    if major is None:
        return folder
    inside = folder / "lazycuda" / f"cuda{major}"
    return inside if inside.is_dir() else folder / f"cuda{major}"


def majors():
    """Those that there are import libraries of."""
    folder = libdir()
    return sorted(path.name[len("cuda"):] for inside in (folder / "lazycuda", folder)
                  if inside.is_dir() for path in inside.glob("cuda[0-9]*"))


def includedir():
    return _root() / "include"


def cmakedir():
    return libdir() / "cmake" / "lazycuda"


def pkgconfigdir():
    return libdir() / "pkgconfig"


def program():
    """The command itself."""
    return _root() / "bin" / "lazycuda"


FOLDERS = {"--libdir": libdir, "--includedir": includedir, "--cmakedir": cmakedir,
           "--pkgconfigdir": pkgconfigdir}
