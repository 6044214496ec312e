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


def _what_it_takes(option, kind):
    majors = ", ".join(paths.majors(kind)) if kind else ""
    if option == "--compatdir" and not majors:
        return f"there is no such folder in {paths.libdir()}: `make install COMPAT=12` makes one"
    return f"{option} takes " + (f"one of {majors}" + ", or nothing" * (option == "--libdir")
                                 if kind else "nothing")


def _print_folder(option, words):
    kind = BY_MAJOR.get(option)
    if kind and len(words) == 1 and words[0] in paths.majors(kind):
        folder = paths.FOLDERS[option](words[0])
    elif not words and option != "--compatdir":
        folder = paths.FOLDERS[option]()
    else:
        print(f"lazycuda: {_what_it_takes(option, kind)}", file=sys.stderr)
        return 2
    if not folder.is_dir():
        print(f"lazycuda: there is no folder {folder}: `make` or `make install` makes it",
              file=sys.stderr)
        return 2
    print(folder)
    return 0


def _print_all():
    for option, folder in paths.FOLDERS.items():
        majors = paths.majors(BY_MAJOR[option]) if option in BY_MAJOR else []
        asked = [(f"{option} {major}", folder(major)) for major in majors]
        if option != "--compatdir":
            asked.insert(0, (option, folder()))
        for words, place in asked:
            if place.is_dir():
                print(f"{words:<16}{place}")


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
