# SPDX-License-Identifier: MIT
"""The commands: some questions answered here, retarget and toolkit in Python, all else in C."""
import hashlib
import importlib
import os
import resource
import signal
import sys

from . import paths

USAGE = """\
usage: python -m lazycuda
       python -m lazycuda --libdir [MAJOR] | --compatdir MAJOR
       python -m lazycuda --includedir | --cmakedir | --pkgconfigdir
       python -m lazycuda --toolkit MAJOR
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
  --toolkit MAJOR   what `lazycuda toolkit` makes, in the user's cache: made or
                    brought up to date, for CUDA_HOME or CUDAToolkit_ROOT

COMMAND is what `lazycuda --help` lists.
"""


def begin():
    """^C ends the command without a traceback, also while modules are loaded; and no file that is
    opened becomes a standard stream that is closed, as in tools/main.c."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})     # see tools/python_command.c
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY if stream == 1 else os.O_WRONLY), True)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)
    sys.stdout.reconfigure(errors="replace")


def die_of(number):
    """Dies as a program without a handler does, so that a shell's loop ends, too."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def limit(limits):
    """What a child process calls first: {kind of resource: the most of it}"""
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(kind, (most, hard))


def _drop(stream):
    """Python would try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def complain(text):
    """Of what standard error does not take nobody can be told."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _drop(2)


def say(text, who="lazycuda"):
    """False, after a message, if standard output does not take it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        die_of(signal.SIGPIPE)
    except OSError as error:
        complain(f"{who}: standard output: {error.strerror}")
        _drop(1)
        return False
    return True


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
        return 0 if say(found[asked]) else 2
    complain(f"lazycuda: {asked}: there is no such folder; `make install` makes it, and with COMPAT=MAJOR that "
             f"of --compatdir; there is one for each of {', '.join(found)}")
    return 2


def _toolkit(major):
    """Each Python has its own: another one has other headers."""
    from . import toolkit
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    name = f"toolkit{major}-{hashlib.sha256(sys.prefix.encode()).hexdigest()[:8]}"
    return toolkit.main(["--quiet", "--cuda", major, os.path.join(cache, "lazycuda", name)])


def _run_program(words):
    program = paths.program()
    try:
        os.execv(program, [str(program), *words])
    except OSError as error:
        complain(f"lazycuda: {program}: {error.strerror}")
        return 2


def program():
    """`lazycuda` of the Python package: as the command in C, but that what is in Python
    runs in the one that it was installed into."""
    begin()
    words = sys.argv[1:]
    if words and words[0] in ("retarget", "toolkit"):
        return importlib.import_module(f"lazycuda.{words[0]}").main(words[1:])
    return _run_program(words)


def main():
    """`python -m lazycuda`"""
    begin()
    words = sys.argv[1:]
    if words and words[0] in paths.FOLDERS:
        return _print_folder(" ".join(words))
    if len(words) == 2 and words[0] == "--toolkit":
        return _toolkit(words[1])
    if words and words[0] not in ("--help", "-h"):
        return program()
    text = USAGE[:-1] if words else "\n".join(f"{asked:<16}{folder}" for asked, folder in _folders().items())
    return 0 if say(text) else 2
