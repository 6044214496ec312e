# SPDX-License-Identifier: MIT
"""What bytes are, whatever they are called."""
import struct

import pytest

import made_up as c

BITCODE = c.bitcode()
KINDS = {
    "ptx": c.ptx(),
    "cubin": c.cubin(),
    "ltoir": c.ltoir(),
    "fatbin": c.usual(),
    "object": c.elf([(".text", b"\xc3")]),
    "archive": c.archive(),
    "shared": c.elf([(".text", b"\xc3")], type=3),
    "source": b'extern "C" __global__ void kernel() {}\n',
    "thin archive": b"!<thin>\n",
    "bitcode": BITCODE,
    "offload binary": c.offload(c.image(c.ptx())),
    "offload bundle": b"CCOB\x02\0\x01\0" + bytes(40),
    "optixir": c.ltoir(level=2),
    "tileir": b"\x7fTileIR\0\x0d\x01\0\0" + bytes(32),
    "llvm ir": b'; ModuleID = "m"\ntarget triple = "nvptx64-nvidia-cuda"\n',
    "unknown": b"a letter to a friend\n",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_known_by_its_bytes(see, kind):
    seen = see(KINDS[kind])
    assert (seen.kind, seen.error, seen.warning) == (kind, None, None)


@pytest.mark.parametrize("kind, data", [
    ("bitcode", c.wrapped(BITCODE)),
    ("offload bundle", b"__CLANG_OFFLOAD_BUNDLE__" + bytes(40)),
    ("offload bundle", b"\n// __CLANG_OFFLOAD_BUNDLE____START__ host-x86_64\nint x;\n"),
    ("shared", c.elf(type=2)),
    ("object", c.elf([(".text", b"\0" * 4)], machine=183)),
    ("ptx", b"/* a */ // .version 1.0\n/**/.version 9.0\n.target sm_90a\n\0"),
    # Comments that a text begins with are not counted, however long and many; what is behind is.
    ("ptx", b"/*" + b"x" * 200000 + b"*/\n" + c.ptx()),
    ("source", b"// so long\n" * 20000 + b"\n__device__ int x;"),
    ("source", b"/*" + b"x" * 70000 + b"*/ int a;" + b" " * 60000 + b"__device__ int x;"),
    ("unknown", b"/*" + b"x" * 70000 + b"*/ int a;" + b" " * 70000 + b"__device__ int x;"),
    ("unknown", b"/*" + b"x" * 70000 + b"__device__ int x;"),
    ("llvm ir", b";" + b"x" * 200000 + b"\r" + b'target triple = "x"\n'),
    ("source", b"\xef\xbb\xbf// a mark\n  #define X 1\n"),
    ("source", b"/* __global__ */ template <class T> struct S {};\n"),
    ("source", b"int i = threadIdx.x;"),
    ("source", b'/* "unfinished */ char c = \'"\'; __device__ int x;'),
    ("llvm ir", b'source_filename="k.cu"\n'), ("llvm ir", b'\n ;\n;;\ntarget  datalayout\t= "e"'),
    ("llvm ir", b"define void @f() {\n ret void }"), ("llvm ir", b'declare float @"__nv f"(float)'),
    ("llvm ir", b";\r;\rdefine\tvoid\n@f()".replace(b"\n", b" ")),
    ("llvm ir", b'@"a b" = private constant i8 1'), ("llvm ir", b"@g.1 = global i32 0\n"),
    ("llvm ir", b"%struct.a = type { i32 }\n"), ("llvm ir", b'module asm "// hi"\n'),
    ("llvm ir", b"attributes #0 = { nounwind }\n"), ("llvm ir", b"$f = comdat any\n"),
    ("llvm ir", b"!llvm.ident = !{!0}\n"), ("llvm ir", b"!0 = distinct !{}\n"),
    ("llvm ir", b'^0 = module: (path: "x", hash: (0,0,0,0,0))\n'),
    ("llvm ir", b'; a comment\rtarget datalayout = "e"\r'),
    ("unknown", b"target triple = x\n"), ("unknown", b"; of .ini\nsource_filename = abc\n"),
    ("unknown", b"define me @ once\n"), ("unknown", b"defined a @b(\n"),
    ("unknown", b"declare -a x\n@f(1)"), ("unknown", b"@property = 3\n"), ("unknown", b"@media (x)"),
    ("unknown", b"%types = types\n"), ("unknown", b"attributes # = {"), ("unknown", b"!x = y\n"),
    ("unknown", b"module asm\n"), ("unknown", b"^1 = one\n"), ("unknown", b'@"a\nb" = global'),
    ("unknown", b"\0\0\0\0" + c.ptx()),
    ("unknown", b"/* __global__ never ends"),
    ("unknown", b"// __global__ is only spoken of\n"),
    ("unknown", b"a #define within a line\n"),
    ("unknown", b".versions 8.0\n"),
    ("unknown", struct.pack("<I", 0x1EE55A01) + bytes(60)),     # a fatbin of CUDA 3
    ("unknown", c.elf(machine=224, type=3)),                    # AMD's GPUs
    ("unknown", c.elf(type=4)),                                 # a core file
    ("unknown", b"\x50\xed\x55"),
])
def test_odd_ones(see, kind, data):
    seen = see(data)
    assert (seen.kind, seen.error, seen.entries[1:]) == (kind, None, [])


def test_ptx_behind_a_byte_order_mark_is_ptx_and_damaged_as_ptxas_has_it(see):
    seen = see(b"\xef\xbb\xbf" + c.ptx())
    assert seen.kind == "ptx" and seen.error and not seen.entries


def test_an_empty_file_is_an_error(see):
    assert see(b"").error == "is empty"
