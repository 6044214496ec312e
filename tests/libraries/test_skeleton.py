# SPDX-License-Identifier: MIT
"""What is kept of a fetched library: tools/upkeep/skeleton.py."""
import shutil
import subprocess

import build
import elf
import skeleton


def test_all_that_it_exports_and_little_else(tmp_path):
    (tmp_path / "big.c").write_text("const char bulk[1 << 22] = { 1 };\n" + "".join(
        f"int f{n}(void) {{ return {n}; }}\n" for n in range(100)))
    (tmp_path / "map").write_text("BIG_1 { global: f*; bulk; };\n")
    made = tmp_path / "libbig.so.1"
    subprocess.run([*build.CC, "-shared", "-fPIC", "-Wl,-soname,libbig.so.1",
                    f"-Wl,--version-script={tmp_path / 'map'}", tmp_path / "big.c", "-o", made],
                   check=True)
    whole = tmp_path / "whole"
    shutil.copy(made, whole)
    skeleton.reduce(made)
    assert made.stat().st_size == whole.stat().st_size
    assert made.stat().st_blocks * 512 < 200_000 < whole.stat().st_size
    assert sorted(map(str, elf.exports(made))) == sorted(map(str, elf.exports(whole)))
    said = [build.run(build.BUILT / "libexec" / "lazycuda" / "scan", "--own", "--from", file, "--missing", "1",
                      "-o", tmp_path / f"{file.name}.txt", check=True).stdout
            for file in (whole, made)]
    assert said[0] == said[1] and "100 functions" in said[0]
    assert (tmp_path / "whole.txt").read_text() == (tmp_path / "libbig.so.1.txt").read_text()
