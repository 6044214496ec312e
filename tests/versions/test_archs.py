# SPDX-License-Identifier: MIT
"""Which architectures exist, who knows them, and what may be linked for what."""
import pytest

from questions import (CUBIN, DRIVER, LTOIR, NVJITLINK, NVRTC, PTX, UNKNOWN, ask, ask_all, cuda)

# For each tool the first and the last version, None if it still knows it; or no
# version at all.
ALWAYS = ("12.0", None)
ARCHS = {
    **{arch: (("11.0", "11.8"), None, "11.0") for arch in ("35", "37")},
    **{arch: (("11.0", "12.9"), ("12.0", "12.9"), "11.0")
       for arch in ("50", "52", "53", "60", "61", "62", "70", "72")},
    "75": (("11.0", None), ALWAYS, "11.0"), "80": (("11.0", None), ALWAYS, "11.0"),
    "86": (("11.1", None), ALWAYS, "11.1"), "87": (("11.4", None), ALWAYS, "11.4"),
    "88": (("13.0", None), ("13.0", None), "13.0"),
    "89": (("11.8", None), ALWAYS, "11.8"), "90": (("11.8", None), ALWAYS, "11.8"),
    "90a": (("12.0", None), ALWAYS, "12.0"),
    **{arch: (("12.8", None), ("12.8", None), "12.7") for arch in ("100", "100a")},
    **{arch: (("12.8", "12.9"), ("12.8", "12.9"), "12.7") for arch in ("101", "101a")},
    "101f": (("12.9", "12.9"), ("12.9", "12.9"), "12.9"),
    **{arch: (("12.8", None), ("12.8", None), "12.8") for arch in ("120", "120a")},
    **{arch: (("12.9", None), ("12.9", None), "12.9")
       for arch in ("100f", "103", "103a", "103f", "120f", "121", "121a", "121f")},
    **{arch: (("13.0", None), ("13.0", None), "13.0") for arch in ("110", "110a", "110f")},
    **{arch: (("13.4", None), ("13.4", None), "13.4") for arch in ("107", "107a", "107f")},
}
VERSIONS = ("11.0 11.1 11.4 11.7 11.8 12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.7 12.8 12.9 13.0 13.1"
            " 13.2 13.3 13.4 13.5 13.6 14.0").split()


def span(arch, tool):
    """(first, last) as numbers, last None if open; None if no version ever did."""
    found = ARCHS[arch][tool]
    if tool == DRIVER:
        found = (found, None)
    return found and (cuda(found[0]), found[1] and cuda(found[1]))


@pytest.mark.parametrize("tool", [NVRTC, NVJITLINK, DRIVER])
@pytest.mark.parametrize("arch", ARCHS)
def test_who_knows_an_architecture(arch, tool):
    known = span(arch, tool)
    first, last = known or (0, 0)
    said = ask_all([("knows", tool, cuda(version), f"sm_{arch}") for version in VERSIONS])
    for version, line in zip(VERSIONS, said):
        does = bool(known) and first <= cuda(version) and (not last or cuda(version) <= last)
        assert line == f"{int(does)} {first} {last or 0}", version
    assert ask("arch", f"sm_{arch}") == f"sm_{arch} 1"


@pytest.mark.parametrize("arch", ["sm_75", "sm_101a", "sm_107"])
def test_a_tool_of_unknown_version_may_know_what_any_version_knows(arch):
    assert ask("knows", NVJITLINK, UNKNOWN, arch)[0] == "1"


def test_a_tool_of_unknown_version_does_not_know_what_no_version_knows():
    assert ask("knows", NVJITLINK, UNKNOWN, "sm_35") == "0 0 0"


def test_a_tool_that_is_not_installed_knows_nothing():
    assert ask("knows", NVJITLINK, 0, "sm_80")[0] == "0"


@pytest.mark.parametrize("arch", ["sm_130", "sm_150a", "sm_99"])
def test_a_tool_that_is_newer_than_the_table_may_know_what_the_table_does_not(arch):
    said = ask_all([("knows", NVRTC, version, arch) for version in (13050, 13060, UNKNOWN)])
    assert [line[0] for line in said] == ["0", "1", "1"]


@pytest.mark.parametrize("arch", ["sm_20", "sm_30", "sm_32", "sm_13"])
def test_what_is_older_than_the_table_nobody_knows(arch):
    assert ask("arch", arch) == f"{arch} -1"
    assert ask("knows", NVRTC, 13060, arch) == ask("knows", DRIVER, UNKNOWN, arch) == "0 0 0"


@pytest.mark.parametrize("arch", ["sm_90f", "sm_80a", "sm_82", "sm_130", "sm_9999"])
def test_what_the_table_does_not_have_is_not_known(arch):
    assert ask("arch", arch) == f"{arch} 0"


@pytest.mark.parametrize("text, name", [("sm_90", "sm_90"), ("sm_90a", "sm_90a"),
                                        ("sm_100f", "sm_100f"), ("compute_90a", "compute_90a"),
                                        ("lto_90", "compute_90")])
def test_an_architecture_is_read(text, name):
    assert ask("arch", text).split()[0] == name


@pytest.mark.parametrize("text", ["", "90", "sm", "sm_", "sm_9", "sm90", "sm_90b", "sm_90aa",
                                  "sm_90 ", " sm_90", "SM_90", "sm_a90", "sm_00", "sm_05", "sm_90A",
                                  "sm_12345", "compute90", "compute_", "lto_", "sm_-90", "sm_9.0",
                                  "gfx90a", "sm_99999999999999999999"])
