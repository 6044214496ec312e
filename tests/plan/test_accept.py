# SPDX-License-Identifier: MIT
"""Which linker takes which code: nvJitLink, which tests/agreement asks in all its versions, and stricter
where it takes what it then spoils; the driver by its rules."""
import pytest


def on_nvjitlink(ask, version, code, more=""):
    """OK, or the code of the refusal; whatever the version, which `off` allows."""
    return ask(f"policy=off driver=unknown nvjitlink={version} arch=sm_80 {more}", code).code


@pytest.mark.parametrize("linker, code, said", [
    ("12.0", "ptx 7.7", "OK"), ("12.0", "ptx 8.0", "OK"), ("12.0", "ptx 8.1", "PTX_TOO_NEW"),
    ("12.5", "ptx 8.5", "OK"), ("12.6", "ptx 8.7", "PTX_TOO_NEW"), ("13.5", "ptx 9.5", "OK"),
    # From 12.5 to 12.9 it takes those of 13, and spoils them.
    ("12.9", "cubin 13.0", "CUBIN_TOO_NEW"), ("12.9", "cubin 12.9", "OK"), ("13.5", "cubin 11.7", "OK"),
    ("12.9", "ltoir 12.9", "OK"), ("12.8", "ltoir 12.9", "LTOIR_TOO_NEW"), ("12.9", "ltoir 13.0", "LTOIR_TOO_NEW"),
    ("13.0", "ltoir 12.9", "LTOIR_CROSS_MAJOR"), ("12.0", "ltoir 11.8", "LTOIR_CROSS_MAJOR")])
def test_nvjitlink_takes_what_is_no_newer(ask, linker, code, said):
    # LTO-IR may tell its toolkit by its bytes alone.
    for how in ("", " bytes") if "ltoir" in code else ("",):
        assert on_nvjitlink(ask, linker, f"k:{code} sm_80{how}") == said
    if said == "LTOIR_CROSS_MAJOR":
        assert on_nvjitlink(ask, linker, f"k:{code} sm_80", "flags=across") == ("OK" if "12" in code else said)


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
    assert any("may refuse" in note for note in plan.notes) == doubt
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
    assert plan.code == "OK" and "k: the linker checks more" in plan.notes[0]
    assert ask(words + "policy=strict", code).code == "INSUFFICIENT_METADATA"


def test_a_linker_of_unknown_version_takes_every_version(ask):
    for code in ("k:ptx 9.5 sm_80", "k:cubin 13.5 sm_80", "k:ltoir 13.5 sm_80"):
        assert ask("driver=13.0 nvjitlink=unknown arch=sm_80", code).code == "OK"
    assert ask("driver=13.0 nvjitlink=unknown arch=sm_80",
               "k:ltoir 11.8 sm_80").code == "LTOIR_CROSS_MAJOR"
