# SPDX-License-Identifier: MIT
"""What the backends and the compiler are told, and what is worth a note."""
import pytest

HAVE = "driver=12.9 nvjitlink=12.9 nvrtc=12.9 arch=sm_80 "
DRIVER = "driver=12.9 nvjitlink=none nvrtc=12.9 arch=sm_80 "
PTX = "k:ptx 8.0 sm_80"
LTO = "k:ltoir 12.0 sm_80"
LTO13 = "m:ltoir 13.0 sm_80"
FOR_WANT = "the driver links, since there is no nvJitLink"


@pytest.mark.parametrize("words, code, options", [
    ("", PTX, ["-arch=sm_80"]),
    ("", LTO, ["-arch=sm_80", "-lto"]),		# LTO-IR implies it
    ("lto", LTO, ["-arch=sm_80", "-lto"]),
    ("lto output=ptx", LTO, ["-arch=sm_80", "-lto", "-ptx"]),
    ("output=ptx", LTO, ["-arch=sm_80", "-lto", "-ptx"]),	# PTX is made by it alone
    ("output=ptx arch=compute_80", LTO, ["-arch=compute_80", "-lto", "-ptx"]),
    ("arch=sm_90a", PTX, ["-arch=sm_90a"]),
    ("driver=13.0 nvjitlink=13.0 output=relocatable", PTX, ["-arch=sm_80", "-r"]),
    ("driver=13.4 nvjitlink=13.4 output=relocatable", "k:ltoir 13.0 sm_80",
     ["-arch=sm_80", "-lto", "-r"]),
    ("driver=13.4 nvjitlink=13.4 output=ltoir", "k:ltoir 13.0 sm_80", ["-arch=sm_80", "-lto", "-r"]),
    ("option=-lineinfo option=-maxrregcount=32", PTX,
     ["-arch=sm_80", "-lineinfo", "-maxrregcount=32"]),
])
def test_nvjitlink_is_told(ask, words, code, options):
    plan = ask(HAVE + words, code)
    assert plan.options == options and not plan.jit
    assert plan.lto == str(int("-lto" in options))


@pytest.mark.parametrize("words, jit, options", [
    ("", ["CU_JIT_TARGET 9 80"], ["CU_JIT_TARGET=80"]),
    ("arch=sm_90a", ["CU_JIT_TARGET 9 65626"], ["CU_JIT_TARGET=90a"]),
    ("arch=sm_100f", ["CU_JIT_TARGET 9 131172"], ["CU_JIT_TARGET=100f"]),
    ("option=-maxrregcount=32 option=-O0",
     ["CU_JIT_TARGET 9 80", "CU_JIT_MAX_REGISTERS 0 32", "CU_JIT_OPTIMIZATION_LEVEL 7 0"],
     ["CU_JIT_TARGET=80", "CU_JIT_MAX_REGISTERS=32", "CU_JIT_OPTIMIZATION_LEVEL=0"]),
])
def test_the_driver_is_told(ask, words, jit, options):
    plan = ask(DRIVER + words, PTX)
    assert (plan.decision, plan.jit, plan.options) == ("driver", jit, options)


def test_an_option_that_the_driver_can_do_without_is_dropped_with_a_note(ask):
    plan = ask(DRIVER + "option=-ftz=1 option=-g", PTX)
    assert plan.options == ["CU_JIT_TARGET=80", "CU_JIT_GENERATE_DEBUG_INFO=1"]
    assert plan.notes == ["option -ftz=1 is left out: it matters only to link-time optimisation,"
                          " which the driver does not have", FOR_WANT]
    # Where there is one, and the driver is taken for another reason, nothing is said.
    assert ask("driver=13.0 nvjitlink=12.9 arch=sm_80", PTX).notes == []


def test_lto_without_ltoir_is_left_out_with_a_note(ask):
    # nvJitLink would fail, and there is nothing to optimise
    plan = ask(HAVE + "lto", PTX)
    assert plan.options == ["-arch=sm_80"]
    assert plan.notes == ["-lto is left out: nothing that is linked is LTO-IR"]


def test_off_on_the_driver_leaves_lto_out_with_a_note(ask):
    plan = ask(DRIVER + "lto policy=off", PTX)
    assert plan.decision == "driver"
    assert plan.notes == ["link-time optimisation is left out: the driver's linker has none", FOR_WANT]


def test_a_relocatable_result_of_ltoir_and_ptx_needs_13_0_only(ask):
    plan = ask("driver=13.0 nvjitlink=13.0 arch=sm_80 output=relocatable", PTX,
               "l:ltoir 13.0 sm_80")
    assert plan.options == ["-arch=sm_80", "-lto", "-r"]


# ---- source ----

