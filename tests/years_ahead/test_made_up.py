# SPDX-License-Identifier: MIT
"""The toolkits that these tests make up are what the list says: scanned, they give the list."""
import subprocess

import build
import header_text
import snapshot
import symbols
import toolkit_maker


def test_toolkits_made_up_from_the_list_give_that_list_again(libclang, tmp_path):
    header_text.given.clear()       # whose turn it is is not to depend on other tests
    for version in symbols.read().toolkits:
        for library, part in snapshot.of(version).items():
            toolkit_maker.write_listed(tmp_path / version / "x86_64", library, version, part)
    scan = build.compile("scan", "-O2", *build.SCANNER)
    done = subprocess.run([scan, "--toolkits", tmp_path, "--hints", build.ROOT / "gen/hints.txt",
                           "--head", build.ROOT / "gen/symbols.head", "--libclang", libclang,
                           "-o", tmp_path / "list"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "list").read_text() == build.SYMBOLS.read_text()
