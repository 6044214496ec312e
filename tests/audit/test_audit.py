# SPDX-License-Identifier: MIT
"""`lazycuda audit`: on which versions of CUDA a binary runs through the stubs."""
import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile

import pytest

import build
import symbols
import wheel_files
from importer import importer, patch, real
from world import ldconfig

# Of a name that no header declares nobody knows the interface: it is never
# forwarded across majors, and no adaptor can be written.
REFUSED = "__nvrtcCPEx"
# There up to 11, and nothing came in its place.
GONE = "cudaUnbindTexture"


def cuda11():
    return [build.import_library("cudart", 11), build.import_library("nvrtc", 11)]


# Files.

@pytest.mark.parametrize("major", build.MAJORS)
def test_what_every_major_has_alike(said, tmp_path, major):
    file = said(importer(tmp_path, "cudaMalloc", "cudaFree", major=major))
    assert file["file"].endswith("module.so")
    assert file["error"] is None and file["is"] is None and file["static"] is False
    assert file["imports"] == [{
        "library": "cudart", "needed": "libcudart_stub.so", "version_need": "libcudart_stub.so",
        "through": "stub", "compiled_for": major, "names": 2, "versioned": True, "judged": True,
        "served_by": None, "served_since": None}]
    assert file["targets"] == {version: {
        "direct": 2, "renamed": 0, "adapted": 0, "refused": [], "absent": []}
        for version in ("11.8", "12.9", "13.5")}
    assert file["verdict"] == "runs on 11.7 and later, on 12 and on 13"


def test_every_version_of_the_list_can_be_asked_for(said, tmp_path):
    file = said("--all-versions", importer(tmp_path, "cudaMalloc"))
    assert list(file["targets"]) == file["runs_on"] == symbols.read().toolkits


@pytest.mark.parametrize("name, library, verdicts", [
    # Another name of the family, an adaptor, and other libraries.
    ("cudaMemAdvise_v2", "cudart", {"12.9": "direct", "13.0": "renamed"}),
    ("cudaMemAdvise", "cudart", {"12.9": "direct", "13.5": "adapted"}),
    ("nvrtcCompileProgram", "nvrtc", {"11.8": "direct", "12.9": "direct"}),
    ("__nvJitLinkCreate_12_4", "nvJitLink", {"11.8": "absent", "12.9": "direct"})])
def test_what_becomes_of_a_name(said, tmp_path, name, library, verdicts):
    file = said("--all-versions", importer(tmp_path, name, library=library))
    entry, = file["imports"]
    assert (entry["library"], entry["compiled_for"], entry["names"]) == (library, 12, 1)
    for version, verdict in verdicts.items():
        target = file["targets"][version]
        assert target.pop(verdict) in (1, [name]) and not any(target.values()), version


def test_refused_and_absent_names_are_listed(said, tmp_path):
    file = said(importer(tmp_path, "cudaMalloc", REFUSED, GONE, link=cuda11()))
    assert file["targets"]["11.8"] == {
        "direct": 3, "renamed": 0, "adapted": 0, "refused": [], "absent": []}
    assert file["targets"]["13.5"] == {
        "direct": 1, "renamed": 0, "adapted": 0, "refused": [REFUSED], "absent": [GONE]}
    assert file["runs_on"] == ["11.7", "11.8"]
    assert file["verdict"] == (f"runs on 11.7 and later; on 12: 1 refused: {REFUSED}; 1 absent: "
                               f"{GONE}; on 13: 1 refused: {REFUSED}; 1 absent: {GONE}")


def test_many_absent_names_can_be_read(audit, said, tmp_path):
    """The verdict has a few of them, and lines of no great width have all."""
    older = [f.name for f in symbols.read().libraries["cudart"].functions
             if {*f.range.majors()} == {11} and f.name.startswith("cuda")]
    file = importer(tmp_path, *older, link=cuda11())
    absent = said(file)["targets"]["13.5"]["absent"]
    lines = audit(file).lines
    assert lines[-1].endswith(f"{len(absent)} absent: {', '.join(absent[:3])} and {len(absent) - 3} more")
    below = lines[lines.index(next(line for line in lines if "on 13.5" in line)):-1]
    assert max(map(len, below)) <= 100 < len(", ".join(absent))
    assert ", ".join(absent) in " ".join(" ".join(below).split())


