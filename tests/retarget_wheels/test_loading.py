# SPDX-License-Identifier: MIT
"""A file is loaded to see that it can be, and none of its code runs, however it is made."""
import struct
import sys

import pytest

import build
import loadable
import wheel_files
from importer import real
from world import chowned

MARK = """
#include <stdlib.h>
static void *run(void) { system("touch $MARK"); return 0; }
unsigned la_version(unsigned version) { run(); return version; }
__attribute__((constructor)) static void begin(void) { run(); }
void resolved(void) __attribute__((ifunc("run")));
void (*const pointer)(void) = resolved;
void evil(void) {}
"""
CALL = "extern void cudaMalloc(void), %s(void);\nvoid (*const called[])(void) = { cudaMalloc, %s };"


@pytest.fixture
def module(tmp_path):
    """module(name, source, what it needs, options): it looks for that beside it"""
    def make(name, source, link=(), *options):
        return build.compile(name, "-w", "-shared", "-fPIC", "-Wl,--no-as-needed", f"-Wl,-soname,{name}",
                             "-Wl,-rpath,$ORIGIN", *options, build.text(source, "c"), link=link)
    return make


AUDITED = "names an auditor (DT_{} libevil.so), whose code ld.so would run"


@pytest.mark.parametrize("of_module, of_need, said", [
    ((), (), None),
    (("-Wl,--audit=libevil.so",), (), "it " + AUDITED.format("AUDIT")),
    (("-Wl,--depaudit=libevil.so",), (), "it " + AUDITED.format("DEPAUDIT")),
    ((), ("-Wl,--audit=libevil.so",), "libneeded.so " + AUDITED.format("AUDIT")),
    (("-Wl,-f,libneeded.so",), ("-Wl,--depaudit=libevil.so",),
     "libneeded.so " + AUDITED.format("DEPAUDIT")),
])
def test_no_code_of_it_runs(retarget, tmp_path, module, of_module, of_need, said):
    evil = module("libevil.so", MARK)
    cudart = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    # The linker makes DT_DEPAUDIT of another file's DT_AUDIT.
    source, others = "void needed(void) {}", [evil, cudart]
    others += [] if "-f" in str(of_module) else [module("libneeded.so", source)]
    made = module("module.so", CALL % ("evil", "evil"), others, *of_module)
    needed = module("libneeded.so", source, [evil], *of_need)
    files = {f"pkg/{file.name}": file for file in (evil, needed, made)}
    env = {"MARK": str(tmp_path / "ran")}
    in_wheel, = [each for each in retarget(wheel_files.make(tmp_path, files), env=env).wheels[0]["files"]
                 if each["file"] == "pkg/module.so"]
    for file in files.values():
        (tmp_path / "beside").mkdir(exist_ok=True)
        (tmp_path / "beside" / file.name).write_bytes(file.read_bytes())
    alone, = retarget(made, env={**env, "LD_LIBRARY_PATH": str(tmp_path / "beside")}).files
    for each, place in (in_wheel, "pkg/"), (alone, str(tmp_path / "beside") + "/"):
        assert each["not_loaded"] == (said and said.replace("libneeded", place + "libneeded"))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("folder, mode, owner, others", [
    ("there", 0o755, 0, False), ("there", 0o777, 0, True), ("there", 0o1777, 0, True), ("there", 0o755, 65534, True),
    ("missing/in", 0o755, 0, False), ("missing/in", 0o1777, 0, True), ("mine/in", 0o1777, 0, False),
    ("link/in", 0o1777, 0, True)])
def test_where_others_may_put_a_file_meanwhile_nothing_is_looked_for(retarget, tmp_path, module, folder, mode, owner, others):
    cudart = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    there = tmp_path / "there"
    (there / "mine" / "in").mkdir(parents=True)
    (there / "link").symlink_to("mine")
    looks = there if folder == "there" else there / folder
    chowned(there / "link", 65534)
    chowned(there, owner)
    there.chmod(mode)
    made = module("module.so", CALL % ("cudaMalloc", "cudaMalloc"), [cudart], f"-Wl,-rpath,{looks}")
    said = retarget(wheel_files.make(tmp_path, {"pkg/module.so": made})).wheels[0]["files"][0]["not_loaded"]
    assert said == (f"it looks in {looks}, where others may put a file meanwhile" if others else None)


