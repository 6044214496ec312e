# SPDX-License-Identifier: MIT
"""The commands: some questions answered here, retarget in Python, all else in C."""
import os
import sys

from . import paths

USAGE = """\
usage: python -m lazycuda
       python -m lazycuda --libdir [MAJOR] | --compatdir MAJOR
       python -m lazycuda --includedir | --cmakedir | --pkgconfigdir
       python -m lazycuda --version
       python -m lazycuda COMMAND [OPTION...]

Without arguments it prints all folders that there are; else one of them:

  --libdir          the folder of the stubs, to ship
  --libdir MAJOR    of the import libraries of CUDA 11, 12 or 13, to link
  --compatdir MAJOR of stubs that have the names of the real libraries, for
                    LD_LIBRARY_PATH of what needs these and cannot be changed
  --includedir      of lazycuda.h and lazycuda_link.h
  --cmakedir        of the CMake package
  --pkgconfigdir    of the pkg-config files

COMMAND is what `lazycuda --help` lists.
"""


# Options that take a major, and what their folders are called.
BY_MAJOR = {"--libdir": "cuda", "--compatdir": "compat"}


def _ways(option):
    """What may follow an option: [words]"""
    majors = paths.majors(BY_MAJOR[option]) if option in BY_MAJOR else []
    return [[], *([major] for major in majors)][option == "--compatdir":]


def _print_folder(option, words):
    ways = _ways(option)
    folder = paths.FOLDERS[option](*words) if words in ways else None
    if folder and folder.is_dir():
        print(folder)
        return 0
    majors = ", ".join(way[0] for way in ways if way)
    print("lazycuda: " + (
        f"there is no folder {folder}: `make` or `make install` makes it" if folder else
        f"there is no such folder in {paths.libdir()}: `make install COMPAT=12` makes one" if not ways else
        f"{option} takes nothing" if not majors else
        f"{option} takes one of {majors}{', or nothing' if [] in ways else ''}"), file=sys.stderr)
    return 2


def _print_all():
    for option, folder in paths.FOLDERS.items():
        for words in _ways(option):
            if folder(*words).is_dir():
                print(f"{' '.join([option, *words]):<16}{folder(*words)}")


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
    if words:
        print(USAGE, end="")
    else:
        _print_all()
    return 0
