# SPDX-License-Identifier: MIT
"""symbols.txt against the real toolkits in build/toolkits."""
import os

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
