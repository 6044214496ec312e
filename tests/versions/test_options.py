# SPDX-License-Identifier: MIT
"""What becomes of a linker option on nvJitLink and on the driver, and what settings are in the words of
each tool; tests/agreement and test_real.py ask them."""
import itertools

import pytest

from questions import NVJITLINK, NVRTC, ON_DRIVER, ON_NVJITLINK, UNKNOWN, ask, ask_all, cuda
from test_tables import VERSIONS

ALL, NONE = "12.0", None
DROPPED, REFUSED = "dropped", "refused"
# The first nvJitLink that takes it; and CUjit_option and value, or what else
# becomes of it on the driver.
OPTIONS = {
    "-maxrregcount=32": (ALL, (0, 32, "CU_JIT_MAX_REGISTERS")),
    "-maxrregcount=0": (ALL, (0, 0, "CU_JIT_MAX_REGISTERS")),
    "-time": (ALL, REFUSED), "-time=-": (ALL, REFUSED),
    "-verbose": (ALL, (12, 1, "CU_JIT_LOG_VERBOSE")),
    "-O0": ("12.3", (7, 0, "CU_JIT_OPTIMIZATION_LEVEL")),
    "-O1": (NONE, (7, 1, "CU_JIT_OPTIMIZATION_LEVEL")),
    "-O2": (NONE, (7, 2, "CU_JIT_OPTIMIZATION_LEVEL")),
    "-O3": ("12.3", (7, 3, "CU_JIT_OPTIMIZATION_LEVEL")),
    "-O4": (NONE, (7, 4, "CU_JIT_OPTIMIZATION_LEVEL")),
    "-Ofc=0": ("12.5", DROPPED),
    "-Ofc=max": ("12.5", DROPPED), "-Ofc=mid": ("12.9", DROPPED), "-Ofc=min": ("12.9", DROPPED),
    "-g": (ALL, (11, 1, "CU_JIT_GENERATE_DEBUG_INFO")),
    "-lineinfo": (ALL, (13, 1, "CU_JIT_GENERATE_LINE_INFO")),
    **{f"-{name}={value}": (ALL, DROPPED)
       for name in ("ftz", "prec-div", "prec-sqrt", "fma") for value in "01"},
    "-kernels-used=kernel": (ALL, DROPPED), "-variables-used=nothing": (ALL, DROPPED),
    "-optimize-unused-variables": (ALL, DROPPED),
    "-Xptxas=-v": (ALL, REFUSED), "-Xnvvm=-opt=3": (ALL, DROPPED),
    "-nvvm-latest": ("13.5", DROPPED),
    "-split-compile=2": ("12.3", REFUSED), "-split-compile-extended=0": ("12.3", REFUSED),
    "-jump-table-density=50": ("12.3", DROPPED),
    "-no-cache": ("12.5", (14, 0, "CU_JIT_CACHE_MODE")),
    "-device-stack-protector": (NONE, REFUSED),
}
# Crashed by these.
BROKEN = {"-kernels-used=kernel": "12.1", "-variables-used=nothing": "12.1"}
LINKERS = [version for version in VERSIONS if version >= "12"] + ["13.6", "14.0"]


def taken(option, version):
    """Whether nvJitLink of this version takes it."""
    since = OPTIONS[option][0]
    return bool(since) and cuda(since) <= cuda(version) and BROKEN.get(option) != version


@pytest.mark.parametrize("option", OPTIONS)
def test_what_becomes_of_an_option(option):
    said = ask_all([("option", ON_NVJITLINK, cuda(version), option) for version in LINKERS])
    assert [line.split("\t")[0] for line in said] == \
        ["taken" if taken(option, version) else "refused" for version in LINKERS]
    since, expected = OPTIONS[option]
    assert since in (ALL, NONE) or said[0].split("\t")[1] == str(cuda(since))
    # One of unknown version takes what any version takes.
    assert ask("option", ON_NVJITLINK, UNKNOWN, option).split("\t")[0] == ("taken" if since else "refused")
    fate, _, number, value, name, why = ask("option", ON_DRIVER, 12020, option).split("\t")
    if isinstance(expected, tuple):
        assert (fate, int(number), int(value), name, why) == ("taken", *expected, "-")
    else:
        assert fate == expected and name == "-" and len(why) > 10


@pytest.mark.parametrize("option, version, why", [
    ("-no-cache", 12040, "this nvJitLink is older than the option"),
    ("-kernels-used=k", 12010, "it crashes nvJitLink 12.1"),
    ("-O3", 12020, "nvJitLink optimises with -O0 or -O3, and from 12.3 on"),
    ("-O2", 13000, "nvJitLink optimises with -O0 or -O3, and from 12.3 on"),
    ("-device-stack-protector", 13050, "it is in nvJitLink's documentation, and no nvJitLink up to"
     " 13.5 takes it")])
def test_a_refusal_by_nvjitlink_says_why(option, version, why):
    assert ask("option", ON_NVJITLINK, version, option).split("\t")[5] == why


