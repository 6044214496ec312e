# SPDX-License-Identifier: MIT
"""LLVM IR: which libnvvm compiles it, to what and how, and that the plan is that of what it makes."""
import json

import pytest

IR = "k.ll:+is=llvm ir;"
BITCODE = "k.bc:+is=bitcode;"
LISTED = "k.ll:+is=llvm ir;ptx ? sm_80 listed"
WITH_LIBDEVICE = "k.ll:+is=llvm ir;ptx ? sm_80 libdevice"
WITHOUT_LAYOUT = "k.ll:+is=llvm ir;ptx ? sm_80 no-layout"
HAVE = "driver=12.9 nvjitlink=12.9 arch=sm_90 "


@pytest.mark.parametrize("text", [IR, BITCODE, "k.ll:+declared=llvm ir;+is=llvm ir;"])
def test_it_is_compiled_to_ptx(ask, text):
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9", text)
    assert (plan.decision, plan.code, plan.nvvm) == ("nvjitlink", "OK", "12090")
    assert plan.ir == ["-arch=compute_90"] and plan.compile == [] and plan.compile_to is None
    assert plan.steps == ["input 0 whole ptx compiled"] and plan.lto == "0"
    assert plan.reasons == ["compiled by libnvvm 12.9 to PTX for compute_90, with libdevice"]
    assert plan.notes == []


@pytest.mark.parametrize("words, nvvms, taken, arch", [
    ("nvjitlink=12.9 arch=sm_90", "13.5,12.9,12.4", "12090", "compute_90"),
    ("nvjitlink=13.5 arch=sm_90", "12.9,13.5", "13050", "compute_90"),
    ("nvjitlink=13.4 arch=sm_90", "12.9,13.0", "12090", "compute_90"),
    # which knows the target, before which is the linker's own
    ("nvjitlink=13.5 arch=sm_103a", "12.8,12.9", "12090", "compute_103a"),
    ("nvjitlink=12.9 arch=sm_60", "13.0,12.4", "12040", "compute_60"),
    ("nvjitlink=12.9 arch=sm_100", "12.4", "12040", "compute_90"),
    ("nvjitlink=unknown arch=sm_90", "13.5", "13050", "compute_90"),
    ("nvjitlink=12.9 arch=sm_90", "unknown", "-1", "compute_90"),
    ("nvjitlink=none driver=12.4 arch=sm_90", "12.9,12.4", "12040", "compute_90"),
    ("nvjitlink=none driver=12.4 arch=sm_90a", "12.3", "12030", "compute_90a")])
def test_the_libnvvm_that_fits_the_linker_and_the_target(ask, words, nvvms, taken, arch):
    plan = ask(f"driver=none {words} nvvms={nvvms} libdevices={nvvms} policy=best_effort", IR)
    assert (plan.code, plan.nvvm, plan.ir) == ("OK", taken, [f"-arch={arch}"])
    assert [f"compiled for {arch}" in note for note in plan.notes
            if "does not know" in note] == [True] * (arch == "compute_90" and "sm_100" in words)


def test_one_with_libdevice_goes_before_one_without(ask):
    words = HAVE + "nvvms=12.9,12.8 libdevices=none,12.8"
    for text in (IR, WITH_LIBDEVICE):
        plan = ask(words, text)
        assert plan.nvvm == "12080" and plan.reasons[0].endswith(", with libdevice")
    plan = ask(HAVE + "nvvms=12.9", IR)
    assert plan.code == "OK" and not plan.reasons[0].endswith("libdevice")
    assert plan.notes == ["no libdevice.10.bc goes with libnvvm 12.9: functions __nv_* that LLVM IR"
                          " calls are not defined"]


@pytest.mark.parametrize("text", [BITCODE, WITH_LIBDEVICE, WITH_LIBDEVICE + " listed"])
def test_libdevice_goes_before_optimisation(ask, text):
    plan = ask("driver=13.5 nvjitlink=13.5 arch=sm_90 lto nvvms=13.5,12.9 libdevices=none,12.9", text)
    assert (plan.code, plan.nvvm, plan.ir) == ("OK", "12090", ["-arch=compute_90"])


