# SPDX-License-Identifier: MIT
"""Offload binaries of LLVM: files of their own, and in a section of what clang's newer driver makes."""
import base64
import subprocess
import zlib

import pytest

import build
import made_up as c
from test_hosts import assemble

BITCODE, CUBIN, PTX = c.bitcode(), c.cubin(), c.ptx()
VERSIONS = 1, 3

# PTX for sm_80 and sm_90, and three bytes for gfx90a of HIP, as LLVM 19 packs them.  LLVM 15 and 16
# do so with the strings in another order.  Since then HIP has another number.
PACKED = bytearray(zlib.decompress(base64.b64decode(
    "eNrNzz3KAjEQgOFRsTDVHiGlFhu2EHHxANppYy1xM67BNUoSF3+wFjtLL+GdvImf3zqVoAg2DgwPIdO8wS24lADg"
    "Co/hZJ2sQrmwR+8yeSL7pCaPpCFXJEibTMFbvcwQTL7061YzNLlWWobJSklw81E7AhA5WqcXhrdFxISXNkXPiz8m"
    "pFIWnRs5vUXeajKRa6fHGXKBxtsNn6E1mNUbbMdqFn2H7RkEP9QXv+mLv+w7v+grQeVtX+Wp7/BJn5yrNDHhnf+d"
    "OgnpZB1H8n7WHQyL8z+342u5")))
HIP_AT = 0x1e2


def test_what_llvm_writes_is_read(see):
    for hip in (3, c.HIP):
        PACKED[HIP_AT] = hip
        seen = see(bytes(PACKED), "--payloads")
        assert (seen.error, seen.fatbins) == (None, "1")
        assert seen.column("kind") == ["ptx", "ptx"]
        assert seen.column("arch") == ["80", "90"]
        assert "is of HIP, for amdgcn-amd-amdhsa gfx90a" in seen.warning


