# SPDX-License-Identifier: MIT
"""Memory that runs out, and threads."""
import sys

import build
import made_up as c
from asked import environment, starving
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


# Prints how many allocations an inspection takes, and to hand out its code in each way.
STARVED = """\
import ctypes, sys
from starving import c, starve
from lazycuda.link_library import library
link, length = library(), ctypes.c_size_t()
c.free.argtypes = [ctypes.c_void_p]
for path in sys.argv[1:]:
    name = ctypes.create_string_buffer(path.encode())
    print(starve(link.lazycuda_inspect_file, link.lazycuda_inspection_free, ctypes.addressof(name), 1))
    inspection = link.lazycuda_inspect_file(name.value, 1)
    assert not inspection[0].error
    for index, entry in enumerate(inspection[0].entries[:inspection[0].entry_count]):
        assert not entry[0].error
        given, got = (ctypes.cast(inspection, ctypes.c_void_p).value, index), ctypes.addressof(length)
        for unpack in 0, 1:
            print(starve(link.lazycuda_entry_payload, c.free, *given, unpack, got))
        if entry[0].fatbin >= 0:
            print(starve(link.lazycuda_entry_fatbin, c.free, *given, got))
"""


def test_all_or_nothing_comes_when_memory_runs_out(tmp_path):
    said = build.run(sys.executable, "-c", STARVED, *write(tmp_path),
                     env=environment(LD_PRELOAD=str(starving())))
    assert said.returncode == 0, said.stderr
    assert sum(map(int, said.stdout.split())) > 30


def test_one_inspection_serves_many_threads(tmp_path):
    """The first use of the libraries that unpack is a race, too."""
    (tmp_path / "a.fatbin").write_bytes(c.usual(c.PLAIN | c.ZSTD) + PACKED)
    program = build.program(HERE / "threads.c", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
    said = build.run(program, tmp_path / "a.fatbin", timeout=120)
    assert said.returncode == 0, said.stderr