# ---- what ld.so would write ----

@pytest.fixture
def why_not(monkeypatch):
    monkeypatch.syspath_prepend(build.PYTHON)
    from lazycuda import elf, inert
    return lambda data: inert.why_not(elf.Elf(data))


# The tags of the tables' sizes.
SIZES = {7: 8, 23: 2, 36: 35}


def made(tag=7, table=b"", entries=(), headers=()):
    """A library of one segment, with this table at 0x200 and its dynamic section at 0x300."""
    tables = [(5, 0x1f0), (10, 1), *([(tag, 0x200), (SIZES[tag], len(table))] if table else []), *entries, (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *each) for each in tables)
    headers = [(1, 6, 0, 0, 0, 0x1000, 0x1000, 8), (2, 6, 0x300, 0x300, 0, len(dynamic), len(dynamic), 8),
               *headers]
    data = bytearray(loadable.library()[:64])
    struct.pack_into("<H", data, 56, len(headers))
    for each in headers:
        data += struct.pack("<IIQQQQQQ", *each)
    data = data.ljust(0x200, b"\0") + table
    return bytes((data.ljust(0x300, b"\0") + dynamic).ljust(0x1000, b"\0"))


def hashed(*words, relocations=b""):
    """With two symbols and this DT_HASH at 0x200, and relocations behind."""
    table = bytes(0x30) + struct.pack(f"<{len(words)}I", *words)
    return made(7, table.ljust(0x80, b"\0") + relocations, [
        (7, 0x280), (8, len(relocations)), (6, 0x200), (4, 0x230)])


def relocation(at, kind=8, symbol=0):
    return struct.pack("<QQq", at, symbol << 32 | kind, 0)


OUTSIDE = "is made so that ld.so would write to memory that is not the file's"


@pytest.mark.parametrize("data, said", [
    (made(table=relocation(0x800)), None),
    (made(table=relocation(0xff8)), None),
    (made(table=relocation(0xff9)), OUTSIDE),
    (made(table=relocation(0xff8, 36)), OUTSIDE),               # TLSDESC: two words
    (made(table=relocation(1 << 64 - 8)), OUTSIDE),
    (made(23, relocation(0x2000)), OUTSIDE),
    (made(table=relocation(0x800) + bytes(8)), OUTSIDE),        # ld.so reads what begins there
    (made(table=relocation(0x800), entries=[(0x6ffffff9, 2)]), OUTSIDE),
    (made(table=relocation(0x208)), OUTSIDE),                   # the table itself
    (made(table=relocation(0x308)), OUTSIDE),                   # the dynamic section
    (made(entries=[(7, 0x308), (8, 24)]), OUTSIDE),             # which ld.so changes first
    (made(table=relocation(0x800, 1, 1)), "has a damaged symbol table"),
    (made(entries=[(17, 0x200)]), OUTSIDE),
    (made(36, struct.pack("<3Q", 0xfc0, 0x7f, 1)), None),
    (made(36, struct.pack("<3Q", 0xfc0, 0x101, 1)), OUTSIDE),
    (made(36, struct.pack("<2Q", 0x2f8, 3)), OUTSIDE),
    (made(36, struct.pack("<Q", 3)), "has a damaged table of relocations"),         # addresses of the process
    (made(entries=[(36, 0xff8), (35, 16)]), "has a damaged table of relocations"),
    (hashed(1, 2, 1, 0, 0), None),
    (hashed(1, 2, 1, 0, 1), "has a damaged hash table"),        # the second leads to itself
    (hashed(2, 2, 1, 1, 0, 0), "has a damaged hash table"),
    (hashed(1, 2, 2, 0, 0), "has a damaged hash table"),
    (hashed(1 << 31, 2, 0), "has a damaged hash table"),
    (hashed(1, 2, 1, 0, 0, relocations=relocation(0x238)), OUTSIDE),
    (made(headers=[(1, 6, 0, 0x2000, 0, 0x1000, 0x1000, 8)]), None),
    (made(headers=[(1, 6, 0, 0x800000, 0, 0x1000, 0x1000, 8), (1, 6, 0, 0x4000, 0, 8, 8, 8)]), OUTSIDE),
    (made(headers=[(1, 6, 0, 0x2000, 0, 0x1000, 8, 8)]), OUTSIDE),
    (made(headers=[(1, 6, 0, 0x2000, 0, 8, 1 << 40, 8)]), OUTSIDE),
    (made(headers=[(2, 6, 0x300, 0x300, 0, 64, 64, 8)]), OUTSIDE),
    (made(headers=[(6, 6, 0x300, 0x300, 0, 64, 64, 8)]), OUTSIDE),
    (made(headers=[(7, 6, 0x300, 0x300, 0, 8, 64, 24)]), OUTSIDE),
    (made(headers=[(7, 6, 0x300, 0x300, 0, 8, 1 << 62, 8)]), OUTSIDE),
    (made(headers=[(7, 6, 0x300, 0x300, 0, 8, 64, 0)]), OUTSIDE),
])
def test_what_it_is_relocated_to_is_its_own_memory(why_not, data, said):
    assert why_not(data) == said


