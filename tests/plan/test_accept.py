# SPDX-License-Identifier: MIT
"""Which linker takes which code: what was measured of nvJitLink on all its
versions, stricter where it takes what it then spoils; the driver by its rules."""
import pytest

VERSIONS = ("11.7", "11.8", "12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6", "12.8",
            "12.9", "13.0", "13.1", "13.2", "13.3", "13.4", "13.5")
NVJITLINKS = VERSIONS[2:]
ISA = dict(zip(VERSIONS, ("7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.5", "8.7",
                          "8.8", "9.0", "9.1", "9.2", "9.3", "9.4", "9.5")))


def number(version):
    return tuple(map(int, version.split(".")))


def on_nvjitlink(ask, version, code, more=""):
    """OK, or the code of the refusal; whatever the version, which `off` allows."""
    return ask(f"policy=off driver=unknown nvjitlink={version} arch=sm_80 {more}", code).code


def newer(producer, linker):
    return number(producer) > number(linker)


def ltoir(producer, linker, oldest):
    """What becomes of LTO-IR where that of an older major than `oldest` is not taken."""
    return "LTOIR_TOO_NEW" if newer(producer, linker) else \
        "LTOIR_CROSS_MAJOR" if number(producer)[0] < oldest else "OK"


# The code, what becomes of it, and what is asked for beside.
SWEEPS = {
    "ptx": (lambda producer: f"ptx {ISA[producer]}", lambda producer, linker:
            "PTX_TOO_NEW" if newer(ISA[producer], ISA[linker]) else "OK", ""),
    # From 12.5 to 12.9 it takes those of 13, and spoils them.
    "cubin": (lambda producer: f"cubin {producer}", lambda producer, linker:
              "CUBIN_TOO_NEW" if newer(producer, linker) else "OK", ""),
    "ltoir": (lambda producer: f"ltoir {producer}", lambda producer, linker:
              ltoir(producer, linker, number(linker)[0]), ""),
    "across": (lambda producer: f"ltoir {producer}", lambda producer, linker:
               ltoir(producer, linker, 12), "flags=across"),
}


@pytest.mark.parametrize("what", SWEEPS)
@pytest.mark.parametrize("linker", NVJITLINKS)
def test_nvjitlink_takes_what_is_no_newer(ask, linker, what):
    code, wanted, more = SWEEPS[what]
    for producer in VERSIONS:
        # LTO-IR may tell its toolkit by its bytes alone.
        for how in ("", " bytes") if what == "ltoir" else ("",):
            said = on_nvjitlink(ask, linker, f"k:{code(producer)} sm_80{how}", more)
            assert said == wanted(producer, linker), producer


# What an obfuscated entry shows is its container, which two or three toolkits share.
@pytest.mark.parametrize("linker, producer, code, doubt", [
    ("12.5", "12.4", "OK", False),
    ("12.4", "12.5", "OK", True),		# may be of 12.4
    ("12.6", "12.5", "OK", False),
    ("12.5", "12.6", "LTOIR_TOO_NEW", False),
    ("12.8", "12.9", "OK", True),
    ("13.3", "13.5", "OK", True),
    ("13.2", "13.3", "LTOIR_TOO_NEW", False),
    ("13.5", "13.3", "OK", False),
    ("13.0", "12.9", "LTOIR_CROSS_MAJOR", False),
    ("12.9", "11.8", "LTOIR_CROSS_MAJOR", False),
])
def test_obfuscated_ltoir_goes_by_the_range_of_its_container(ask, linker, producer, code, doubt):
    words = f"driver={linker} nvjitlink={linker} arch=sm_80"
    plan = ask(words, f"k:{{lto {producer} sm_80 obfuscated}}")
    assert plan.code == code, plan.message
    assert any("it may refuse" in note for note in plan.notes) == doubt
    strict = ask(words + " policy=strict", f"k:{{lto {producer} sm_80 obfuscated}}")
    assert strict.code == ("INSUFFICIENT_METADATA" if doubt else code)


def test_ltoir_newer_than_the_table_goes_to_linkers_newer_than_the_table(ask):
    code = "k:ltoir ? sm_80 container=1067 ir=2140"
    assert on_nvjitlink(ask, "13.5", code) == "LTOIR_TOO_NEW"
    assert on_nvjitlink(ask, "13.6", code) == "OK"


@pytest.mark.parametrize("linker, code", [
    ("12.4", "CUBIN_TOO_NEW"), ("12.6", "CUBIN_TOO_NEW"), ("12.8", "OK"), ("12.9", "OK"),
    ("13.0", "OK")])
