# SPDX-License-Identifier: MIT
"""A patchelf that is missing, forbidden or spoils files: nothing is written."""
import shutil
import struct

import pytest

import build
import changed_elf
import elf
import wheel_files
from importer import importer, patch, real


@pytest.fixture
def inputs(tmp_path, plain):
    return plain, wheel_files.make(tmp_path, {"pkg/module.so": plain})


@pytest.fixture
def wrapper(tmp_path):
    """wrapper(shell code) is a patchelf that runs it: real() is a good one, and
    $FILE what it is to change."""
    program = shutil.which("patchelf")

    def make(code):
        path = tmp_path / "wrapped"
        path.write_text(f"#!/bin/sh\nreal() {{ '{program}' \"$@\"; }}\n"
                        "for FILE in \"$@\"; do :; done\n"
                        "[ \"$1\" = --version ] && { real --version; exit; }\n" + code + "\n")
        path.chmod(0o755)
        return path
    return make


def state(folder):
    return {path: (path.read_bytes(), path.stat().st_mode) for path in folder.rglob("*")
            if path.is_file()}


def refused(retarget, tmp_path, inputs, *options, **more):
    """What is said when it fails on the file and on the wheel; nothing changed."""
    codes = []
    for path in inputs:
        before = state(tmp_path)
        done = retarget("--in-place", *options, path, status=1, **more)
        said, = done.files + done.wheels
        assert said["outcome"] == "refused" and said["output"] is None
        assert state(tmp_path) == before
        codes.append((said["code"], said["error"]))
    assert codes[0][0] == codes[-1][0]
    return codes[0]


def test_no_patchelf(retarget, tmp_path, inputs):
    # Not even beside this Python: a Python that has none beside it.
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "patchelf"
    # Of a wheel no file of it is named.
    assert refused(retarget, tmp_path, inputs[::-1], "--patchelf", program) == (
        "NO_PATCHELF", f"{program} cannot be run: No such file or directory")


def test_no_patchelf_on_path(inputs, world):
    python = shutil.which("python3", path="/usr/bin:/bin")
    if not python:
        pytest.skip("there is no Python that belongs to the system")
    done = world.run(python, "-B", build.PYTHON / "lazycuda", "retarget",
                     "--in-place", inputs[0], check=False)
    assert done.status == 1 and "there is no patchelf on PATH" in done.err


def test_what_is_no_patchelf_is_refused(retarget, tmp_path, inputs, wrapper):
    program = wrapper("")
    program.write_text("#!/bin/sh\necho patchelf nonsense\n")
    code, error = refused(retarget, tmp_path, inputs, "--patchelf", program)
    assert code == "NO_PATCHELF" and "does not tell its version" in error


@pytest.mark.parametrize("version", ["0.14.3", "0.18.0"])
def test_of_any_version_the_result_counts(retarget, tmp_path, inputs, wrapper, version):
    """Before 0.14.5 a call may change one name.  The one that is advised is not advised of itself."""
    program = wrapper("case $*:%s in *-rpath*-needed*:0.14.3) exit 3 ;; *) real \"$@\" ;; esac" % version)
    program.write_text(program.read_text().replace("real --version", f"echo patchelf {version}"))
    retarget("--bundle", "--patchelf", program, *inputs)
    program.write_text(program.read_text().replace("real \"$@\" ;;", ": nothing is done ;;"))
    _, error = refused(retarget, tmp_path, inputs, "--patchelf", program)
    assert f"{program}, version {version}, spoilt it" in error and "patchelf==0.17.2.4` has one" in error
    program.write_text(program.read_text().replace(f"patchelf {version}", "patchelf 0.17.2"))
    _, error = refused(retarget, tmp_path, inputs, "--patchelf", program)
    assert error.endswith("; --leave leaves it as it is")


