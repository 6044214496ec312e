# SPDX-License-Identifier: MIT
"""symbols.txt against the real toolkits in build/toolkits."""
import os
import re

import pytest

import build
import symbols
import toolkits
from build import ROOT, SYMBOLS

LIBCLANG = build.BUILD / "libclang" / "clang" / "native" / "libclang.so"


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
def test_real_libraries_are_as_listed(scan, toolkit, arch):
    real = toolkits.Toolkit(toolkit.version, arch)
    files = [real.file(library) for library in build.LIBRARIES if real.file(library)]
    if not files:
        pytest.skip(f"there is no CUDA {toolkit.version} for {arch}")
    done = scan("--check", SYMBOLS, *files)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("library", build.DRIVER)
def test_debians_driver_is_as_listed(scan, debian, library):
    done = scan("--check", SYMBOLS, debian(library))
    assert done.returncode == 0 and f": {library} 12.2, " in done.stdout
    assert "    + " not in done.stdout


@pytest.mark.skipif(os.environ.get("CUDA_VERSIONS") != "all", reason="CUDA_VERSIONS is not all")
def test_symbols_txt_is_what_scan_derives(scan, tmp_path):
    if not LIBCLANG.exists():
        pytest.skip("there is no build/libclang: run make symbols once")
    absent = [version for version in toolkits.known()
              if not toolkits.Toolkit(version, "x86_64").present()]
    if absent:
        pytest.skip(f"build/toolkits lacks {' '.join(absent)}")
    for name in ("one", "two"):
        done = scan("--toolkits", toolkits.TOOLKITS, "--hints", ROOT / "gen" / "hints.txt",
                    "--head", ROOT / "gen" / "symbols.head", "--libclang", LIBCLANG,
                    "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).read_bytes() == SYMBOLS.read_bytes()


# ---- what is known of the real libraries must come out of the list ----

LIST = symbols.read()
VERSIONS = [symbols.version(text) for text in LIST.toolkits]


def rows(library, wanted):
    """{name: function} of one version; a name has one interface in it."""
    found = {}
    for function in LIST.libraries[library].functions:
        if wanted in function.range:
            assert function.name not in found, f"{function.name} has two rows for {wanted}"
            found[function.name] = function
    return found


def test_layouts_inside_a_major_are_interchangeable():
    for library in LIST.libraries.values():
        for struct, rows in library.structs.items():
            for major in (12, 13):
                letters = {letter for _, span, letter in rows if major in span.majors()}
                assert len(letters) <= 1, struct


@pytest.mark.parametrize("wanted", VERSIONS)
def test_per_thread_twins_are_like_their_base_names(wanted):
    names = rows("cudart", wanted)
    twins = [name for name in names if re.search("_pt[ds][sz]$", name)]
    assert len(twins) >= 58
    for twin in twins:
        base = names[twin[:-5]]
        assert names[twin].parameters == base.parameters, twin
        assert (names[twin].result, names[twin].hook) == (base.result, base.hook), twin
        # A family of twins is a family of base names.
        assert names[twin].family == base.family + twin[-5:], twin


def test_a_family_agrees_on_what_it_writes():
    """Equal types, equal directions; else the stub would treat outputs of one
    name otherwise than those of a name that does the same."""
    for library in LIST.libraries.values():
        families = {}
        for function in library.functions:
            families.setdefault(function.family, []).append(function)
        for members in families.values():
            directions = {}
            for function in members:
                types = tuple(re.sub("^(in|out|inout|buf) ", "* ", p) for p in function.parameters)
                assert directions.setdefault(types, function.parameters) == function.parameters