# Where the imports come from.

@pytest.mark.parametrize("soname, name, node, through, major", [
    ("libcudart.so.11.0", "cudaMalloc", None, "real", 11), ("libnvrtc.so.11.1", "nvrtcVersion", None, "real", 11),
    ("libcudart-09529672.so.12.6.77", "cudaMalloc", "libcudart.so.12", "renamed", 12),
    ("libcudart.782fcab0.so.12", "cudaMalloc", "libcudart.so.12", "renamed", 12)])
def test_the_real_library_by_its_name_or_by_its_node(said, audit, tmp_path, soname, name, node, through, major):
    file = importer(tmp_path, name, link=[real(tmp_path, soname, name, node=node or soname)])
    entry, = said(file)["imports"]
    assert (entry["needed"], entry["through"], entry["compiled_for"]) == (soname, through, major)
    assert ("under another name" in audit(file).out) == (through == "renamed")


def test_a_renamed_stub(said, tmp_path):
    file = patch(importer(tmp_path, "cudaMalloc"), "--replace-needed", "libcudart_stub.so",
                 "libcudart_stub-1a2b3c4d.so")
    assert said(file)["imports"][0]["through"] == "stub"


@pytest.mark.parametrize("soname", ["libnvrtc-builtins.so.12.6", "libcudartist.so.12"])
def test_what_only_sounds_alike(said, tmp_path, soname):
    file = said(importer(tmp_path, "other", link=[
        real(tmp_path, soname, "other", node=None)]))
    assert file["imports"] == []


def test_a_major_that_is_not_served(said, tmp_path):
    file = said(importer(tmp_path, "cudaMalloc", link=[
        real(tmp_path, "libcudart.so.10.2", "cudaMalloc", node="libcudart.so.10.2")]))
    assert file["imports"][0]["compiled_for"] == 10
    assert file["runs_on"] == [] and file["verdict"].startswith("runs on none; on 11: 1 absent")


def test_needed_for_nothing(said, tmp_path):
    file = said(importer(tmp_path, link=[real(tmp_path, "libcudart.so.12", "cudaMalloc")]))
    assert file["imports"] == [{
        "library": "cudart", "needed": "libcudart.so.12", "version_need": None, "through": "real",
        "compiled_for": 12, "names": 0, "versioned": True, "judged": True, "served_by": None, "served_since": None}]
    assert file["verdict"].startswith("imports no function of the libraries that it needs; runs on 12")


def test_a_version_need_without_the_library(said, audit, tmp_path):
    file = patch(importer(tmp_path, "cudaMalloc"), "--remove-needed", "libcudart_stub.so")
    entry, = said(file)["imports"]
    assert (entry["needed"], entry["version_need"], entry["names"]) == (
        None, "libcudart_stub.so", 1)
    assert "something else has to load it first" in audit(file).out


def test_imports_without_a_version(said, audit, tmp_path):
    file = importer(tmp_path, "cudaMalloc", "cudaMemAdvise", link=[
        real(tmp_path, "libcudart.so.12", "cudaMalloc", "cudaMemAdvise")])
    out = said(file)
    entry, = out["imports"]
    assert (entry["versioned"], entry["compiled_for"], entry["names"]) == (False, None, 2)
    # The stub has a default version of the one, and none of the other.
    assert out["targets"]["12.9"]["direct"] == 1
    assert out["targets"]["12.9"]["absent"] == ["cudaMemAdvise"]
    assert "without a version" in audit(file).out


