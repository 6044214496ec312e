# SPDX-License-Identifier: MIT
"""What linkers give: images that are what was asked for, and images that are not."""
import ctypes
import re
import struct

import pytest

import build
from code_corpus import archs, real_code

SOURCES = build.room("stubs/base", "link/tables", "link/formats")
SYMBOLS = ("kernel", "_Z9templatedILi3EEvPf", "counter")


@pytest.fixture
def check():
    """What is wrong with an image; None if nothing is."""
    library = ctypes.CDLL(build.compile(
        "libimage.so", "-D_GNU_SOURCE", "-shared", "-fPIC", "-I", build.ROOT / "stubs", *SOURCES, "-ldl"))
    library.lk_image_check.restype = ctypes.c_char_p

    def run(image, arch, *symbols, output="cubin"):
        data, arena = image.read_bytes(), ctypes.create_string_buffer(256)
        number, suffix = re.fullmatch(r"\w+_(\d+)(\w?)", arch).groups()
        said = library.lk_image_check(
            data, ctypes.c_size_t(len(data)), ("cubin", "ptx", "relocatable", "ltoir").index(output),
            int(number), ctypes.c_char(suffix.encode() or b"\0"),
            (ctypes.c_char_p * len(symbols))(*map(str.encode, symbols)), ctypes.c_size_t(len(symbols)), arena)
        library.lc_arena_free(arena)
        return said and said.decode()
    return run


# Healthy images.

def jobs_for(toolkit, folder):
    """((options, inputs), what it is to become), of everything that this version links."""
    version = toolkit.major, toolkit.minor
    for arch in archs(toolkit.version):
        for kind in ("cubin", "ptx", "ltoir"):
            inputs = [(kind, folder / f"{name}_{arch}.{kind}") for name in "kh"]
            lto = ["-lto"] if kind == "ltoir" else []
            yield ([f"-arch=sm_{arch}", *lto], inputs), arch, "cubin"
            if lto:
                yield ([f"-arch=compute_{arch}", "-lto", "-ptx"], inputs), arch, "ptx"
            if version >= (13, 4) and lto:
                yield ([f"-arch=sm_{arch}", "-lto", "-linked-ltoir"], inputs), arch, "ltoir"
            # It has to be the one thing that is missing, too.
            if version >= (13, 0 if not lto else 3):
                yield ([f"-arch=sm_{arch}", *lto, "-r"], inputs[:1]), arch, "relocatable"


def test_no_healthy_image_is_called_wrong(toolkit, produced, link, check):
    jobs = list(jobs_for(toolkit, produced))
    for (job, arch, output), made in zip(jobs, link(toolkit, [job for job, _, _ in jobs])):
        prefix = "compute" if output == "ptx" else "sm"
        assert check(made, f"{prefix}_{arch}", *(SYMBOLS if output != "ltoir" else ()),
                     output=output) is None, (job, made)


# What real linkers give and call a success.

@pytest.fixture
def succeeded(link, check):
    """What is wrong with what nvJitLink makes of these inputs, and calls a success."""
    def run(toolkit, inputs, *options, arch="sm_80", symbols=(), output="cubin"):
        made, = link(toolkit, [([f"-arch={arch}", *options], inputs)])
        return check(made, arch, *symbols, output=output)
    return run


NO_CODE = "has no code in it"


@pytest.mark.parametrize("linker, producer, inputs, options, output, wrong", [
    ("12.6", "13.5", ["k_80.cubin", "h_80.cubin"], [], "cubin",
     "is malformed: it names no virtual architecture"),
    ("12.9", "12.9", ["e_80.cubin"], [], "cubin", NO_CODE),     # linked already
    ("13.5", "13.5", ["e_80.cubin"], [], "cubin", NO_CODE),
    ("13.5", "13.5", [], [], "cubin", NO_CODE),
    ("13.0", "13.0", ["k_80.ltoir", "h_80.ltoir"], ["-lto", "-r"], "relocatable",
     "is not relocatable")])
def test_an_image_that_is_none(real, succeeded, linker, producer, inputs, options, output, wrong):
    code = real_code(real(producer).version)
    files = [(name.partition(".")[2], code / name) for name in inputs]
    assert succeeded(real(linker), files, *options, output=output) == wrong


def test_a_symbol_that_was_asked_for_and_is_not_there(toolkit, produced, succeeded):
    inputs = [("ptx", produced / f"{name}_80.ptx") for name in "kh"]
    # Of these two the second is undefined, too, and comes from the driver.
    for name in ("absent", "vprintf"):
        assert succeeded(toolkit, inputs, symbols=["kernel", name]) == f"does not define {name}"