@pytest.mark.parametrize("arch, nvvms, taken", [
    ("sm_90", "12.9", "12090"), ("sm_100", "12.9", None), ("sm_120", "13.0,13.5", None),
    # compiled for compute_90, by which it is taken
    ("sm_100", "12.9,12.4", "12040"), ("sm_100", "12.4", "12040")])
def test_without_a_data_layout_libnvvm_aborts(ask, arch, nvvms, taken):
    words = f"driver=13.5 nvjitlink=13.5 arch={arch} nvvms={nvvms} libdevices={nvvms}"
    plan = ask(words, IR, WITHOUT_LAYOUT)
    assert (plan.code, plan.nvvm) == ("OK" if taken else "BAD_INPUT", taken)
    assert ask(words, IR).code == "OK"
    if not taken:
        assert plan.input == "1" and plan.message.startswith("k.ll: it has no data layout,")
        assert 'target datalayout = "e-p:64:64:64-' in plan.message


def test_beside_other_code(ask):
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9 nvrtc=12.9 lto", "a:lto 12.9 sm_80", LISTED,
               "b.cu:source", "c:ptx 8.0 sm_80")
    assert plan.steps == ["input 0 entry 0 ltoir as_is", "input 1 whole ltoir compiled",
                          "input 2 whole ltoir compiled", "input 3 entry 0 ptx as_is"]
    assert plan.reasons[1] == "compiled by libnvvm 12.9 to LTO-IR for compute_90, with libdevice"
    assert plan.reasons[2].startswith("compiled by nvrtc 12.9") and plan.lto == "1"
    assert plan.compile_to == "ltoir" and plan.ir == ["-arch=compute_90", "-gen-lto"]


@pytest.mark.parametrize("words", ["lto", "output=ptx", "output=ptx lto"])
def test_alone_it_is_optimised_at_link_time(ask, words):
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9 " + words, LISTED)
    assert (plan.code, plan.lto, plan.notes) == ("OK", "1", [])
    assert plan.steps == ["input 0 whole ltoir compiled"] and "-lto" in plan.options


def test_beside_ltoir_nobody_has_to_ask(ask):
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9", LISTED, "a:lto 12.9 sm_80")
    assert plan.steps[0] == "input 0 whole ltoir compiled" and plan.lto == "1"


@pytest.mark.parametrize("words, nvvms, taken, why", [
    ("nvjitlink=12.9", "12.8", "12080", None),
    ("nvjitlink=13.0", "12.9", "12090", "its LTO-IR is promised to link within its major only"),
    ("nvjitlink=13.0 flags=across", "12.9", "12090", None),
    ("nvjitlink=13.0", "11.8", "11080", "its LTO-IR is promised to link within its major only"),
    ("nvjitlink=12.9", "unknown", "-1", "its version is not known"),
    # One whose LTO-IR is taken goes before others.
    ("nvjitlink=13.0", "12.9,13.0", "13000", None), ("nvjitlink=13.4", "12.9,13.2", "13020", None)])
def test_which_libnvvm_writes_ltoir(ask, words, nvvms, taken, why):
    plan = ask(f"driver=none {words} arch=sm_90 nvvms={nvvms} libdevices={nvvms} lto"
               " policy=best_effort", LISTED)
    assert (plan.code, plan.nvvm) == ("OK", taken)
    assert plan.ir == ["-arch=compute_90"] + ["-gen-lto"] * (not why)
    assert [note.partition(" to PTX, for ")[2] for note in plan.notes
            if "LLVM IR takes no part in link-time optimisation" in note] == [why] * bool(why)


def test_what_is_no_ltoir_is_left_out_where_that_is_asked_for(ask):
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9 flags=ignore", "a:lto 12.9 sm_80", LISTED)
    assert plan.steps == ["input 0 entry 0 ltoir as_is", "input 1 whole ltoir compiled"]
    for nvvms, why in (("", "there is no libnvvm to compile it"),
                       ("nvvms=unknown", "its version is not known"),
                       ("nvvms=13.0", "no libnvvm here compiles it")):     # too new, as PTX too
        plan = ask(HAVE + f"{nvvms} flags=ignore", "a:lto 12.9 sm_80", LISTED)
        assert plan.steps == ["input 0 entry 0 ltoir as_is"] and plan.nvvm is None
        assert f"k.ll is left out: it is not LTO-IR, for {why}" in plan.notes


