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
VERSIONS = 1, 2, 3

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
        seen = see(bytes(PACKED))
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
    assert extract(file, "--code", 0) == CUBIN
    assert extract(file, "--code", 1) == PTX
    assert extract(file, "--fatbin", 0).endswith("is in no fatbin")


@pytest.mark.parametrize("version", VERSIONS)
def test_images_of_one_source_are_alternatives(see, version):
    one = c.offload(c.image(CUBIN), c.image(c.cubin(arch=90), "sm_90"), version=version)
    assert see(one).column("fatbin") == ["0", "0"]
    # ld puts the sections of several objects in a row, and aligns them.
    assert see(one + bytes(16) + one).column("fatbin") == list("0011")
    assert see(one + one).fatbins == "2"


def test_a_later_binary_of_version_2_is_another_source(see):
    files = [c.offload(c.image(CUBIN), version=2), c.offload(c.image(PTX), version=2),
             c.offload(c.image(CUBIN)), c.offload(c.image(PTX))]
    assert see(b"".join(files)).column("fatbin") == list("0122")


def defining(names, arch="sm_80", weak=False):
    """An image of PTX with these kernels."""
    linkage = ".weak" if weak else ".visible"
    body = "".join(f"{linkage} .entry {name}()\n{{\n\tret;\n}}\n" for name in names.split())
    return c.image(c.ptx(target=arch, body=body), arch, label=c.IS_PTX)


A80, A90, B80, B90 = (defining(name, arch) for name in "ab" for arch in ("sm_80", "sm_90"))
INLINE80, INLINE90 = (defining("w", arch, weak=True) for arch in ("sm_80", "sm_90"))
BOTH80 = c.image(c.ptx(body=".visible .entry a()\n{\n\tret;\n}\n.weak .entry w()\n{\n\tret;\n}\n"), "sm_80",
                 label=c.IS_PTX)
LLVM = c.image(BITCODE, "sm_80", label=c.IS_OBJECT)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("images, archs, sources", [
    ([A80, A90], "80 90", "00"), ([A80, B90], "80 90", "01"), ([A80, B80], "80 80", "01"),
    ([A80, A90, B80, B90], "80 90 80 90", "0011"), ([A80, B90, B80], "80 90 80", "011"),
    # put beside each other
    ([A80, B80, A90, B90], "80 90 80 90", "0011"), ([A80, B80, B90, A90], "80 90 80 90", "0011"),
    # defined twice: two sources, as in two files
    ([A80, A80], "80 80", "01"), ([A80, A90, A80, A90], "80 90 80 90", "0011"),
    # one name is enough
    ([defining("a b"), defining("b c", "sm_90")], "80 90", "00"),
    # what several sources may define ties none together that has another name
    ([BOTH80, INLINE90], "80 90", "01"), ([INLINE80, INLINE90], "80 90", "00"),
    # without names the place decides
    ([LLVM, A90, B80], "80 90 80", "001"), ([A80, LLVM, B90], "80 80 90", "001"), ([LLVM, LLVM], "80 80", "01"),
    ([c.image(c.ptx(body=".extern .func f();\n"), "sm_80"), A90], "80 90", "00"),
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


def test_sources_behind_others_are_numbered_anew(see):
    file = c.archive(c.member(b"a.o/", c.offload(A80, B90)), c.member(b"b.fatbin/", c.usual()),
                     c.member(b"c.o/", c.offload(A80, A90)))
    seen = see(file, "--payloads")
    assert seen.column("fatbin") == list("0122233") and seen.fatbins == "4"


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
    assert seen.warning.endswith("is of HIP, for amdgcn-amd-amdhsa gfx90a, and is left out: it is no code"
                                 " of CUDA")
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


def test_beside_the_sections_of_nvcc(see):
    seen = see(c.elf([("__nv_relfatbin", c.usual()), (".llvm.offloading", c.offload(c.image(PTX)))]))
    assert seen.column("fatbin") == list("0001")


def test_a_member_of_an_archive_is_read(see):
    file = c.archive(c.member(b"k.out/", c.offload(c.image(CUBIN), c.image(PTX, "sm_90"))))
    seen = see(file)
    assert seen.column("kind") == ["cubin", "ptx"]
    assert set(seen.column("member")) == {"k.out"}


FAR = 2**63
DAMAGE = {
    "at 0x0 is of version 4, and versions 1 to 3 are known": c.offload(c.image(PTX), version=4),
    "at 0x0 is of version 0": c.offload(c.image(PTX), version=0),
    "at 0x0 is cut off in its header": c.offload(c.image(PTX))[:20],
    "at 0x0 ends past what contains it": c.offload(c.image(PTX))[:-8],
    "at 0x0 is of impossible size": c.offload(c.image(PTX), size=31),
    "has entries that lie outside it": c.offload(c.image(PTX), entries=FAR),
    "at 0x0 has entries that lie outside it": c.offload(c.image(PTX), version=2, count=FAR // 20),
    "is compressed, which is not supported; compile with --no-offload-compress":
        c.offload(c.image(PTX), version=3, inflated=400),
    "entry 0, at 0x20, has an image that lies outside": c.offload(c.image(PTX, image=FAR)),
    "0, at 0x20, has an image that lies outside": c.offload(c.image(PTX, length=2**64 - 8)),
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
    (c.image(PTX, label=c.IS_OBJECT), "is labelled object and holds ptx"),
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