def test_a_stub_that_it_spoils_is_noticed(retarget, tmp_path, wrapper):
    """cuSOLVER's, which gets needs of its own."""
    module = importer(tmp_path, "cusolverDnCreate", link=[
        real(tmp_path, "libcusolver.so.11", "cusolverDnCreate", node="libcusolver.so.11")])
    program = wrapper("case \"$FILE\" in *.old|*.new) real \"$@\" ;; esac")
    _, error = refused(retarget, tmp_path, [wheel_files.make(tmp_path, {"pkg/module.so": module})],
                       "--patchelf", program)
    assert error.startswith("libcusolver.so.11: ") and "spoilt it: DT_NEEDED is libdl.so.2, libc.so.6;" in error


@pytest.mark.parametrize("path, code", [("/elsewhere", "NO_PATCHELF"), ("$ORIGIN", "WHEEL")])
def test_patchelf_is_missed_before_what_is_large_is_read(retarget, tmp_path, plain, path, code):
    """The large member is damaged: where no file has to change, that is what is said."""
    patch(plain, "--set-rpath", path)
    large = bytes(range(256)) * 4096
    wheel = wheel_files.make(tmp_path, {"pkg/large": large, "pkg/module.so": plain}, compression=0)
    wheel.write_bytes(wheel.read_bytes().replace(large, large[::-1]))
    said, = retarget(wheel, "--patchelf", tmp_path / "none", status=1).wheels
    assert said["code"] == code


@pytest.mark.parametrize("damage, word", [
    ("exit 3", "failed with status 3"),
    ("while :; do :; done", "was still busy with it after 4 seconds of a processor"),
    (": nothing is done", "DT_NEEDED is libcudart.so.12"),
    ("real \"$@\"; truncate -s 9000 \"$FILE\"", "is truncated"),
    ("real \"$@\"; real --set-soname other.so \"$FILE\"", "SONAME"),
    ("real \"$@\"; real --set-rpath /elsewhere \"$FILE\"", "search path"),
    ("real \"$@\"; real --clear-symbol-version cudaMalloc \"$FILE\"", "symbol cudaMalloc"),
    ("real \"$@\"; spoil segments", "misaligned"),
    ("real \"$@\"; spoil code", "code or constants"),
    ("real \"$@\"; spoil relocations", "relocations"),
    ("real \"$@\"; spoil hash", "hash tables"),
    ("real \"$@\"; spoil names", "section table"),
])
def test_what_it_spoils_is_noticed(retarget, tmp_path, inputs, wrapper, damage, word):
    spoiler = tmp_path / "spoil.py"
    spoiler.write_text(SPOILER)
    program = wrapper(f"spoil() {{ PYTHONPATH='{build.TESTS}/lib' python3 '{spoiler}' $1 \"$FILE\"; }}\n{damage}")
    # A wheel's files go the same way.
    inputs = inputs if damage == "exit 3" else inputs[:1]
    code, error = refused(retarget, tmp_path, inputs, "--patchelf", program)
    assert word in error and code in ("SPOILT", "PATCHELF", "UNREADABLE")


# Changes one thing in a file that only the comparison can see.
SPOILER = r"""
import struct, sys
from changed_elf import Elf
kind, path = sys.argv[1:]
file = Elf(open(path, "rb").read())
data = file.data
if kind == "segments":
    (phoff,), (phnum,) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
    headers = [phoff + 56 * i for i in range(phnum)]
    last = [at for at in headers if struct.unpack_from("<I", data, at)[0] == 1][-1]
    offset, = struct.unpack_from("<Q", data, last + 8)
    data += data[offset:]
    file.put("Q", last + 48, 0x10000)
    file.put("Q", last + 8, offset + 8)
elif kind == "code":
    data[file.field(file.find(".text"), 24)] ^= 1
elif kind in ("relocations", "hash"):
    data[file.field(file.like({"hash": "[.]gnu[.]hash"}.get(kind, "[.]rela")), 24) + 16] ^= 1
else:
    file.put("Q", file.header(".dynsym") + 16, 0)
open(path, "wb").write(data)
"""