@pytest.mark.parametrize("words, to, options", [
    (HAVE, "ptx", ["-arch=compute_80", "-rdc=true"]),
    (HAVE + "lto", "ltoir", ["-arch=compute_80", "-dlto"]),
    (HAVE + "arch=sm_90a lto", "ltoir", ["-arch=compute_90a", "-dlto"]),
    (HAVE + "compile=-DX=1 compile=-I/include", "ptx",
     ["-arch=compute_80", "-rdc=true", "-DX=1", "-I/include"]),
    (DRIVER, "ptx", ["-arch=compute_80", "-rdc=true"]),
    (DRIVER + "lto policy=off", "ptx", ["-arch=compute_80", "-rdc=true"]),
])
def test_source_is_compiled_first(ask, words, to, options):
    plan = ask(words, "k.cu:source")
    assert (plan.compile_to, plan.compile) == (to, options)
    assert plan.steps == [f"input 0 whole {to} compiled"]


def test_ltoir_beside_source_has_the_source_compiled_to_it(ask):
    plan = ask(HAVE, "k.cu:source", LTO)
    assert plan.compile_to == "ltoir" and plan.options == ["-arch=sm_80", "-lto"]
    assert plan.reasons[0] == "compiled by nvrtc 12.9 to LTO-IR for compute_80"


def test_source_of_an_nvrtc_too_new_for_nvjitlink_goes_to_the_driver(ask):
    plan = ask("driver=12.9 nvjitlink=12.4 nvrtc=12.9", "k.cu:source")
    assert (plan.decision, plan.rule) == ("driver", "B7")


ALONE = "driver=12.4 nvjitlink=none nvrtc=12.9 arch=sm_90a"


def test_source_alone_needs_no_linker(ask):
    plan = ask(ALONE, "k.cu:source")
    assert (plan.decision, plan.compile_to, plan.compile, plan.options) == (
        "nvrtc", "cubin", ["-arch=sm_90a"], [])
    assert plan.steps == ["input 0 whole cubin compiled"]
    # A linker that does it comes first.
    assert ask("driver=12.9 nvjitlink=none nvrtc=12.9 arch=sm_90a", "k.cu:source").decision == "driver"


@pytest.mark.parametrize("words, inputs, code", [
    (ALONE, ["k.cu:source", "l.cu:source"], "NVRTC_TOO_NEW"),
    (ALONE + " output=relocatable", ["k.cu:source"], "NVJITLINK_REQUIRED"),
    (ALONE + " lto", ["k.cu:source"], "NVJITLINK_REQUIRED"),
    (ALONE + " option=-lineinfo", ["k.cu:source"], "NVRTC_TOO_NEW"),    # a linker's
    (ALONE + " constraint=<12.5", ["k.cu:source"], "NVRTC_TOO_NEW"),
    (ALONE + " nvrtc=13.0", ["k.cu:source"], "NVRTC_TOO_NEW"),      # the driver does not load it
    (ALONE + " branch=470", ["k.cu:source"], "NVRTC_TOO_NEW"),
    (ALONE + " nvrtc=12.6 arch=sm_100", ["k.cu:source"], "ARCH_UNSUPPORTED"),
])
def test_what_still_needs_one(ask, words, inputs, code):
    assert ask(words, *inputs).code == code


def test_ptx_of_nvrtc_12_6_is_the_same_as_of_12_5(ask):
    assert ask("driver=12.5 nvjitlink=12.5 nvrtc=12.6", "k.cu:source").decision == "nvjitlink"
    assert ask("driver=12.5 nvjitlink=12.5 nvrtc=12.6 lto", "k.cu:source").code == "NVRTC_TOO_NEW"


def test_for_a_target_that_nvrtc_does_not_know_it_compiles_for_the_highest_below(ask):
    plan = ask("driver=12.9 nvjitlink=12.9 nvrtc=12.4 arch=sm_120", "k.cu:source")
    assert plan.compile == ["-arch=compute_90", "-rdc=true"]
    assert plan.options == ["-arch=sm_120"]
    assert plan.notes == ["nvrtc 12.4 does not know sm_120: source is compiled for compute_90,"
                          " which is linked for it"]


def test_text_that_looks_like_nothing_is_source_if_it_is_said_to_be(ask):
    assert ask(HAVE, "k:+declared=source;").compile_to == "ptx"
    assert ask(HAVE, "k:+declared=source;+unseen;").compile_to == "ptx"


# ---- what the driver here can load ----