def test_a_cubin_of_12_8_in_the_new_abi_needs_12_8(ask, linker, code):
    asked = f"policy=off driver=unknown nvjitlink={linker} arch=sm_100"
    got = ask(asked, "k:cubin 12.8 sm_100 abi=8").code
    assert got == (code if linker >= "12.8" else "ARCH_UNSUPPORTED")
    # without its toolkit the ABI tells the least that it needs
    assert on_nvjitlink(ask, linker, "k:cubin ? sm_80 abi=8") == \
        ("OK" if linker == "13.0" else "CUBIN_TOO_NEW")


@pytest.mark.parametrize("code, refused", [
    ("k:cubin 12.0 sm_80 abi=9", "CUBIN_TOO_NEW"),
    ("k:cubin 12.0 sm_80 abi=6", "UNSUPPORTED_KIND"),
    ("k:cubin 12.0 sm_80 linked", "LINKED_CUBIN"),
    ("k:cubin 12.0 sm_80 plain", "LINKED_CUBIN"),
    ("k:ltoir 12.0 sm_80 level=2", "UNSUPPORTED_KIND"),
    ("k:ltoir 12.0 sm_80 level=0", "OK"),	# linked by nvJitLink, to be linked again
    ("k:ltoir 12.0 sm_90", "ARCH_MISMATCH"),	# 12.0 and 12.1 would take it
    ("k:ptx 8.0 sm_90", "ARCH_MISMATCH"),
    ("k:cubin 12.0 sm_75", "ARCH_MISMATCH"),
])
def test_what_nvjitlink_is_not_given(ask, code, refused):
    for linker in ("12.4", "12.9"):
        assert on_nvjitlink(ask, linker, code) == refused


@pytest.mark.parametrize("target, code, taken", [
    ("sm_90", "ptx 8.0 sm_90a", False), ("sm_90a", "ptx 8.0 sm_90a", True),
    ("sm_90a", "ptx 8.0 sm_90", True), ("sm_100", "ptx 8.0 sm_90a", False),
    ("sm_103", "ptx 8.8 sm_100f", True), ("sm_103", "ptx 8.8 sm_100a", False),
    ("sm_86", "cubin 12.0 sm_80", True), ("sm_90", "cubin 12.0 sm_80", False),
    ("sm_100", "cubin 12.9 sm_90", False), ("sm_90", "cubin 12.0 sm_90a", False),
    ("sm_100", "ltoir 12.9 sm_90a", False),
])
def test_architectures_follow_the_documentation(ask, target, code, taken):
    got = ask(f"driver=unknown nvjitlink=12.9 arch={target}", f"k:{code}").code
    assert got == ("OK" if taken else "ARCH_MISMATCH")


@pytest.mark.parametrize("code, driver, refused", [
    ("k:ptx 8.4 sm_80", "12.4", "OK"), ("k:ptx 8.5 sm_80", "12.4", "PTX_TOO_NEW"),
    ("k:ptx 8.5 sm_80", "12.5", "OK"), ("k:ptx 9.6 sm_80", "13.5", "PTX_TOO_NEW"),
    ("k:ptx 9.6 sm_80", "13.6", "OK"),
    ("k:cubin 12.4 sm_80", "12.4", "OK"), ("k:cubin 12.5 sm_80", "12.4", "CUBIN_TOO_NEW"),
    ("k:cubin 13.0 sm_80", "12.9", "CUBIN_TOO_NEW"), ("k:cubin 12.9 sm_80", "13.0", "OK"),
    ("k:cubin 12.4 sm_80 linked", "12.4", "LINKED_CUBIN"),
    ("k:ptx 8.0 sm_90", "12.4", "ARCH_MISMATCH"),
])
def test_the_driver_takes_what_is_no_newer_than_itself(ask, code, driver, refused):
    assert ask(f"driver={driver} nvjitlink=none arch=sm_80", code).code == refused


@pytest.mark.parametrize("code", ["k:ptx ? sm_80", "k:cubin ? sm_80", "k:ltoir ? sm_80"])
def test_code_of_unknown_version_passes_unless_the_policy_is_strict(ask, code):
    words = "driver=12.4 nvjitlink=12.4 arch=sm_80 "
    plan = ask(words, code)
    assert plan.code == "OK" and "k: not all is known" in plan.notes[0]
    assert ask(words + "policy=strict", code).code == "INSUFFICIENT_METADATA"


def test_a_linker_of_unknown_version_takes_every_version(ask):
    for code in ("k:ptx 9.5 sm_80", "k:cubin 13.5 sm_80", "k:ltoir 13.5 sm_80"):
        assert ask("driver=13.0 nvjitlink=unknown arch=sm_80", code).code == "OK"
    assert ask("driver=13.0 nvjitlink=unknown arch=sm_80",
               "k:ltoir 11.8 sm_80").code == "LTOIR_CROSS_MAJOR"