@pytest.mark.parametrize("version", VERSIONS)
def test_each_image_is_an_entry(see, version):
    seen = see(c.offload(c.image(CUBIN, label=c.IS_OBJECT), c.image(PTX, label=c.IS_PTX),
                         c.image(c.ltoir()), c.image(BITCODE, "sm_90a", label=c.IS_OBJECT),
                         version=version))
    assert (seen.kind, seen.error, seen.warning) == ("offload binary", None, None)
    assert seen.column("kind") == ["cubin", "ptx", "ltoir", "bitcode"]
    assert seen.column("error") == [None] * 4
    # Only the binary knows the architecture of bitcode.
    assert seen.column("arch") == ["80", "80", "80", "90a"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_code_of_an_image_is_handed_out(extract, version):
    file = c.offload(c.image(CUBIN), c.image(PTX, "sm_90"), version=version)
    assert extract(file, "code", 0) == CUBIN
    assert extract(file, "code", 1) == PTX
    assert extract(file, "copy", 0).endswith("is in no fatbin")


@pytest.mark.parametrize("version", VERSIONS)
def test_images_of_one_source_are_alternatives(see, version):
    one = c.offload(c.image(CUBIN), c.image(c.cubin(arch=90), "sm_90"), version=version)
    assert see(one, "--payloads").column("fatbin") == ["0", "0"]
    # ld puts the sections of several objects in a row, and aligns them.
    assert see(one + bytes(16) + one, "--payloads").column("fatbin") == list("0011")
    assert see(one + one, "--payloads").fatbins == "2"
    # Nothing is known of the names in code that is not read.
    assert see(one).column("fatbin") == ["0", "1"]


def test_a_later_binary_of_version_2_is_another_source(see):
    files = [c.offload(c.image(CUBIN), version=2), c.offload(c.image(PTX), version=2),
             c.offload(c.image(CUBIN)), c.offload(c.image(PTX))]
    assert see(b"".join(files), "--payloads").column("fatbin") == list("0122")


DEFINITIONS = {"entry": ".{linkage} .entry {name}()\n{{\n\tret;\n}}\n",
               "func": ".{linkage} .func {name}()\n{{\n\tret;\n}}\n",
               "var": ".{linkage} .global .u32 {name};\n"}


def defining(names, arch="sm_80"):
    """An image of PTX that defines these: "a" is a kernel, "w:f:func" a weak function f."""
    body = ""
    for name in names.split():
        weak, name, kind = name.startswith("w:"), *(name.removeprefix("w:") + ":entry").split(":")[:2]
        body += DEFINITIONS[kind].format(name=name, linkage="weak" if weak else "visible")
    return c.image(c.ptx(target=arch, body=body or ".extern .func f();\n"), arch, label=c.IS_PTX)


def images_of(*each):
    """images_of("80 a b", "90 a"): what each defines behind its architecture."""
    return [defining(names, f"sm_{arch}") for arch, _, names in (one.partition(" ") for one in each)]


A80, A90, B80, B90 = images_of("80 a", "90 a", "80 b", "90 b")
LLVM, LLVM90 = (c.image(BITCODE, arch, label=c.IS_OBJECT) for arch in ("sm_80", "sm_90"))
GARBAGE90 = c.image(b"\1\2\3\4", "sm_90", label=c.IS_OBJECT)
GUARDED = [images_of(*each) for each in (("80 a", "90 b"), ("80 w:a", "90 b w:a"), ("80", "90 a"),
                                         ("80 w:a v:var", "90 w:a"), ("80", "90"))] + [[LLVM, A90], [A80, GARBAGE90]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("images, archs, sources", [
    ([A80, A90], "80 90", "00"), ([A80, B90], "80 90", "01"),
    # put beside each other
    ([A80, B80, B90, A90], "80 90 80 90", "0011"),
    # defined twice: two sources, as in two files
    ([A80, A90, A80, A90], "80 90 80 90", "0011"),
    # one name is enough, of whatever images
    (images_of("80 a b", "90 b c"), "80 90", "00"), (images_of("80 a", "90 f:func a", "86 f:func b"), "80 90 86", "000"),
    (images_of("80 a", "90 b", "86 a b"), "80 90 86", "000"),
    # several sources may define a weak name
    (images_of("80 a w:w", "90 w:w"), "80 90", "01"), (images_of("80 w:w", "90 w"), "80 90", "01"),
    (images_of("80 w:v w:w", "90 w:w w:v"), "80 90", "00"), (images_of("80 w:w", "90 w:w w:v"), "80 90", "01"),
    (images_of("80 w:w w:f:func", "86 w:v w:f:func"), "80 86", "01"),
    (images_of("80 w:w w:v:var", "90 w:w w:u:var"), "80 90", "01"),
    # what only one architecture has of functions is its own affair
    (images_of("80 w:w w:f:func", "90 w:w w:g:func", "80 w:v w:f:func", "90 w:v w:g:func"), "80 90 80 90", "0011"),
    (images_of("80 w:f:func", "90 w:f:func", "80 w:g:func"), "80 90 80", "001"),
    # what defines nothing is no alternative of what defines something
    (images_of("80 a", "86"), "80 86", "01"), (images_of("80", "90 a"), "80 90", "01"),
    (images_of("80", "90 a", "90"), "80 90 90", "001"),
    # without names
    ([LLVM, A90, B80], "80 90 80", "012"), ([LLVM, LLVM90], "80 90", "01"),
    # of what is damaged nothing is known
    ([A80, GARBAGE90], "80 90", "01"), ([GARBAGE90, A80, A90], "90 80 90", "011"),
])
def test_images_that_define_a_name_in_common_are_of_one_source(see, version, images, archs, sources):
    if version > 1:
        files = c.offload(*images, version=version)
    else:
        files = b"".join(c.offload(one) for one in images)
    seen = see(c.elf([("__nv_relfatbin", c.usual()), (".llvm.offloading", files)]), "--payloads")
    before = int(see(c.elf([("__nv_relfatbin", c.usual())])).fatbins)
    assert seen.column("arch")[-len(images):] == archs.split()
    assert [int(one) - before for one in seen.column("fatbin")[-len(images):]] == [int(one) for one in sources]
    assert int(seen.fatbins) == before + int(max(sources)) + 1


@pytest.mark.parametrize("images", GUARDED)
def test_images_of_an_object_of_one_source_are_alternatives(see, images):
    """Whatever they define: some kernel may be for one architecture alone."""
    binary = c.offload(*images)
    assert see(c.compiled(binary), "--payloads").fatbins == "1"
    assert see(c.compiled(binary)).fatbins == "1"
    assert see(c.archive(c.member(b"a.o/", c.compiled(binary)), c.member(b"b.o/", c.compiled(binary)))).fatbins == "2"
    # What ld -r writes, or strip, or no compiler, may be of several.
    apart = "1" if images == GUARDED[4] else "2"
    for other in (c.compiled(binary, 0), c.compiled(binary, 2), binary, c.elf([(".llvm.offloading", binary)], type=3)):
        assert see(other, "--payloads").fatbins == apart
    # That two are alike says so, too.
    assert int(see(c.compiled(binary + binary), "--payloads").fatbins) == 2 * int(apart)


def test_an_object_of_one_source_has_images_for_no_more_architectures_than_there_are(see):
    for count, fatbins in (64, "1"), (65, "65"):
        images = images_of(*(f"{50 + i} k{i}" for i in range(count)))
        assert see(c.compiled(c.offload(*images)), "--payloads").fatbins == fatbins


@pytest.mark.parametrize("fields", [{"offset": 1 << 40}, {"size": 1 << 40}, {"info": 1 << 31}, {"info": 0}, {"link": 99}])
def test_damaged_symbols_of_an_object(see, fields):
    file = bytearray(c.compiled(c.offload(A80, B90)))
    at = {"offset": 24, "size": 32, "link": 40, "info": 44}
    headers = int.from_bytes(file[40:48], "little")
    for name, value in fields.items():
        begin, length = headers + 3 * 64 + at[name], 8 if name in ("offset", "size") else 4
        file[begin:begin + length] = value.to_bytes(length, "little")
    seen = see(bytes(file), "--payloads")
    assert seen.error is None and seen.fatbins == ("1" if fields in ({"link": 99}, {"size": 1 << 40},
                                                                     {"info": 1 << 31}) else "2")


def test_sources_behind_others_are_numbered_anew(see):
    file = c.archive(c.member(b"a.o/", c.offload(A80, B90)), c.member(b"b.fatbin/", c.usual()),
                     c.member(b"c.o/", c.offload(A80, A90)), c.member(b"d.fatbin/", c.usual()))
    seen = see(file, "--payloads")
    assert seen.column("fatbin") == list("0122233444") and seen.fatbins == "5"
    assert seen.column("member") == [*["a.o"] * 2, *["b.fatbin"] * 3, *["c.o"] * 2, *["d.fatbin"] * 3]


def test_a_suffix_goes_with_its_number(see):
    for label, arch in (("sm_80a", "80a"), ("sm_999a", "80")):
        assert see(c.offload(c.image(PTX, label))).column("arch") == [arch]


def test_a_fatbin_in_it_is_read(see):
    seen = see(c.offload(c.image(PTX), c.image(c.usual(), label=c.IS_FATBIN), c.image(CUBIN)))
    assert seen.column("kind") == ["ptx", "cubin", "ptx", "ltoir", "cubin"]
    assert seen.column("fatbin") == list("01112")


def test_what_is_not_for_cuda_is_left_out_and_named(see):
    gpu = c.image(b"\x7fELF of AMD", "gfx90a", "amdgcn-amd-amdhsa", c.IS_OBJECT, c.HIP)
    seen = see(c.offload(gpu, c.image(CUBIN), version=2))
    assert (seen.error, seen.column("kind")) == (None, ["cubin"])
    assert seen.warning.endswith("is of HIP, for amdgcn-amd-amdhsa gfx90a, and is left out; it is not CUDA"
                                 " code")
    for other, words in ((c.image(CUBIN, producer=c.OPENMP), "is of OpenMP, for nvptx64-nvidia-cuda"),
                         (c.image(CUBIN, producer=3), "is of HIP, for nvptx64"),
                         (c.image(CUBIN, producer=77), "of no producer that is known"),
                         (c.image(CUBIN, "", "spirv64"), "is of CUDA, for spirv64, and")):
        seen = see(c.offload(other))
        assert (seen.error, seen.entries) == (None, [])
        assert words in seen.warning


def test_an_entry_of_strings_alone_is_none(see):
    file = c.offload(c.image(b"", flags=1), c.image(CUBIN), version=2)
    assert see(file).column("kind") == ["cubin"]


@pytest.mark.parametrize("name, how", [("one.o", ["-c"]), ("both.o", ["-r", "-nostdlib"])])
def test_a_section_of_an_object_is_read(see, tmp_path, name, how):
    file = c.offload(c.image(CUBIN), c.image(PTX))
    objects = [assemble(tmp_path, one, (".llvm.offloading", file)) for one in ("a", "b")]
    made = objects[0]
    if how != ["-c"]:
        made = tmp_path / name
        subprocess.run([*build.CC, *how, *objects, "-o", made], check=True)
    seen = see(made)
    assert (seen.kind, seen.error, seen.warning) == ("object", None, None)
    assert seen.column("kind") == ["cubin", "ptx"] * (1 if how == ["-c"] else 2)
    assert set(seen.column("section")) == {".llvm.offloading"}


FAR = 2**63
DAMAGE = {
    "at 0x0 is of version 4, and versions 1 to 3 are known": c.offload(c.image(PTX), version=4),
    "at 0x0 is cut off in its header": c.offload(c.image(PTX))[:20],
    "at 0x0 ends past what contains it": c.offload(c.image(PTX))[:-8],
    "at 0x0 is of impossible size": c.offload(c.image(PTX), size=31),
    "has entries that lie outside it": c.offload(c.image(PTX), entries=FAR),
    "at 0x0 has entries that lie outside it": c.offload(c.image(PTX), version=2, count=FAR // 20),
    "is compressed, which is not supported; compile with --no-offload-compress":
        c.offload(c.image(PTX), version=3, inflated=400),
    "entry 0, at 0x20, has an image that lies outside": c.offload(c.image(PTX, image=FAR)),
    "entry 0, at 0x20, has strings that lie outside": c.offload(c.image(PTX, strings=FAR)),
    "has strings that lie outside": c.offload(c.image(PTX, count=2**60)),
    "has a string that lies outside": c.offload(c.image(PTX, key=FAR)),
    "entry 0, at 0x20, has a string that lies outside": c.offload(c.image(PTX, value=FAR)),
    "at 0x20, has a string that lies outside": c.offload(c.image(PTX, size=FAR), version=2),
    "something else begins there": c.offload(c.image(PTX)) + b"garbage!" * 5,
}


@pytest.mark.parametrize("words", DAMAGE)
def test_damage_is_named_with_its_place(see, words):
    assert words in see(DAMAGE[words]).error
    assert words.rpartition(" 0x")[2].partition(" ")[2] in see(
        c.elf([(".llvm.offloading", DAMAGE[words])])).error


@pytest.mark.parametrize("image, words", [
    (c.image(PTX, label=c.IS_CUBIN), "is labelled cubin and holds ptx"),
    (c.image(CUBIN, label=c.IS_PTX), "is labelled ptx and holds cubin"),
    (c.image(b"\1\2\3\4"), "is of an unknown kind"),
    (c.image(b""), "is empty"),
    (c.image(b"!<arch>\n"), "is archive, which is not supported in an offload binary"),
    (c.image(CUBIN[:-8]), "ends"),
    (c.image(BITCODE[:30]), "ends inside its block"),
])
def test_one_damaged_image_leaves_the_others(see, image, words):
    seen = see(c.offload(image, c.image(c.cubin(arch=90), "sm_90")))
    assert seen.error is None
    assert words in seen.entries[0]["error"]
    assert seen.entries[1]["error"] is None
