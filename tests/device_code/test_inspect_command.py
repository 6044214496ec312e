# SPDX-License-Identifier: MIT
"""`lazycuda inspect`: what device code a file holds."""
import ctypes
import functools
import json
import subprocess

import pytest

import build
import made_up as c
from code_corpus import real_code

PTX = b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k () { ret; }\n"
LTOIR = c.ltoir(arch=1000)
PTX_ENTRY, PACKED_ENTRY = (
    c.entry(c.PTX, PTX, arch=90, flags=c.PLAIN | c.SUFFIX_A | packing, version=(9, 0))
    for packing in (0, c.LZ4))
LTOIR_ENTRY = c.entry(c.LTOIR, LTOIR, arch=100, version=(1, 64))


@pytest.fixture
def inspect(world):
    return functools.partial(world.cli, "inspect")


@pytest.fixture
def put(tmp_path):
    def write(name, data):
        file = tmp_path / name
        file.write_bytes(data)
        return file
    return write


@pytest.fixture
def said(inspect):
    """What it says of one file, as JSON."""
    def run(*arguments, **options):
        file, = json.loads(inspect("--json", *arguments, **options).out)["files"]
        return file
    return run


# What is said.

def test_ptx(inspect, said, put):
    file = put("k.ptx", PTX)
    assert said(file) == {
        "file": str(file), "kind": "ptx", "error": None, "warning": None, "fatbins": 0,
        "entries": [{
            "kind": "ptx", "arch": "sm_90a", "version": "9.0", "compressed": False,
            "relocatable": True, "linked": False, "obfuscated": False, "debug": False,
            "libdevice": False, "no_layout": False, "listed": False,
            "addresses_32": False, "no_debug_info": False,
            "unseen": False, "compression": None, "toolkit": None, "isa": "9.0",
            "container": None, "ir": None, "level": None, "abi": None, "offset": 0,
            "length": len(PTX), "unpacked_length": len(PTX), "member": None, "section": None,
            "fatbin": None, "error": None}]}
    assert inspect(file).lines == [
        f"{file}: ptx, 1 entry",
        f"  ptx      sm_90a    PTX 9.0                 relocatable  {len(PTX)} bytes at 0x0"]


def test_ltoir(inspect, said, put):
    file = put("k.ltoir", LTOIR)
    entry, = said(file)["entries"]
    assert (entry["kind"], entry["arch"], entry["version"]) == ("ltoir", "sm_100", "12.9")
    assert (entry["container"], entry["ir"], entry["level"]) == ("1.64", "2.93", 1)
    assert (entry["toolkit"], entry["isa"], entry["abi"]) == ("12.9", None, None)
    assert "ltoir    sm_100    CUDA 12.9, IR 2.93" in inspect(file).out


def test_a_cubin(inspect, said, real):
    code = real_code(real("12.9").version)
    entry, = said(code / "e_80.cubin")["entries"]
    assert (entry["kind"], entry["arch"], entry["version"]) == ("cubin", "sm_80", "12.9")
    assert (entry["relocatable"], entry["linked"], entry["abi"]) == (False, True, 7)
    entry, = said(code / "k_100a.cubin")["entries"]
    assert (entry["arch"], entry["abi"], entry["relocatable"]) == ("sm_100a", 8, True)
    out = inspect(code / "e_80.cubin", code / "d_80.cubin").out
    assert "cubin    sm_80     CUDA 12.9               linked" in out
    assert "relocatable, debug" in out


def test_a_fatbin(inspect, said, put):
    file = put("k.fatbin", c.fatbin(PTX_ENTRY, LTOIR_ENTRY, c.entry(77, b"x" * 8, arch=90)))
    found = said(file)
    assert (found["kind"], found["fatbins"], found["error"]) == ("fatbin", 1, None)
    assert [(entry["kind"], entry["arch"], entry["fatbin"]) for entry in found["entries"]] == [
        ("ptx", "sm_90a", 0), ("ltoir", "sm_100", 0), ("unknown", "sm_90", 0)]
    assert [entry["offset"] for entry in found["entries"]][0] == 16 + 64
    assert "77" in found["entries"][2]["error"]
    lines = inspect(file).lines
    assert lines[0] == f"{file}: fatbin, 3 entries" and len(lines) == 4
    assert lines[3].startswith("  unknown  sm_90") and "; error: " in lines[3]


def test_compressed_code_is_unpacked_unless_told_not_to(inspect, said, put):
    file = put("k.fatbin", c.fatbin(PACKED_ENTRY))
    entry, = said("--no-unpack", file)["entries"]
    assert (entry["compressed"], entry["compression"], entry["unseen"]) == (True, "lz4", True)
    assert entry["unpacked_length"] == len(PTX) < entry["length"]
    assert "lz4, not unpacked" in inspect("--no-unpack", file).out
    try:
        ctypes.CDLL("liblz4.so.1")
    except OSError:
        pytest.skip("there is no liblz4.so.1")
    entry, = said(file)["entries"]
    assert (entry["compressed"], entry["unseen"], entry["error"]) == (True, False, None)