# Some the request has a field for, and some no version has.
@pytest.mark.parametrize("backend", [ON_NVJITLINK, ON_DRIVER])
@pytest.mark.parametrize("fate, options", [
    ("reserved", ["-arch=sm_90", "-arch", "-lto", "-lto=1", "-dlto", "-ptx", "-r", "-rdc=true", "-rdc",
                  "-relocatable-device-code=true"]),
    ("unknown", ["", "-", "--lto", "lto", "-G", "-v", "-O", "-O5", "-O33", "-Ofc", "-Ofc=fast", "-fmad=1",
                 "-use_fast_math", "-archive", "-ltofoo", "-maxrregcounts=3", "-I/usr/include", "-time ",
                 "-timer", " -time", "-std=c++17", "-split-compile-extend=3"])])
def test_what_is_no_option_of_a_linker(fate, options, backend):
    said = {option: ask("option", backend, 13050, option).split("\t")[0] for option in options}
    assert said == dict.fromkeys(options, fate)


@pytest.mark.parametrize("backend", [ON_NVJITLINK, ON_DRIVER])
@pytest.mark.parametrize("option, why", [
    *[(option, "it takes no value") for option in ("-verbose=", "-O3=1", "-optimize-unused-variables=1")],
    *[(f"-ftz{value}", "its value is 0 or 1") for value in ("", "=", "=2", "=true", "=01x", "=-1")],
    *[(f"-{name}=true", "its value is 0 or 1") for name in ("fma", "prec-div", "prec-sqrt")],
    *[(f"-maxrregcount{value}", "its value is a number of registers")
      for value in ("", "=", "=x", "=32x", "= 32", "=-1", "=65536", "=99999999999999999999")],
    *[(f"-split-compile{value}", "its value is a number of threads, 0 for all")
      for value in ("", "=", "=x", "=1.5")],
    *[(f"-jump-table-density{value}", "its value is a percentage, 0 to 101")
      for value in ("", "=", "=102", "=50%")],
    ("-Xptxas", "it needs a value"), ("-Xptxas=", "it needs a value"),
    ("-kernels-used=", "it needs a value")])
def test_a_value_that_makes_no_sense_is_told(option, why, backend):
    said = ask("option", backend, 13050, option).split("\t")
    assert (said[0], said[5]) == ("malformed", why)


# ---- what is said once, in the words of each tool ----

# name=value: the first nvrtc, and the words of nvrtc and of nvJitLink
SETTINGS = {
    "lineinfo": ("11.7", ["-lineinfo"], ["-lineinfo"]),
    "lineinfo=0": ("11.7", [], []),
    "debug": ("11.7", ["-G"], ["-g"]),
    **{f"optimize={level}": ("11.7", [], [f"-O{level}"]) for level in range(5)},
    "max-registers=32": ("11.7", ["-maxrregcount=32"], ["-maxrregcount=32"]),
    "fast-math": ("11.7", ["-use_fast_math"], ["-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"]),
    **{f"{name}={value}": ("11.7", [f"-{compiler}={word}"], [f"-{name}={value}"])
       for name, compiler in (("ftz", "ftz"), ("prec-div", "prec-div"), ("prec-sqrt", "prec-sqrt"),
                              ("fma", "fmad")) for value, word in ((0, "false"), (1, "true"))},
    **{f"fast-compile={level}": (since, [f"-Ofc={level}"], [f"-Ofc={level}"])
       for level, since in (("0", "12.5"), ("min", "12.9"), ("mid", "12.9"), ("max", "12.5"))},
    "split-compile=2": ("12.0", ["-split-compile=2"], ["-split-compile=2"]),
    "split-compile=0": ("12.0", ["-split-compile=0"], ["-split-compile=0"]),
}


def words(tool, setting):
    return ask("setting", tool, setting).split("\t")[1:]


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_words_of_each_tool(setting):
    since, compiler, linker = SETTINGS[setting]
    said = ask("setting", NVRTC, setting).split("\t")
    assert (int(said[0]) or 11070, said[1:]) == (cuda(since), compiler)
    assert words(NVJITLINK, setting) == linker
    for word, backend in itertools.product(linker, (ON_NVJITLINK, ON_DRIVER)):
        assert ask("option", backend, UNKNOWN, word).split("\t")[0] in ("taken", "dropped", "refused")


@pytest.mark.parametrize("setting, why", [
    *[(text, "there is no such setting")
      for text in ("", "=", "lineinf", "line", "Debug", "-G", "0")],
    *[(text, "its value is 0 or 1") for text in ("ftz", "ftz=", "ftz=2", "ftz=true", "fma=-1")],
    *[(text, "its value is 1, or 0, which is the same as to leave it out")
      for text in ("debug=", "debug=2", "lineinfo=on")],
    *[(text, "its value is a level, 0 to 4") for text in ("optimize", "optimize=5", "optimize=x")],
    *[(text, "its value is a number of registers")
      for text in ("max-registers", "max-registers=0", "max-registers=65536", "max-registers=3x",
                   "max-registers=4294967328", "max-registers= 3")],
    *[(text, "its value is 0, min, mid or max") for text in
      ("fast-compile", "fast-compile=1", "fast-compile=maximum")],
    ("split-compile=all", "its value is a number of threads, 0 for all")])
def test_what_is_none_is_told(setting, why):
    assert ask("setting", NVRTC, setting) == why