TEXTURES = """.version 8.0
.target sm_80, texmode_independent
.address_size 64
.visible .global .texref tx;
.visible .global .samplerref sm;
.visible .global .surfref sf;
.visible .entry {name}(.param .u64 p)
{{
	.reg .f32 %f<5>; .reg .b64 %rd; .reg .b32 %r;
	ld.param.u64 %rd, [p];
	mov.u32 %r, 0;
	tex.1d.v4.f32.s32 {{%f1, %f2, %f3, %f4}}, [tx, sm, {{%r}}];
	suld.b.1d.b32.trap %r, [sf, {{%r}}];
	st.global.f32 [%rd], %f1;
	ret;
}}
"""


def test_textures_samplers_and_surfaces_are_undefined_in_a_sound_image(toolkit, link, check, tmp_path):
    """The driver binds what a program gives to their names."""
    inputs = []
    for name in ("one", "two"):
        inputs.append(("ptx", tmp_path / f"{name}.ptx"))
        inputs[-1][1].write_text(TEXTURES.format(name=name))
    made, = link(toolkit, [(["-arch=sm_80"], inputs)])
    assert check(made, "sm_80", "one", "two", "tx", "sm", "sf") is None


# What none gave, and one might.

@pytest.fixture
def image(real, link, tmp_path):
    """image(change) is a file: a healthy image for sm_80 with bytes changed."""
    def run(change, version="12.9", options=(), kind="ltoir"):
        code = real_code(real(version).version, "80")
        made, = link(real(version), [(["-arch=sm_80", *(["-lto"] if kind == "ltoir" else []), *options],
                                      [(kind, code / f"{name}_80.{kind}") for name in "kh"])])
        data = bytearray(made.read_bytes())
        change(data)
        (tmp_path / "changed").write_bytes(data)
        return tmp_path / "changed"
    return run


def nothing(data):
    pass


def test_an_image_for_another_architecture(image, check):
    good = image(nothing)
    assert check(good, "sm_80") is None
    assert check(good, "sm_86") == check(good, "sm_80a") == "is for sm_80"
    # ABI 8 has no virtual architecture.
    assert check(image(nothing, "13.0"), "sm_80") is None


def without_its_virtual_architecture(data):
    flags, = struct.unpack_from("<I", data, 0x30)
    struct.pack_into("<I", data, 0x30, flags & ~0xff0000)


@pytest.mark.parametrize("change, wrong", [
    (without_its_virtual_architecture, "is malformed: it names no virtual architecture"),
    (lambda data: struct.pack_into("<H", data, 0x10, 1), "is not linked"),      # says it is relocatable
    (lambda data: data.pop(), "ends at 0x")])
def test_an_image_with_bytes_changed(image, check, change, wrong):
    assert check(image(change), "sm_80").startswith(wrong)


def test_no_image_at_all(check, tmp_path):
    file = tmp_path / "nothing"
    for output in ("cubin", "ptx", "relocatable", "ltoir"):
        for data in (b"", b"\0" * 4000, b"words"):
            file.write_bytes(data)
            assert check(file, "sm_80", output=output) is not None


def test_ptx_for_a_later_architecture(image, check):
    good = image(nothing, options=["-ptx"])
    assert check(good, "compute_80", "kernel", output="ptx") is None
    assert check(good, "compute_90", output="ptx") is None
    assert check(good, "compute_75", output="ptx") == "is for sm_80"
    assert check(good, "compute_80", "absent", output="ptx") == "does not define absent"


def test_ptx_without_code(check, tmp_path):
    file = tmp_path / "ptx"
    file.write_text(".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f ();\n")
    assert check(file, "compute_80", output="ptx").startswith(f"{NO_CODE}: PTX has what kernels use; take ")


def test_optixir_is_no_ltoir(real, check):
    code = real_code(real("12.9").version, "80")
    assert check(code / "h_80.ltoir", "sm_80", output="ltoir") is None
    assert check(code / "h_80.ltoir", "sm_75", output="ltoir") == "is for sm_80"
    assert check(code / "o_80.optixir", "sm_80", output="ltoir") == "is not LTO-IR"


def test_data_that_is_nowhere(image, check):
    """As if the linker had left a reference to data undefined."""
    def change(data):
        shoff, = struct.unpack_from("<Q", data, 0x28)
        count, = struct.unpack_from("<H", data, 0x3c)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * i) for i in range(count)]
        table, = (section for section in sections if section[1] == 2)
        strings = sections[table[6]][4]
        for at in range(table[4], table[4] + table[5], 24):
            name = strings + struct.unpack_from("<I", data, at)[0]
            if data[name:name + 8] == b"counter\0":
                struct.pack_into("<H", data, at + 6, 0)
    assert check(image(change), "sm_80") == "needs counter, which is not in it"