@pytest.mark.parametrize("text, why", [
    (IR, "not all of k.ll was understood"), (BITCODE, "that of bitcode is not read: k.bc"),
    ("k.bc:+is=bitcode;bitcode ? sm_80", "that of bitcode is not read: k.bc"),
    ("k.ll:+is=llvm ir;ptx ? sm_80 def=f unlisted=k", "that of k.ll lacks the variable k"),
    ("k.o:+is=offload binary;{bitcode ? sm_80}", "that of bitcode is not read: k.o")])
def test_where_not_all_is_known_to_be_listed_it_is_compiled_to_ptx(ask, text, why):
    """nvJitLink would drop the kernels, and report success."""
    why = "nvJitLink keeps of LTO-IR only what the list @llvm.used has, and " + why
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9 lto", LISTED, text, "a:lto 12.9 sm_80")
    assert [step.split()[-2] for step in plan.steps] == ["ptx", "ptx", "ltoir"]
    assert plan.notes == ["LLVM IR takes no part in link-time optimisation: libnvvm 12.9 compiles it to"
                          f" PTX, for {why}"]
    # Left out, it takes part from none of the others.
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9 flags=ignore", LISTED, text, "a:lto 12.9 sm_80")
    assert plan.steps == ["input 0 whole ltoir compiled", "input 2 entry 0 ltoir as_is"]
    assert [note.partition(" is left out: it is not LTO-IR, for ")[2] for note in plan.notes] == [why]


HELPER = "h.ll:+is=llvm ir;ptx ? sm_80 listed def=helper"
WEAK_HELPER = HELPER.replace("def", "weak")
LTO = HAVE + "nvvms=12.9 libdevices=12.9 nvrtc=12.9 lto "
NO_PART = "takes no part in link-time optimisation: "


def kinds(plan):
    assert plan.code == "OK", plan.message
    return [step.split()[-2] for step in plan.steps]


@pytest.mark.parametrize("code", ["ptx 8.0 sm_80", "cubin 12.9 sm_90"])
@pytest.mark.parametrize("ir, has, how", [
    (HELPER, "ext", "needs helper, and no PTX or cubin here defines it"),
    (WEAK_HELPER, "ext", "needs helper, and no PTX or cubin here defines it"),
    # The other result would come from the weak one.
    (HELPER, "weak", "defines helper weakly"), (WEAK_HELPER, "def", "defines helper")])
def test_it_is_ptx_where_other_code_may_call_it(ask, code, ir, has, how):
    """nvJitLink keeps no function of LTO-IR for what takes no part."""
    plan = ask(LTO, LISTED, ir, f"c:{code} {has}=helper")
    assert kinds(plan)[:2] == ["ptx", "ptx"] and plan.lto == "0"
    assert plan.notes[0].endswith(f"compiles it to PTX, for c, which takes no part, {how}")


@pytest.mark.parametrize("ir, more", [
    (HELPER, "c:ptx 8.0 sm_80 ext=vprintf"), (HELPER, "c:ptx 8.0 sm_80 ext=other"),
    (LISTED, "c:ptx 8.0 sm_80 ext=helper"), (LISTED, "c:ptx 8.0 sm_80 def=helper"),
    (WEAK_HELPER, "c:ptx 8.0 sm_80 weak=helper"), (LISTED + " ext=helper", "c:ptx 8.0 sm_80 def=helper")])
def test_where_nobody_calls_it_it_stays(ask, ir, more):
    assert kinds(ask(LTO, ir, more)) == ["ltoir", "ptx"]


@pytest.mark.parametrize("name", ["vprintf", "cudaGraphLaunch", "cnpLaunchDeviceV2", "__cuda_syscall_bw_do"])
def test_what_the_driver_has_calls_nothing(ask, name):
    assert kinds(ask(LTO, "s.cu:source", f"c:ptx 8.0 sm_80 ext={name}")) == ["ltoir", "ptx"]


@pytest.mark.parametrize("first, more, why", [
    ("c:ptx 8.0 sm_80 ext=helper", [], "c, which takes no part, needs helper,"),
    ("c:ptx 8.0 sm_80 weak=helper", [], "c, which takes no part, defines helper weakly"),
    ("c:cubin 12.9 sm_90 unseen", [], "c, which takes no part, does not show here what it needs"),
    ("k.ll:+is=llvm ir;ptx ? sm_80 unlisted=k ext=helper", [], "k.ll, which takes no part, needs helper,"),
    (BITCODE, [], "k.bc, which takes no part, does not show here what it needs"),
    # LLVM IR that is called goes first, and calls others then.
    ("c:ptx 8.0 sm_80 ext=f", ["k.ll:+is=llvm ir;ptx ? sm_80 listed def=f ext=helper"],
     "k.ll, which takes no part, needs helper,")])
