# SPDX-License-Identifier: MIT
"""LAZYCUDA_LINK_IGNORE_NON_LTO: what cannot take part in link-time optimisation is left out."""
import pytest

HAVE = "nvjitlink=12.9 nvrtc=12.9 arch=sm_80 flags=ignore"
LTO, PTX, CUBIN = "l:ltoir 12.9 sm_80", "p:ptx 8.0 sm_80", "c:cubin 12.0 sm_80"


@pytest.mark.parametrize("inputs, steps, notes", [
    ([LTO], [0], []),
    ([PTX, LTO, CUBIN], [1],
     ["p is left out: it is not LTO-IR", "c is left out: it is not LTO-IR"]),
    (["s:source", PTX], [0], ["p is left out: it is not LTO-IR"]),
    # it is not asked whether a linker would take them
    (["n:ptx 9.9 sm_80", "o:cubin 13.0 sm_90", "e:cubin 12.0 sm_80 linked", LTO], [3],
     ["n is left out: it is not LTO-IR", "o is left out: it is not LTO-IR",
      "e is left out: it is not LTO-IR"]),
    (["f:{ptx 8.0 sm_80}/{ltoir 12.9 sm_80/ptx 8.0 sm_80}"], [0],
     ["f: 1 of 2 pieces are left out: they are not LTO-IR"]),
    (["f:{ltoir 13.0 sm_80/ptx 8.0 sm_80}", LTO], [1], ["f is left out: it is not LTO-IR"]),
    (["h:+is=object;", LTO], [1], ["h is left out: it is not LTO-IR"]),
])
@pytest.mark.parametrize("more", ["", " lto", " output=ptx"])
def test_what_is_left_out(ask, inputs, steps, notes, more):
    plan = ask(HAVE + more, *inputs)
    assert plan.code == "OK", plan.message
    assert [int(step.split()[1]) for step in plan.steps] == steps
    assert plan.notes == notes and "-lto" in plan.options


def test_support_modules_are_left_out_too(ask):
    plan = ask(HAVE, "k:+needs=0;+needs=1;ltoir 12.9 sm_80",
               more=["support=a:on:fa:ptx 8.0 sm_80", "support=b:on:fb:ltoir 12.9 sm_80"])
    assert plan.code == "OK" and len(plan.steps) == 2
    assert plan.notes == ["a is left out: it is not LTO-IR"]


@pytest.mark.parametrize("words, inputs, code", [
    (HAVE, [PTX, CUBIN], "NO_USABLE_ENTRY"),
    (HAVE, [PTX, "l:ltoir 13.0 sm_80"], "LTOIR_TOO_NEW"),
    (HAVE, [PTX, "b:+error=broken;ptx 8.0 sm_80"], "BAD_INPUT"),
    ("driver=12.9 nvjitlink=none arch=sm_80 flags=ignore", [PTX], "NVJITLINK_REQUIRED"),
    ("driver=12.9 nvjitlink=none arch=sm_80 flags=ignore policy=off", [PTX], "LTOIR_ON_DRIVER"),
])
def test_what_is_refused_all_the_same(ask, words, inputs, code):
    assert ask(words, *inputs).code == code
