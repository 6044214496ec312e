# SPDX-License-Identifier: MIT
"""Which architectures exist, who knows them, and what may be linked for what."""
import pytest

from questions import CUBIN, DRIVER, LTOIR, NVJITLINK, NVRTC, PTX, UNKNOWN, ask, cuda


# Those that one tool or version knows and another does not; test_real.py asks the tools of all.
@pytest.mark.parametrize("arch, tool, first, last", [
    ("35", NVRTC, "11.0", "11.8"), ("35", NVJITLINK, None, None), ("35", DRIVER, "11.0", None),
    ("50", NVRTC, "11.0", "12.9"), ("50", NVJITLINK, "12.0", "12.9"), ("86", NVRTC, "11.1", None),
    ("90a", NVRTC, "12.0", None), ("90", NVJITLINK, "12.0", None), ("100a", NVRTC, "12.8", None),
    ("100a", DRIVER, "12.7", None), ("101f", NVRTC, "12.9", "12.9"), ("88", DRIVER, "13.0", None),
    ("110f", NVJITLINK, "13.0", None), ("107", NVRTC, "13.4", None)])
def test_who_knows_an_architecture(arch, tool, first, last):
    first, last = (version and cuda(version) or 0 for version in (first, last))
    for version in (11000, 11010, 11080, 12000, 12070, 12080, 12090, 13000, 13030, 13040, 14000):
        does = bool(first) and first <= version and (not last or version <= last)
        assert ask("knows", tool, version, f"sm_{arch}") == f"{int(does)} {first} {last}"
    assert ask("arch", f"sm_{arch}") == f"sm_{arch} 1"
    assert ask("knows", tool, 0, f"sm_{arch}")[0] == "0"        # it is not installed


@pytest.mark.parametrize("tool, version, arch, does", [
    # Of unknown version it may know what any version knows, and no more.
    *[(NVJITLINK, UNKNOWN, arch, 1) for arch in ("sm_75", "sm_101a", "sm_107")], (NVJITLINK, UNKNOWN, "sm_35", 0),
    # Newer than the table, it may know what the table does not.
    *[(NVRTC, version, arch, does) for arch in ("sm_130", "sm_150a", "sm_99")
      for version, does in ((13050, 0), (13060, 1), (UNKNOWN, 1))],
    # What is older than the table nobody knows.
    *[(tool, version, arch, 0) for arch in ("sm_20", "sm_30", "sm_32", "sm_13")
      for tool, version in ((NVRTC, 13060), (DRIVER, UNKNOWN))]])
def test_what_a_tool_knows_beside_the_table(tool, version, arch, does):
    said = ask("knows", tool, version, arch)
    assert said[0] == str(does) and (does or version != UNKNOWN or said == "0 0 0")


@pytest.mark.parametrize("text, said", [
    ("sm_90", "sm_90 1"), ("sm_90a", "sm_90a 1"), ("sm_100f", "sm_100f 1"), ("compute_90a", "compute_90a 1"),
    ("lto_90", "compute_90 1"),
    *[(name, f"{name} 0") for name in ("sm_90f", "sm_80a", "sm_82", "sm_130", "sm_9999")],
    *[(name, f"{name} -1") for name in ("sm_20", "sm_30", "sm_32", "sm_13")],
    *[(text, "none") for text in (
        "", "90", "sm", "sm_", "sm_9", "sm90", "sm_90b", "sm_90aa", "sm_90 ", " sm_90", "SM_90", "sm_a90",
        "sm_00", "sm_05", "sm_90A", "sm_12345", "compute90", "compute_", "lto_", "sm_-90", "sm_9.0", "gfx90a",
        "sm_99999999999999999999")]])
def test_an_architecture_is_read(text, said):
    assert ask("arch", text) == said


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
    (CUBIN, "sm_100", "sm_103", 13000, 0), (CUBIN, "sm_100", "sm_103", UNKNOWN, 0),
    (PTX, "sm_107f", "sm_103", 13050, 0), (PTX, "sm_103f", "sm_107", 13050, 1),
    (LTOIR, "sm_80", "sm_120f", 13050, 1), (CUBIN, "sm_50", "sm_52", 12090, 1),
    (CUBIN, "sm_60", "sm_61", 12090, 1), (CUBIN, "sm_120", "sm_121", 13000, 1)])
def test_what_fits_what_by_example(kind, code, target, linker, fits):
    assert ask("fits", kind, code, target, linker) == str(fits)