@pytest.mark.parametrize("tag, why", [
    ("RELASZ", "has a damaged table of relocations"), ("GNU_HASH", "has a damaged hash table"),
    (".text", "has sections outside its segments")])
def test_what_was_spoilt_before_is_not_said_of_patchelf(retarget, tmp_path, tag, why):
    """Also of a file whose count of symbols DT_HASH tells."""
    file = importer(tmp_path, "cudaMalloc", link=["-Wl,--hash-style=both", real(
        tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")])
    data = changed_elf.Elf(file.read_bytes())
    entries = range(data.field(data.find(".dynamic"), 24), len(data.data), 16)
    at = data.header(tag) + 8 if tag == ".text" else next(
        at for at in entries if data.data[at:at + 8] == struct.pack("<Q", {"RELASZ": 8, "GNU_HASH": 0x6ffffef5}[tag]))
    file.write_bytes(data.put("Q", at + 8, 1 << 32))
    said, = retarget(file, status=2).files
    assert (said["code"], said["error"]) == ("UNREADABLE", why)


def test_a_wrong_index_of_section_names_is_mended(retarget, tmp_path, inputs, wrapper):
    # patchelf does that to NVIDIA's own libraries; nm then sees no symbols.
    spoiler = tmp_path / "spoil.py"
    spoiler.write_text("import struct, sys\nf = open(sys.argv[1], 'r+b')\nf.seek(62)\n"
                       "f.write(struct.pack('<H', 1))\nf.close()\n")
    program = wrapper(f"real \"$@\"; python3 '{spoiler}' \"$FILE\"")
    retarget("--in-place", "--patchelf", program, inputs[0])
    assert ".dynsym" in elf.readelf("-S", inputs[0])
    assert "cudaMalloc" in build.output("nm", "-D", inputs[0])


@pytest.mark.parametrize("soname", [None, "../libcudart_stub.so"])
def test_no_stubs(retarget, tmp_path, inputs, soname):
    """Nor is it one by its SONAME, which DT_NEEDED would name, and a copy would be called."""
    if soname:
        patch(shutil.copy(build.stub("cudart"), tmp_path), "--set-soname", soname)
    code, error = refused(retarget, tmp_path, inputs, "--stubs", tmp_path)
    assert code == "NO_STUBS" and "there is no stub of cudart" in error


def test_what_is_wrong_with_the_stubs_is_said_alike_of_each_file(retarget, tmp_path, inputs):
    (tmp_path / "libcudart_stub.so").write_bytes(b"junk")
    done = retarget("--stubs", tmp_path, *inputs, status=1)
    said, = {each["error"] for each in done.files + done.wheels}
    assert said.endswith("it is not an ELF file")


def test_another_version_need_without_its_library_is_said(retarget, tmp_path):
    # onnxruntime-gpu 1.15.1 again: ld.so ends with an assertion, as it did before.
    links = [real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12"),
             real(tmp_path, "libcublas.so.12", "cublasCreate", node="libcublas.so.12")]
    file = importer(tmp_path, "cudaMalloc", "cublasCreate", link=links)
    patch(file, "--remove-needed", "libcublas.so.12")
    said, = retarget(file).files
    assert said["not_loaded"] == "not here: libcublas.so.12"


def test_the_folder_for_results_is_made_unless_all_is_refused(retarget, tmp_path, inputs):
    folder = tmp_path / "some" / "where"
    retarget("-o", folder, "--patchelf", tmp_path / "no" / "patchelf", inputs[0], status=1)
    assert not folder.parent.exists()
    retarget("-o", folder, inputs[0])
    assert [path.name for path in folder.iterdir()] == [inputs[0].name]
    assert "is not a folder" in retarget("-o", inputs[1], inputs[0], status=2).err