def test_what_is_no_architecture_is_refused(text):
    assert ask("arch", text) == "none"


# What PTX and LTO-IR may be linked for.  The order is by number.
ORDER = "50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 107 110 120 121".split()
WITH_VARIANTS = [arch for arch in ARCHS if arch not in ("35", "37")]
FAMILIES = {"100": ["100", "103", "107"], "101": ["101", "110"], "103": ["103", "107"],
            "107": ["107"], "110": ["101", "110"], "120": ["120", "121"], "121": ["121"]}
# Which cubins are linked for another architecture, and by whom: first, and one that cannot.
CUBINS = {("50", "52"): (None, None), ("60", "61"): (None, None), ("70", "75"): (None, "13.0"),
          ("80", "86"): (None, None), ("80", "89"): (None, None), ("86", "89"): (None, None),
          **{pair: ("13.2", None) for pair in (("80", "87"), ("80", "88"), ("86", "87"),
                                               ("86", "88"), ("87", "88"), ("87", "89"),
                                               ("88", "89"))},
          ("100", "103"): (None, "13.0"), ("100", "107"): (None, None),
          ("101", "110"): ("13.1", None), ("103", "107"): (None, None),
          ("120", "121"): (None, None)}
RENAMED = {"101": "110"}


def bare(arch):
    return arch.rstrip("af")


def same(code, target):
    return RENAMED.get(bare(code), bare(code)) == RENAMED.get(bare(target), bare(target))


def text_fits(code, target):
    if code.endswith("a"):
        return target.endswith("a") and same(code, target)
    if code.endswith("f"):
        return bare(target) in FAMILIES[bare(code)]
    return ORDER.index(bare(code)) <= ORDER.index(bare(target))


def cubin_fits(code, target, linker):
    if code.endswith("a") and not (target.endswith("a") and same(code, target)):
        return False
    if bare(code) == bare(target):
        return True
    if (bare(code), bare(target)) not in CUBINS:
        return False
    first, cannot = CUBINS[bare(code), bare(target)]
    if linker == UNKNOWN:
        return not first and not cannot
    return (not first or linker >= cuda(first)) and linker != (cannot and cuda(cannot))


@pytest.mark.parametrize("kind", [PTX, LTOIR])
@pytest.mark.parametrize("code", WITH_VARIANTS)
def test_what_ptx_and_ltoir_may_be_linked_for(code, kind):
    said = ask_all([("fits", kind, f"sm_{code}", f"sm_{target}", 13050)
                    for target in WITH_VARIANTS])
    assert [target for target, line in zip(WITH_VARIANTS, said) if line == "1"] == \
        [target for target in WITH_VARIANTS if text_fits(code, target)]


@pytest.mark.parametrize("linker", [12030, 12080, 12090, 13000, 13010, 13020, 13050, 14000,
                                    UNKNOWN])
@pytest.mark.parametrize("code", WITH_VARIANTS)
def test_what_cubins_may_be_linked_for(code, linker):
    said = ask_all([("fits", CUBIN, f"sm_{code}", f"sm_{target}", linker)
                    for target in WITH_VARIANTS])
    assert [target for target, line in zip(WITH_VARIANTS, said) if line == "1"] == \
        [target for target in WITH_VARIANTS if cubin_fits(code, target, linker)]


@pytest.mark.parametrize("kind, code, target, linker, fits", [
    (PTX, "sm_52", "sm_90", 12090, 1), (PTX, "sm_90", "sm_90a", 12090, 1),
    (PTX, "sm_90a", "sm_90", 12090, 0), (PTX, "sm_90a", "sm_100a", 12090, 0),
    (PTX, "sm_100f", "sm_103", 12090, 1), (PTX, "sm_103f", "sm_100", 12090, 0),
    (PTX, "sm_100f", "sm_120", 12090, 0), (PTX, "sm_101f", "sm_110", 13000, 1),
    (PTX, "sm_101a", "sm_110a", 13000, 1), (PTX, "sm_86", "sm_80", 12090, 0),
    (LTOIR, "sm_90a", "sm_100", 13000, 0),
    (CUBIN, "sm_80", "sm_86", 12090, 1), (CUBIN, "sm_86", "sm_80", 12090, 0),
    (CUBIN, "sm_80", "sm_90", 12090, 0), (CUBIN, "sm_80", "sm_87", 13010, 0),
    (CUBIN, "sm_80", "sm_87", 13020, 1), (CUBIN, "sm_87", "sm_89", 13010, 0),
    (CUBIN, "sm_87", "sm_89", 13050, 1), (CUBIN, "sm_87", "sm_86", 13050, 0),
    (CUBIN, "sm_87", "sm_90", 13050, 0), (CUBIN, "sm_90", "sm_90a", 12090, 1),
    (CUBIN, "sm_90a", "sm_90", 12090, 0), (CUBIN, "sm_70", "sm_75", 13000, 0),
    (CUBIN, "sm_70", "sm_75", 13010, 1), (CUBIN, "sm_101", "sm_110", 13000, 0),
    (CUBIN, "sm_101", "sm_110", 13010, 1), (CUBIN, "sm_101a", "sm_110a", 13010, 1),
    (CUBIN, "sm_101a", "sm_110", 13010, 0), (CUBIN, "sm_110", "sm_101", 12090, 0),
    (CUBIN, "sm_100", "sm_103", 13000, 0), (CUBIN, "sm_100", "sm_103", UNKNOWN, 0)])
def test_what_fits_what_by_example(kind, code, target, linker, fits):
    assert ask("fits", kind, code, target, linker) == str(fits)