@pytest.mark.parametrize("words, code", [
    ("driver=12.4 nvjitlink=12.9 output=ptx arch=sm_80", "k:ltoir 12.9 sm_80"),
    ("driver=12.4 nvjitlink=12.9 arch=sm_120", PTX),
    ("driver=13.0 branch=570 nvjitlink=13.1 arch=sm_80", PTX),
])
def test_what_the_driver_does_not_load_is_made_for_another_machine_only(ask, words, code):
    assert ask(words, code).code == "DRIVER_TOO_OLD"
    assert ask(words + " policy=strict", code).code == "DRIVER_TOO_OLD"
    assert ask(words + " flags=offline", code).code == "OK"
    assert ask(words + " flags=forward", code).code == "OK"
    plan = ask(words + " policy=off", code)
    assert plan.code == "OK" and "driver" in " ".join(plan.notes)


def test_off_says_that_the_driver_is_of_an_earlier_major(ask):
    plan = ask("driver=12.4 nvjitlink=13.1 arch=sm_80 policy=off", PTX)
    assert plan.notes == ["a driver for CUDA 12.4 need not load what nvJitLink 13.1 makes"]


def test_a_forward_compatible_driver_changes_nothing_else(ask):
    words = "driver=12.4 nvjitlink=13.0 arch=sm_80 flags=forward "
    assert ask(words, "k:ltoir 13.1 sm_80").code == "LTOIR_TOO_NEW"
    assert ask(words, "k:ltoir 12.9 sm_80").code == "LTOIR_CROSS_MAJOR"
    assert ask(words + "constraint=<13", "k:ltoir 13.0 sm_80").code == "CONSTRAINT"
    # the driver's own linker does not read more for it
    assert ask("driver=12.4 arch=sm_80 flags=forward", "k:ptx 9.0 sm_80").code == "PTX_TOO_NEW"


def test_a_result_that_is_linked_again_is_not_loaded_here(ask):
    assert ask("driver=13.0 branch=570 nvjitlink=13.1 arch=sm_80 output=relocatable",
               PTX).code == "OK"


# ---- constraints ----

@pytest.mark.parametrize("words, inputs, code", [
    (HAVE + "constraint=>=12.6,<13", [PTX], "OK"),
    (HAVE + "constraint=>=13", [PTX], "CONSTRAINT"),
    (DRIVER + "constraint=>=13", [PTX], "OK"),		# nothing of the toolkit is used
    (DRIVER + "constraint=>=13", ["k.cu:source"], "CONSTRAINT"),
    (HAVE + "nvjitlink=unknown constraint=>=13", [PTX], "OK"),
    (HAVE + "constraint=>=13 policy=off", [PTX], "OK"),
])
def test_a_constraint_holds_for_what_is_used(ask, words, inputs, code):
    plan = ask(words, *inputs)
    assert plan.code == code
    if "unknown" in words or "off" in words:
        assert "let pass by the policy" in plan.notes[-1]


# ---- notes ----


@pytest.mark.parametrize("words, inputs, noted", [
    ("nvjitlink=13.0", ["z:{ptx 8.0 sm_80 zstd unseen}", PTX], True),
    # what is seen is refused, and of LTO-IR it is no crash
    ("nvjitlink=13.0", [PTX, "l:ptx 8.0 sm_80"], False),
    ("nvjitlink=13.0", ["z:{ptx 8.0 sm_80 zstd unseen}", LTO13], False),
    ("nvjitlink=13.0", [PTX, "y:{ltoir 13.0 sm_80 zstd unseen}", LTO13], False),
    ("nvjitlink=13.0 flags=isolated", ["z:{ptx 8.0 sm_80 zstd unseen}", PTX], False),
    ("nvjitlink=13.1", ["z:{ptx 8.0 sm_80 zstd unseen}", PTX], False),
])
def test_the_note_about_13_0_is_given_where_it_applies(ask, words, inputs, noted):
    plan = ask(f"{words} arch=sm_80", *inputs)
    assert plan.code == "OK", plan.message
    assert any("twice" in note for note in plan.notes) == noted


def test_ltoir_of_an_older_major_is_noted(ask):
    plan = ask("driver=13.1 nvjitlink=13.1 arch=sm_80 flags=across", LTO, "m:ltoir 12.0 sm_80")
    assert plan.notes == ["k and 1 more: LTO-IR of an older major, which works in every case tried"
                          " and is promised in none"]


def test_a_name_that_says_something_else_is_noted(ask):
    plan = ask(HAVE, "k.cubin:+warning=is PTX, whatever its name says;ptx 8.0 sm_80")
    assert plan.notes == ["k.cubin: is PTX, whatever its name says"]


def test_an_option_that_would_drop_every_kernel_is_left_out(ask):
    words = HAVE + "option=-variables-used=v"
    for inputs in ((PTX,), (LTO, PTX)):
        plan = ask(words, *inputs)
        assert plan.decision == "nvjitlink" and "-variables-used=v" not in plan.options
        assert "drops every kernel" in plan.notes[0]
    for words, one in ((words, LTO), (words + " option=-kernels-used=k", PTX)):
        assert "-variables-used=v" in ask(words, one).options
