# SPDX-License-Identifier: MIT
"""Memory that runs out, and threads."""
import subprocess

import build
import made_up as c
from dumps import HERE, LIBRARY

PACKED = c.fatbin(c.entry(c.PTX, c.ptx(), flags=c.PLAIN | c.LZ4),
                  c.entry(c.CUBIN, c.cubin(), flags=c.PLAIN | c.ZSTD))
FILES = {
    "a.ptx": c.ptx(), "b.fatbin": c.usual() + PACKED,
    "c.a": c.archive(c.member(b"a.o/", c.elf([("__nv_relfatbin", PACKED)])),
                     c.member(b"b/", c.cubin())),
}


def write(folder):
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in FILES]


def program(name, *arguments):
    return build.program(HERE / name, *arguments, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")


def test_all_or_nothing_comes_when_memory_runs_out(tmp_path):
    said = subprocess.run([program("failing.c"), *write(tmp_path)], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert int(said.stdout) > 30


def test_one_inspection_serves_many_threads(tmp_path):
    """The first use of the libraries that unpack is a race, too."""
    (tmp_path / "a.fatbin").write_bytes(c.usual(c.PLAIN | c.ZSTD) + PACKED)
    said = subprocess.run([program("threads.c"), tmp_path / "a.fatbin"], capture_output=True,
                          text=True, timeout=120)
    assert said.returncode == 0, said.stderr