def test_source_is_ptx_where_other_code_may_call_it(ask, first, more, why):
    plan = ask(LTO, first, *more, "s.cu:source")
    assert set(kinds(plan)) <= {"ptx", "cubin"} and plan.compile_to == "ptx" and plan.lto == "0"
    said, = [note for note in plan.notes if note.startswith("source " + NO_PART)]
    assert said.partition(" compiles it to PTX, for ")[2].startswith(why)


@pytest.mark.parametrize("first", [
    "c:ptx 8.0 sm_80 def=helper", "c:ptx 8.0 sm_80 weak-kernel=k", "k.ll:+is=llvm ir;ptx ? sm_80 unlisted=k",
    "d:ptx 8.0 sm_80 def=f ext=f"])
def test_source_stays_where_nobody_calls_it(ask, first):
    assert kinds(ask(LTO, first, "s.cu:source")) == ["ptx", "ltoir"]
    assert kinds(ask(LTO, first, "s.cu:source", "a:lto 12.9 sm_80"))[1:] == ["ltoir"] * 2


BOTH = "b:{lto 12.9 sm_80/cubin 12.9 sm_90 def=helper}"


@pytest.mark.parametrize("first, stays", [
    ("c:ptx 8.0 sm_80 ext=helper", False), ("c:ptx 8.0 sm_80 weak=helper", False),
    ("c:ptx 8.0 sm_80 ext=other", True), ("c:ptx 8.0 sm_80 def=other", True)])
def test_a_container_gives_its_cubin_where_other_code_may_call_it(ask, first, stays):
    plan = ask(LTO, first, BOTH, "a:lto 12.9 sm_80", "d:{lto 12.9 sm_80}")
    assert kinds(plan) == ["ptx", "ltoir" if stays else "cubin", "ltoir", "ltoir"]
    assert [note.startswith("PTX or cubins are taken from containers in place of LTO-IR where there are some, for c, which")
            for note in plan.notes] == [True] * (not stays)


def test_a_container_gives_its_cubin_where_source_may_call_it(ask):
    """What source calls shows once it is compiled."""
    assert kinds(ask(LTO, "c:ptx 8.0 sm_80 ext=other", BOTH, "s.cu:source")) == ["ptx", "cubin", "ptx"]
    assert kinds(ask(LTO, "c:ptx 8.0 sm_80", BOTH, "s.cu:source")) == ["ptx", "ltoir", "ltoir"]


def test_a_name_of_llvm_ir_that_is_defined_twice(ask):
    for one in ("c:ptx 8.0 sm_80 def=helper", "c:cubin 12.9 sm_90 def=helper", HELPER):
        for words in (LTO, LTO.replace(" lto ", " ")):
            plan = ask(words, one, HELPER)
            assert (plan.code, plan.input) == ("DUPLICATE_SYMBOL", "1"), words
    for one in ("c:ptx 8.0 sm_80 weak=helper", WEAK_HELPER):
        assert ask(LTO, one, HELPER).code == "OK"


def test_of_ptx_output_the_one_to_blame_is_told(ask):
    unlisted = "b.ll:+is=llvm ir;ptx ? sm_80 unlisted=k"
    plan = ask(LTO + "output=ptx", HELPER, unlisted)
    assert (plan.code, plan.input) == ("PTX_NEEDS_LTO", "1")
    assert "this is LLVM IR, which is compiled to PTX, for nvJitLink keeps" in plan.message
    plan = ask(LTO + "output=ptx", "s.cu:source", HELPER, "c:ptx 8.0 sm_80 ext=helper")
    assert (plan.code, plan.input) == ("PTX_NEEDS_LTO", "2")


def test_bitcode_that_is_not_taken_changes_nothing(ask):
    plan = ask(HAVE + "nvvms=12.9 libdevices=12.9 lto", LISTED,
               "k.o:+is=offload binary;{bitcode ? sm_80/cubin 12.9 sm_90}")
    assert plan.steps == ["input 0 whole ltoir compiled", "input 1 entry 1 cubin as_is"]


