# SPDX-License-Identifier: MIT
"""Support modules: linked once, if and only if they are enabled and either the
program declares one of their functions or something that is linked asks for them."""
import pytest

HAVE = "driver=12.9 nvjitlink=12.9 nvrtc=12.9 arch=sm_80"
NRT = "support=nrt:on:NRT_incref,NRT_decref:ptx 8.0 sm_80 def=NRT_incref"


def linked(plan):
    return [step.split(" ")[1] for step in plan.steps if step.startswith("support")]


@pytest.mark.parametrize("code, needed", [
    ("k:+main;ptx 8.0 sm_80 ext=NRT_incref", True),
    ("k:+main;ptx 8.0 sm_80 ext=NRT_decref ext=other", True),
    ("k:+main;cubin 12.0 sm_80 ext=NRT_incref", True),
    ("k:+main;{ptx 8.0 sm_80 ext=NRT_incref}", True),
    ("k:+needs=0;ptx 8.0 sm_80", True),
    ("k:+needs=0;source", True),
    ("k:+needs=0;ltoir 12.0 sm_80", True),
    ("k:+main;ptx 8.0 sm_80 ext=NRT_increfs", False),	# exactly that name
    ("k:+main;ptx 8.0 sm_80 ext=NRT_incre", False),
    ("k:+main;ptx 8.0 sm_80 def=NRT_Incref", False),
    ("k:+main;ptx 8.0 sm_80", False),
    ("k:ptx 8.0 sm_80 ext=NRT_incref", False),		# not the program itself
    ("k:+main;source", False),				# is searched once it is compiled
    # of a container what would be taken for the target
    ("k:+main;{ptx 8.0 sm_80/ptx 8.0 sm_52 ext=NRT_incref}", False),
])
def test_a_module_is_linked_if_it_is_needed(ask, code, needed):
    plan = ask(HAVE, code, more=[NRT])
    assert plan.code == "OK", plan.message
    assert linked(plan) == (["0"] if needed else [])


def test_a_module_that_is_not_enabled_is_not_linked(ask):
    off = NRT.replace(":on:", ":off:")
    assert linked(ask(HAVE, "k:+main;ptx 8.0 sm_80 ext=NRT_incref", more=[off])) == []
    plan = ask(HAVE, "k:+needs=0;ptx 8.0 sm_80", "l:+needs=0;ptx 8.0 sm_80", more=[off])
    assert linked(plan) == []
    assert plan.notes == ["support module 0 (nrt), which k needs, is not enabled"]


def test_a_link_may_do_without_any(ask):
    plan = ask(HAVE + " flags=support", "k:+main;+needs=0;ptx 8.0 sm_80 ext=NRT_incref", more=[NRT])
    assert plan.code == "OK" and linked(plan) == []
    assert plan.notes == ["support module 0 (nrt), which k needs, is not enabled"]


def test_a_plan_says_that_source_is_searched_later(ask):
    note = "k: which support modules it needs is seen once it is compiled"
    assert ask(HAVE, "k:+main;source", more=[NRT]).notes == [note]
    for words, code, more in ((HAVE, "k:+main;source", []), (HAVE, "k:source", [NRT]),
                              (HAVE + " flags=support", "k:+main;source", [NRT])):
        assert ask(words, code, more=more).notes == []


def test_a_module_that_many_need_is_linked_once_and_last(ask):
    plan = ask(HAVE, "a:+main;+needs=0;ptx 8.0 sm_80 ext=NRT_incref",
               "b:+main;+needs=0;ptx 8.0 sm_80 ext=NRT_decref", more=[NRT])
    assert plan.steps == ["input 0 entry 0 ptx as_is", "input 1 entry 0 ptx as_is",
                          "support 0 entry 0 ptx as_is"]


def test_modules_bring_those_that_they_need(ask):
    more = ["support=a:on:fa:+needs=2;ptx 8.0 sm_80", "support=b:on:fb:ptx 8.0 sm_80",
            "support=c:on:fc:+needs=0;+needs=3;ptx 8.0 sm_80", "support=d:on:fd:ptx 8.0 sm_80"]
    assert linked(ask(HAVE, "k:+main;ptx 8.0 sm_80 ext=fa", more=more)) == ["0", "2", "3"]
    assert linked(ask(HAVE, "k:+main;ptx 8.0 sm_80 ext=fb", more=more)) == ["1"]
    more[2] = more[2].replace(":on:", ":off:")
    assert linked(ask(HAVE, "k:+main;ptx 8.0 sm_80 ext=fa", more=more)) == ["0"]


def test_a_function_of_two_modules_brings_both(ask):
    more = ["support=a:on:f:ptx 8.0 sm_80", "support=b:on:f:ptx 8.0 sm_80"]
    assert linked(ask(HAVE, "k:+main;ptx 8.0 sm_80 ext=f", more=more)) == ["0", "1"]


def test_the_same_modules_are_linked_whoever_links(ask):
    code = "k:+main;{ptx 8.8 sm_80 ext=NRT_incref/ptx 8.0 sm_80}"
    # of two alike the last is taken, if versions are not looked at
    for words in ("driver=12.9 nvjitlink=12.9 arch=sm_80", "driver=12.0 nvjitlink=none arch=sm_80"):
        assert linked(ask(words, code, more=[NRT])) == []


def test_a_program_that_is_linked_as_ltoir_is_searched_in_the_ptx_beside_it(ask):
    plan = ask(HAVE + " lto", "k:+main;{ptx 8.0 sm_80 ext=NRT_incref/lto 12.0 sm_80}", more=[NRT])
    assert plan.steps == ["input 0 entry 1 ltoir as_is", "support 0 entry 0 ptx as_is"]


def test_a_module_of_ltoir_asks_for_lto(ask):
    more = ["support=nrt:on:f:ltoir 12.0 sm_80"]
    plan = ask(HAVE, "k:+main;ptx 8.0 sm_80 ext=f", more=more)
    assert plan.options == ["-arch=sm_80", "-lto"]
    plan = ask("driver=12.9 arch=sm_80", "k:+main;ptx 8.0 sm_80 ext=f", more=more)
    assert plan.code == "NVJITLINK_REQUIRED" and "nrt is LTO-IR" in plan.message


def test_a_module_of_source_is_compiled(ask):
    plan = ask(HAVE, "k:+needs=0;ptx 8.0 sm_80", more=["support=nrt:on:f:source"])
    assert plan.steps[1] == "support 0 whole ptx compiled"


def test_a_module_that_cannot_be_linked_is_named_and_is_no_input(ask):
    plan = ask(HAVE, "k:+needs=0;ptx 8.0 sm_80", more=["support=nrt:on:f:ptx 9.0 sm_80"])
    assert (plan.code, plan.input) == ("PTX_TOO_NEW", None)
    assert plan.message.startswith("nrt: PTX 9.0")
    # and is of no interest where it is not needed
    assert ask(HAVE, "k:ptx 8.0 sm_80", more=["support=nrt:on:f:ptx 9.0 sm_80"]).code == "OK"


def test_what_a_module_defines_must_not_be_defined_elsewhere(ask):
    plan = ask(HAVE, "k:+needs=0;ptx 8.0 sm_80 def=NRT_incref", more=[NRT])
    assert plan.code == "DUPLICATE_SYMBOL"
    assert "nrt: it defines NRT_incref, and so does k" in plan.message
