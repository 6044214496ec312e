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


def _folders():
    """{what asks for it: the folder} of those that are there."""
    found = {}
    for option, folder in paths.FOLDERS.items():
        ways = [(), *zip(paths.majors(BY_MAJOR[option]) if option in BY_MAJOR else ())]
        for words in ways[option == "--compatdir":]:
            found[" ".join([option, *words])] = folder(*words)
    return {asked: folder for asked, folder in found.items() if folder.is_dir()}


def _print_folder(asked):
    found = _folders()
    if asked in found:
        print(found[asked])
        return 0
    print(f"lazycuda: {asked}: there is no such folder; `make install` makes it, and with COMPAT=MAJOR that "
          f"of --compatdir; there is one for each of {', '.join(found)}", file=sys.stderr)
    return 2


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
        return _print_folder(" ".join(words))
    if words and words[0] not in ("--help", "-h"):
        return program()
    if words:
        print(USAGE, end="")
    else:
        for asked, folder in _folders().items():
            print(f"{asked:<16}{folder}")
    return 0