@pytest.mark.parametrize("words, steps", [([0x800] * 9, 9), ([0x800, (1 << 64) - 1], 65)])
def test_relocations_of_an_address_or_a_bit_are_counted(why_not, monkeypatch, words, steps):
    from lazycuda import inert
    data, said = made(36, struct.pack(f"<{len(words)}Q", *words)), []
    for most in (steps, steps - 1):
        monkeypatch.setattr(inert, "MOST_BITS", most)
        said.append(why_not(data))
    assert said == [None, "has an unlikely number of relocations"]


def test_an_old_linker_would_call_resolvers(why_not, monkeypatch):
    from lazycuda import inert
    relative = made(table=relocation(0x800, 37))
    # By its name, which ld.so finds by one of the two hash tables: they say the same.
    table = bytes(0x40) + struct.pack("<IBBHQQ", 0, 0x1a, 0, 1, 0, 0) + struct.pack("<4IQ2I", 1, 1, 1, 0, 0, 1, 1)
    named, hidden = (made(7, table, [(7, 0), (8, 0), (6, 0x228), (0x6ffffef5, 0x258), *more])
                     for more in ((), [(4, 0x400)]))
    monkeypatch.setattr(inert.os, "confstr", lambda _: "glibc 2.28")
    assert {why_not(relative), why_not(named)} == {"has an IFUNC, whose resolver this ld.so would run"}
    assert why_not(hidden) == "has a damaged hash table"
    monkeypatch.undo()


@pytest.mark.parametrize("name, origin, ways", [
    ("$ORIGIN\u00e9", "/a", {"/a\u00e9"}), ("$ORIGINs/${ORIGIN}s", "/a", {"$ORIGINs//as"}),
    ("$ORIGIN/x", "/a$LIB", {"/a$LIB/x"}),
    ("$LIB/$LIB", "/a", {f"{lib}/{lib}" for lib in ("lib", "lib64", *(
        f"lib/{machine}-linux-gnu" for machine in ("x86_64", "aarch64")))})])
def test_what_the_linker_makes_of_a_name(monkeypatch, name, origin, ways):
    monkeypatch.syspath_prepend(build.PYTHON)
    from lazycuda import load
    assert load._expanded(name, origin) == ways


def test_everything_on_this_machine_may_be_loaded(why_not):
    from lazycuda import elf, inert
    assert inert.why_not(elf.read(sys.executable)) is None
    assert [inert.why_not(elf.read(build.stub(each))) for each in build.LIBRARIES] == [None] * len(build.LIBRARIES)
