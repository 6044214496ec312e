# SPDX-License-Identifier: MIT
"""What the first calls of many stubs cost, by counts: instructions and system calls.
Twelve made-up libraries have stubs beside those of the five."""
import functools
import re

import measure
from measure import BENCH, BUILD, LIB, NEWEST, WORK, Row, compile, run

MADE = 12
VERSIONS = ("12.9", NEWEST)
LIBRARY = """\
library made{0}
    stub libmade{0}_stub.so
    soname libmade{0}.so.11 11.7-11.8
    soname libmade{0}.so.12 12.0-12.9
    soname libmade{0}.so.13 13.0-
    folder nvidia/made{0}/lib 11.7-12.9
    folder nvidia/cu13/lib 13.0-
    package nvidia-made{0}
    variable LAZYCUDA_MADE{0}
    advice Install it.
    error missing 1
    error absent 2
    error refused 3
    error driver 4
    error incoherent 5
    status madeStatus{0}

enum madeStatus{0}
    made{0}Ok 0 11.7-

functions
    made{0}Version 11.7- (out i32)
"""
OWN = {"cudart": "cudaRuntimeGetVersion", "nvrtc": "nvrtcVersion",
       "nvJitLink": "nvJitLinkVersion", "cuda": "cuDriverGetVersion", "nvidia-ml": "nvmlInit_v2"}


def program():
    return compile("many", BENCH / "many.c", "-ldl")


def toolkits():
    return next(line for line in (measure.ROOT / "symbols.txt").read_text().splitlines()
                if line.startswith("toolkits "))


@functools.lru_cache(maxsize=None)
def made():
    """The stubs of the made-up libraries."""
    folder, listing = WORK / "made", WORK / "made.txt"
    folder.mkdir(exist_ok=True)
    listing.write_text("\n".join([toolkits(), "", *(LIBRARY.format(i) for i in range(MADE))]))
    run(BUILD / "gen" / "gen", "-o", folder, listing)
    # Of the sources that there are: objects of others may lie there.
    objects = [BUILD / "obj" / path.relative_to(measure.ROOT).with_suffix(".o")
               for room in ("base", "loader") for path in measure.ROOT.glob(f"stubs/{room}/*.c")]
    flags = re.search(r"BASE_LDFLAGS := (.*?[^\\])$",
                      (measure.ROOT / "packaging/stub/flags.mk").read_text(), re.M | re.S)[1]
    return [compile(f"made/libmade{i}_stub.so", *flags.replace("\\\n", "").split(), "-fPIC",
                    "-fvisibility=hidden", "-I", measure.ROOT / "stubs",
                    f"-Wl,-soname,libmade{i}_stub.so",
                    f"-Wl,--version-script={folder}/libmade{i}_stub.map",
                    folder / f"libmade{i}_stub.c", folder / f"libmade{i}_stub.specifics.c",
                    *objects, "-ldl") for i in range(MADE)]


def stubs(count):
    """[(file, a function)], the runtime's first."""
    own = [(LIB / f"lib{name}_stub.so", function) for name, function in OWN.items()]
    return (own + [(file, f"made{i}Version") for i, file in enumerate(made())])[:count]


def words(stubs):
    return [f"{file}:{function}" for file, function in stubs]


def nowhere(env, bound=()):
    """What begins a command to which no CUDA is to be seen but what these variables lead to."""
    sandbox = compile("sandbox", "-U_GNU_SOURCE", measure.ROOT / "tests/lib/sandbox.c", "-ldl")
    settings = [word for name, value in env.items() for word in ("--env", f"{name}={value}")]
    return [sandbox, *bound, *settings, "--"]


def instructions(*words, bound=(), **env):
    return measure.callgrind("measured", program(), *words, before=nowhere(env, bound))


def system_calls(*words, bound=(), **env):
    log = WORK / "many.strace"
    run(*nowhere(env, bound), measure.tool("strace"), "-f", "-o", log, program(), *words)
    return len(re.search(r"/measured/begins.*?\n(.*)^.*?/measured/ends", log.read_text(),
                         re.S | re.M)[1].splitlines())


def over_plain(count, version):
    """What the first call takes more than dlopen() and the same call."""
    library = measure.real(version)["cudart"]
    env = {"LD_LIBRARY_PATH": str(library.parent)}
    return (count(*words(stubs(1)), **env) -
            count(f"+{library}:cudaRuntimeGetVersion", **env))


def missing(count, number, files=()):
    """The stubs lie where they do on no machine: the folders above them are looked at, too."""
    seen_as = {LIB: "/opt/lazycuda/lib", WORK / "made": "/opt/lazycuda/made"}
    bound = [word for folder, name in seen_as.items() for word in ("--bind", f"{folder}:{name}")]
    return count(*map(str, files), *(f"{seen_as[file.parent]}/{file.name}:{function}"
                                     for file, function in stubs(number)), bound=bound)


def added(objects):
    """The instructions for so many objects more, for one."""
    files = measure.objects()[:objects]
    return (missing(instructions, 1, files) - missing(instructions, 1)) / len(files)


def eager(number):
    """Loading so many stubs with a call of each, where the libraries of the first three are
    installed: if each loads its library with itself, and if the call does."""
    folders = {str(file.parent) for file in measure.real(NEWEST).values()}
    env = {"LD_LIBRARY_PATH": ":".join(sorted(folders))}
    words = [f"+{file}:{function}" for file, function in stubs(number)]
    return [(instructions(*words, LAZYCUDA_EAGER="1", **env), instructions(*words, **env))]


def only(most, count, *arguments):
    """One count of ours, beside what it is to be at most."""
    return lambda: [(count(*arguments), most)]


GROUPS = {
    "First calls, by counts": [
        Row(f"{version}, over dlopen() by hand / 500,000", "instructions", 1,
            only(500_000, over_plain, instructions, version)) for version in VERSIONS
    ] + [
        Row(f"{version}, over dlopen() by hand / 100", "system calls", 1,
            only(100, over_plain, system_calls, version)) for version in VERSIONS
    ] + [
        Row(f"no library, {n} stub{'s'[:n > 1]} / {most:,}", "instructions", 1,
            only(most, missing, instructions, n))
        for n, most in ((1, 500_000), (3, 700_000), (9, 1_300_000), (17, 2_000_000))
    ] + [
        Row(f"no library, {n} stub{'s'[:n > 1]} / {60 + 28 * (n - 1)}", "system calls", 1,
            only(60 + 28 * (n - 1), missing, system_calls, n)) for n in (1, 3, 9, 17)
    ] + [
        Row(f"no library: one of {n:,} objects / 2,500", "instructions", 1,
            only(2500, added, n)) for n in (10, 100, 1000)
    ] + [
        Row(f"eager, {n} stub{'s'[:n > 1]} / by the first calls", "instructions", 1.1,
            functools.partial(eager, n)) for n in (1, 3, 17)
    ],
}