def test_imports_that_something_unknown_may_bring_are_not_judged(said, audit, tmp_path):
    file = importer(tmp_path, "cudaMemAdvise", link=[real(tmp_path, "libother.so.1", "other")])
    out = said(file)
    assert [entry["judged"] for entry in out["imports"]] == [False]
    assert out["targets"]["13.5"]["absent"] == []
    assert "whatever is in the process" in audit(file).out


@pytest.mark.parametrize("count, more", [(200, False), (300, True)])
def test_many_names_that_it_may_open(said, audit, tmp_path, count, more):
    text = "\\0".join(f"libcudart.so.{i + 100}" for i in range(count))
    file = importer(tmp_path, "cudaMalloc", text=text)
    assert len(said(file)["dlopens"]) == min(count, 256)
    assert ("holds more names of libraries than are listed here" in audit(file).out) == more


# What else is in a file.

def test_a_static_runtime(said, audit, tmp_path):
    file = importer(tmp_path, link=[], text="/cudart.shm.%x.%x.%llx")
    assert said(file)["static"] is True
    assert "nothing to retarget" in audit(file).out
    stripped = tmp_path / "stripped.so"
    build.output("strip", "-o", stripped, file)
    assert said(stripped)["static"] is True


@pytest.mark.parametrize("text, opens", [
    ("libcudart.so.12", ["libcudart.so.12"]),
    ("/usr/local/cuda/lib64/libnvrtc.so.11.2", ["libnvrtc.so.11.2"]),
    ("libnvJitLink.so.13", ["libnvJitLink.so.13"]),
    ("libcudart.so", []), ("no libcudart.so.12", []), ("libcudart.so.12 is missing", [])])
def test_names_of_a_fixed_major(said, audit, tmp_path, text, opens):
    file = importer(tmp_path, link=[], text=text)
    assert said(file)["dlopens"] == opens
    assert ("it may open that one" in audit(file).out) == bool(opens)


