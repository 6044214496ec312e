# SPDX-License-Identifier: MIT
"""What is said once, in the words of each tool; test_real.py asks the tools."""
import pytest

from questions import NVJITLINK, NVRTC, ON_DRIVER, ON_NVJITLINK, UNKNOWN, ask, cuda

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


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_words_for_a_linker_are_options_that_are_known(setting):
    for word in words(NVJITLINK, setting):
        for backend in (ON_NVJITLINK, ON_DRIVER):
            assert ask("option", backend, UNKNOWN, word).split("\t")[0] in (
                "taken", "dropped", "refused")


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
