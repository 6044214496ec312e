# SPDX-License-Identifier: MIT
"""symbols.txt against the real toolkits in build/toolkits."""
import os
import re

import pytest

import build
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


@pytest.mark.parametrize("library, name", [("cuda", "cuMemAlloc_v2"), ("cuda", "cudbgGetAPI"),
                                           ("nvml", "nvmlDeviceGetName")])
def test_a_name_that_is_lost_in_the_list_is_missed(scan, debian, tmp_path, library, name):
    rows = SYMBOLS.read_text().splitlines(keepends=True)
    left = [row for row in rows if row.split()[:1] != [name]]
    assert len(left) == len(rows) - 1
    (tmp_path / "list").write_text("".join(left))
    done = scan("--check", tmp_path / "list", debian(library))
    assert done.returncode == 1 and done.stdout.count("    + ") == 1
    assert f"    + {name}\n" in done.stdout


@pytest.mark.parametrize("library, name", [("cuda", "cuMemAlloc_v2"), ("nvml", "nvmlDeviceGetName")])
def test_a_name_that_the_library_has_not_is_said(scan, debian, tmp_path, library, name):
    listed = re.sub(rf"^    {name} ( *11.7- .*)$", rf"\g<0>\n    {name}_more \1",
                    SYMBOLS.read_text(), flags=re.M)
    (tmp_path / "list").write_text(listed)
    done = scan("--check", tmp_path / "list", debian(library))
    assert done.returncode == 0 and f"    - {name}_more\n" in done.stdout


def test_make_checks_the_driver_too(debian):
    said = build.output("make", "-s", "-C", ROOT, "--no-print-directory", "print",
                        "--eval=print: ; @echo $(REAL)").split()
    for library in build.DRIVER:
        assert str(debian(library).relative_to(ROOT)) in said


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
