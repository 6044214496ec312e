# SPDX-License-Identifier: MIT
"""The commands: some questions answered here, retarget in Python, all else in C."""
import os
import sys

from . import paths

USAGE = """\
usage: python -m lazycuda --libdir [MAJOR] | --includedir | --cmakedir | --pkgconfigdir
       python -m lazycuda --version
       python -m lazycuda COMMAND [OPTION...]

  --libdir          the folder of the stubs, to ship
  --libdir MAJOR    of the import libraries of CUDA 11, 12 or 13, to link
  --includedir      of lazycuda.h and lazycuda_link.h
  --cmakedir        of the CMake package
  --pkgconfigdir    of the pkg-config files

COMMAND is what `lazycuda --help` lists.
"""


def _print_folder(option, words):
    if option == "--libdir" and len(words) == 1 and words[0] in paths.majors():
        print(paths.libdir(words[0]))
    elif not words:
        print(paths.FOLDERS[option]())
    else:
        print(f"lazycuda: {option} takes " +
              (f"one of {', '.join(paths.majors())}, or nothing" if option == "--libdir"
               else "nothing"), file=sys.stderr)
        return 2
    return 0


def _run_program(words):
    program = paths.program()
    try:
        os.execv(program, [str(program), *words])
    except OSError as error:
        print(f"lazycuda: {program}: {error.strerror}", file=sys.stderr)
        return 2


def program():
    """`lazycuda` of the Python package: as the command in C, but that retarget
    runs in the Python that it was installed into."""
    words = sys.argv[1:]
    if words and words[0] == "retarget":
        from . import retarget
        return retarget.main(words[1:])
    return _run_program(words)


def main():
    """`python -m lazycuda`"""
    words = sys.argv[1:]
    if words and words[0] in paths.FOLDERS:
        return _print_folder(words[0], words[1:])
    if words and words[0] not in ("--help", "-h"):
        return program()
    print(USAGE, end="", file=sys.stdout if words else sys.stderr)
    return 0 if words else 2