def test_many_entries_that_are_alike_are_counted(inspect, said, put):
    file = put("k.fatbin", c.fatbin(*[PTX_ENTRY] * 20, LTOIR_ENTRY))
    lines = inspect(file).lines
    assert len(lines) == 3
    padded = len(PTX) + -len(PTX) % 8
    assert lines[1] == ("      20 x ptx      sm_90a    CUDA 13.0, PTX 9.0      relocatable  "
                        f"{20 * padded} bytes")
    assert lines[2].startswith("       1 x ltoir")
    assert len(inspect("--entries", file).lines) == 22
    assert len(said(file)["entries"]) == 21


def test_several_files_in_their_order(inspect, put):
    files = [put("b.ptx", PTX), put("a.ltoir", LTOIR)]
    heads = [line for line in inspect(*files).lines if not line.startswith(" ")]
    assert heads == [f"{files[0]}: ptx, 1 entry", f"{files[1]}: ltoir, 1 entry"]
    found = json.loads(inspect("--json", *files).out)["files"]
    assert [file["file"] for file in found] == [str(file) for file in files]


# Exit status.

def test_a_damaged_entry_among_others_is_a_no(said, put):
    damaged = c.entry(c.LTOIR, bytes(len(LTOIR)), arch=90, version=(9, 0))
    file = put("k.fatbin", c.fatbin(PTX_ENTRY, damaged))
    found = said(file, status=1)
    assert not found["error"] and [bool(entry["error"]) for entry in found["entries"]] == [False, True]


@pytest.mark.parametrize("data, kind, words, status", [
    # Nothing that could be linked is a no; LLVM IR can be.
    (b"nothing of that sort", "unknown", "unknown content", 1), (b"!<thin>\n", "thin archive", "thin archive", 1),
    (c.fatbin(), "fatbin", "fatbin, no device code", 1),
    (b"BC\xc0\xde" + b"\x21\x0c\0\0" + bytes(4), "bitcode", "bitcode, 1 entry", 0),
    (b'target triple = "nvptx64-nvidia-cuda"\ndefine void @f() { ret void }\n', "llvm ir", "llvm ir, 1 entry", 0)])
def test_whether_it_could_be_linked(inspect, said, put, data, kind, words, status):
    file = put("file", data)
    assert said(file, status=status)["kind"] == kind
    lines = inspect(file, status=status).lines
    assert lines[0] == f"{file}: {words}" and len(lines) == (1 if status else 2)


@pytest.mark.parametrize("lines, libdevice, no_layout, words", [
    ("", False, True, "no data layout"),
    ('target datalayout = "e"\ndeclare double @"__nv_sin"(double)\n', True, False, "calls libdevice"),
    ("declare float @__nv_sinf(float)\n", True, True, "calls libdevice, no data layout")])
def test_what_llvm_ir_lacks(inspect, said, put, lines, libdevice, no_layout, words):
    file = put("file", b'target triple = "nvptx64-nvidia-cuda"\n' + lines.encode())
    entry = said(file)["entries"][0]
    assert (entry["libdevice"], entry["no_layout"]) == (libdevice, no_layout)
    assert words in inspect(file).lines[1]


def test_a_list_of_what_is_used(inspect, said, put):
    file = put("file", b'@llvm.used = appending global [0 x ptr] []\n')
    assert said(file)["entries"][0]["listed"] and "lists all that it offers" in inspect(file).lines[1]
    file = put("file", b'@llvm.used = appending global [0 x ptr] []\n@v = global i32 1\n')
    assert not said(file)["entries"][0]["listed"]


def test_what_cannot_be_read(inspect, said, tmp_path):
    (tmp_path / "folder").mkdir()
    for file in (tmp_path / "absent", tmp_path / "folder"):
        found = said(file, status=2)
        assert (found["kind"], found["entries"]) == ("unknown", []) and found["error"]
        assert inspect(file, status=2).err == f"lazycuda inspect: {file} {found['error']}\n"


def test_the_worst_status_counts_and_the_rest_is_said(inspect, put, tmp_path):
    good, bad = put("k.ptx", PTX), put("bad", b"nothing")
    assert len(inspect(bad, good, status=1).lines) == 3
    assert len(inspect(tmp_path / "absent", bad, good, status=2).lines) == 3


def test_output_that_cannot_be_written(put):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build.TOOL, "inspect", put("k.ptx", PTX)],
                              stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "standard output" in done.stderr