def test_a_support_module_and_a_main_input(ask):
    words = HAVE + "nvvms=12.9 libdevices=12.9"
    plan = ask(words, "k.ll:+main;+is=llvm ir;", more=["support=m:on:f:+is=llvm ir;"])
    assert plan.code == "OK" and len(plan.steps) == 1
    assert "k.ll: which support modules it needs is seen once it is compiled" in plan.notes
    plan = ask(words, "k.ll:+needs=0;+is=llvm ir;", more=["support=m:on:f:+is=llvm ir;"])
    assert plan.steps == ["input 0 whole ptx compiled", "support 0 whole ptx compiled"]


def test_where_nvjitlink_cannot_the_driver_links_it(ask):
    plan = ask("driver=12.9 nvjitlink=12.4 arch=sm_90 nvvms=12.9 libdevices=12.9", IR)
    assert (plan.decision, plan.rule, plan.nvvm) == ("driver", "B7", "12090")


def test_another_nvjitlink_that_fits_the_libnvvm(ask):
    plan = ask("driver=none nvjitlink=12.4 nvjitlinks=13.0 arch=sm_90 nvvms=13.0 libdevices=13.0", IR)
    assert (plan.decision, plan.nvjitlink, plan.nvvm) == ("nvjitlink", "13000", "13000")
    assert plan.choice.startswith("nvJitLink 13.0, not 12.4: k.ll: libnvvm 13.0 would write PTX")


def command(world, *words):
    path = world.root / "k.ll"
    if not path.exists():
        path.write_text('target triple = "nvptx64-nvidia-cuda"\n')
    versions = ("--driver=12.9", "--nvjitlink=12.9", "--nvrtc=none", "--nvvm=12.9", "--arch=sm_90")
    return json.loads(world.cli("plan", "--json", *versions, *words, path, check=False).out)


@pytest.mark.parametrize("settings, nvvm", [
    (["lineinfo"], []), (["debug"], ["-g", "-opt=0"]), (["optimize=0"], ["-opt=0"]),
    (["max-registers=32"], []), (["ftz=1"], ["-ftz=1"]),
    (["fast-math", "prec-div=1"], ["-prec-div=1", "-ftz=1", "-prec-sqrt=0", "-fma=1"]),
    (["prec-sqrt=0", "fma=0"], ["-prec-sqrt=0", "-fma=0"]), (["fast-compile=max"], []),
    (["split-compile=0"], [])])
def test_settings_in_its_words(world, settings, nvvm):
    said = command(world, *[f"--setting={one}" for one in settings])
    assert said["code"] is None and said["nvvm"] == "12.9"
    assert said["compile_ir"] == {"to": "ptx", "options": ["-arch=compute_90", *nvvm]}


def test_the_newer_dialect_aborts_without_a_layout_too(world):
    have = ("--nvjitlink=13.5", "--driver=13.5", "--nvvm=13.5")
    assert command(world, *have)["code"] is None
    said = command(world, *have, "--option=-nvvm-latest")
    assert (said["code"], said["input"]) == ("BAD_INPUT", 0)


@pytest.mark.parametrize("version, options", [("13.5", ["-nvvm-latest"]), ("13.4", [])])
def test_the_newer_dialect_for_older_targets(world, version, options):
    (world.root / "k.ll").write_text('target datalayout = "e"\n')
    said = command(world, "--nvjitlink=13.5", "--driver=13.5", f"--nvvm={version}",
                   "--option=-nvvm-latest")
    assert said["code"] is None
    assert said["compile_ir"]["options"] == ["-arch=compute_90", *options]


def test_in_words(world):
    path = world.root / "k.ll"
    path.write_text('target triple = "nvptx64-nvidia-cuda"\n')
    words = ("--driver=12.9", "--nvjitlink=12.9", "--nvrtc=none", "--arch=sm_90", path)
    said = world.cli("plan", "--nvvm=12.9", *words).out
    assert "libnvvm     -arch=compute_90\n" in said
    for none in ([], ["--nvvm=none"]):      # with all versions given nothing is looked for
        said = world.cli("plan", *none, *words, check=False).out
        assert "refused     NVVM_REQUIRED" in said