def test_names_that_the_dynamic_linker_reads_are_none_that_it_opens(said, tmp_path):
    # Section headers are not everywhere.
    file = importer(tmp_path, "cudaMalloc", text="libnvrtc.so.12", link=[
        real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")])
    data = bytearray(file.read_bytes())
    data[0x28:0x30] = bytes(8)
    data[0x3a:0x40] = bytes(6)
    file.write_bytes(data)
    out = said(file)
    assert out["imports"][0]["names"] == 1
    assert out["dlopens"] == ["libnvrtc.so.12"]


def test_the_real_libraries(said, toolkit):
    file = said(toolkit.file("cudart"))
    assert file["is"] == "real" and file["static"] is False
    assert file["imports"] == []


# Folders and wheels.

def beside(major):
    return [build.import_library("cudart", major), "-Wl,-rpath,$ORIGIN"]


def wheel(folder, *files, **options):
    return wheel_files.make(folder, {
        "package/__init__.py": b"import cuda\n" * 100, **{f"package/{file.name}": file for file in files},
        "package/libcudart_stub.so": build.BUILD / "lib" / "libcudart_stub.so"}, **options)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_wheel(audit, tmp_path, compression):
    modules = [importer(tmp_path, "cudaMalloc", name="one.so", link=beside(12)),
               importer(tmp_path, GONE, name="two.so", link=beside(11))]
    path = wheel(tmp_path, *modules, compression=compression)
    out = json.loads(audit("--json", path).out)
    assert [(file["file"], file["wheel"]) for file in out["files"]] == [
        (f"{path}/package/{name}", str(path)) for name in ("one.so", "two.so", "libcudart_stub.so")]
    assert [file["imports"][0]["compiled_for"] for file in out["files"][:2]] == [12, 11]
    assert out["all"] == {"files": 3, "importing": 2, "errors": 0, "runs_on": ["11.7", "11.8"],
                          "driver": None, "verdict": "runs on 11.7 and later"}


@pytest.fixture(scope="module")
def very_large(tmp_path_factory):
    """A wheel with a member of 300 MiB."""
    folder = tmp_path_factory.mktemp("large")
    module = importer(folder, "cudaMalloc")
    os.truncate(module, 300 << 20)
    with zipfile.ZipFile(folder / "p.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(module, "package/module.so")
    return folder / "p.whl"


# A child's ru_maxrss begins with what its parent has, and pytest may be large.
SPENT = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
sys.stdout.flush()
sys.stdout.buffer.write(done.stdout)
"""


def spent(path, limits=(), **env):
    """(what it says of the one member, the memory that it took in MiB)"""
    done = subprocess.run(
        [sys.executable, "-c", SPENT, build.TOOL, "audit", "--json", path], text=True,
        stdout=subprocess.PIPE, env={**os.environ, **env}, check=True, preexec_fn=lambda: [
            resource.setrlimit(limit, (size, size)) for limit, size in limits])
    megabytes, _, said = done.stdout.partition("\n")
    return json.loads(said)["files"][0], int(megabytes)


def test_a_very_large_member_is_not_held_in_memory(very_large, tmp_path):
    file, megabytes = spent(very_large, TMPDIR=str(tmp_path))
    assert file["imports"][0]["names"] == 1 and megabytes < 200
    assert not list(tmp_path.iterdir())


def test_a_very_large_member_where_no_file_may_hold_it(very_large, tmp_path):
    file, megabytes = spent(very_large, [(resource.RLIMIT_FSIZE, 1 << 20)], TMPDIR=str(tmp_path))
    assert file["imports"][0]["names"] == 1 and megabytes > 300


def test_a_folder(audit, tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    importer(tmp_path / "a" / "b", "cudaMalloc", link=beside(12))
    wheel(tmp_path / "a", tmp_path / "a" / "b" / "module.so")
    (tmp_path / "a" / "link.so").symlink_to("b/module.so")
    (tmp_path / "a" / "text").write_text("no library\n")
    (tmp_path / "a" / "empty").write_text("")
    os.mkfifo(tmp_path / "a" / "fifo")
    shutil.copy("/bin/true", tmp_path / "a")
    done = audit(tmp_path)
    assert done.lines[0].endswith("a/b/module.so") and "link.so" not in done.out
    assert done.lines[-2:] == [
        "4 files, 2 with CUDA imports: of these run 2 on 11, 2 on 12, 2 on 13",
        "all of it: runs on 11.7 and later, on 12 and on 13"]
    assert "text" not in done.err and not done.err


def test_without_zlib_it_says_so(world, tmp_path):
    path = wheel(tmp_path, importer(tmp_path, "cudaMalloc"))
    stored = wheel(tmp_path, tmp_path / "module.so", name="stored", compression=zipfile.ZIP_STORED)
    hidden = world.root / "libz.so.1"
    hidden.write_text("")
    for line in build.output(ldconfig(), "-p").splitlines():
        if line.strip().startswith("libz.so.1 "):
            world.bind(hidden, line.split(" => ")[1])
    done = world.cli("audit", path, stored, status=2)
    assert done.err.count("libz.so.1") == 1 and "install zlib" in done.err
    assert f"{stored}/package/module.so" in done.out


# What is required.

@pytest.mark.parametrize("names, require, status", [
    (["cudaMalloc"], "11,12,13", 0), ([GONE], "11", 0), ([GONE], "12", 1), ([GONE], "11,13", 1),
    ([REFUSED], "11.7", 0), ([REFUSED], "12.4", 1)])
def test_require(audit, tmp_path, names, require, status):
    file = importer(tmp_path, *names, link=cuda11())
    done = audit("--require", require, file, status=status)
    assert bool(done.err) == bool(status)
    assert audit(f"--require={require}", file, status=status)


def test_a_major_is_satisfied_by_a_version_that_all_files_run_on(audit, tmp_path):
    # Both in 12, from different minors on.
    one = importer(tmp_path, "cudaLibraryLoadData", name="one.so")
    two = importer(tmp_path, "cudaMalloc", name="two.so")
    done = audit("--require", "12,13", one, two)
    assert done.lines[-1].startswith("all of it: runs on 12.")
    assert "CUDA 11" in audit("--require", "11,12", one, two, status=1).err


@pytest.mark.parametrize("arguments, word", [
    *[(arguments, "usage: lazycuda audit") for arguments in (
        ["--require", "", "x"], ["--require", "9", "x"], ["--require", "12.7", "x"],
        ["--require", "12;13", "x"], ["--require", "12.1004", "x"], ["--require", "4294967308", "x"])],
    (["--driver", "", "x"], "--driver is empty"),
    *[(arguments, ": give a version of CUDA that lazycuda knows") for arguments in (
        ["--driver=12", "x"], ["--driver", "9.0", "x"], ["--driver", "12.2.1", "x"])]])
def test_wrong_usage(audit, arguments, word):
    done = audit(*arguments, status=2)
    assert word in done.err and not done.out


# What cannot be read.

@pytest.mark.parametrize("damage, word", [
    (lambda path: path.unlink(), "does not exist"), (lambda path: path.write_text(""), "is empty"),
    (lambda path: path.write_text("no library, no archive"), "is not an ELF file"),
    (lambda path: path.write_bytes(path.read_bytes()[:40]), "is truncated"),
    (lambda path: path.write_bytes(path.read_bytes()[:4000]), "is truncated")])
def test_what_is_wrong_is_said_in_a_line_and_the_others_go_on(audit, tmp_path, damage, word):
    bad, good = (importer(tmp_path, "cudaMalloc", name=name) for name in ("bad.so", "good.so"))
    damage(bad)
    done = audit(bad, good, status=2)
    assert done.err == f"lazycuda audit: {bad} {word}\n"
    assert f"{good}\n" in done.out
    out = json.loads(audit("--json", bad, good, status=2).out)
    assert [file["error"] for file in out["files"]] == [word, None]
    assert out["all"]["errors"] == 1


def overwritten(data, offset):
    return data[:offset] + bytes(50) + data[offset + 50:]


@pytest.mark.parametrize("damage, word", [
    (lambda data: data[:-30], "no end record"),
    (lambda data: data.replace(b"PK\1\2", b"PK\1\3"), "damaged directory"),
    (lambda data: overwritten(data, data.index(b"PK\3\4", 4) + 200), "damaged in the archive")])
def test_a_damaged_wheel(audit, tmp_path, damage, word):
    module = importer(tmp_path, "cudaMalloc", text="padding " * 400)
    path = wheel(tmp_path, module)
    path.write_bytes(damage(path.read_bytes()))
    done = audit(path, module, status=2)
    assert word in done.err and len(done.err.splitlines()) == 1
    assert f"{module}\n" in done.out


@pytest.mark.parametrize("weak", [True, False])
def test_a_file_that_asks_whether_a_function_is_there(audit, weak):
    source = build.text(f"int cudaDeviceSynchronize(void) {'__attribute__((weak))' * weak};\n"
                        "int ask(void) { return cudaDeviceSynchronize ? 1 : 0; }\n", "c")
    file = build.shared(source, "-w", "-Wl,--no-as-needed", build.import_library("cudart", 12), name="asks.so")
    assert ("asks whether cudaDeviceSynchronize is there" in audit(file).out) is weak


# When functions are looked up.

@pytest.mark.parametrize("flag, lazy", [("-Wl,-z,lazy", True), ("-Wl,-z,now", False)])
def test_a_file_that_is_bound_lazily(said, audit, flag, lazy):
    source = build.text("int cudaDeviceSynchronize(void);\n"
                        "int call(void) { return cudaDeviceSynchronize() + 1; }\n", "c")
    file = build.shared(source, "-fplt", flag, build.import_library("cudart", 12), name="calls.so")
    assert said(file)["lazy"] is lazy
    assert ("is bound lazily" in audit(file).out) is lazy
