# SPDX-License-Identifier: MIT
"""`lazycuda retarget` repoints every library of CUDA that has an installed stub, and says what
became of each."""
import json
import os
import shutil
import subprocess

import pytest

import build
import elf
import library_lists
import one_cuda
import wheel_files
from importer import importer, real
from test_every_function import fake

METADATA = "pkg-1.0.dist-info/METADATA"


def newest(name):
    return max(library_lists.read(name).sonames)


def function(name, major):
    return library_lists.read(name).names(major)[0]


@pytest.fixture
def module(tmp_path):
    """module({library: major}, ...) needs these, and calls a function of each; more libraries
    by their SONAME, and a name that each has."""
    def make(libraries, name="module.so", **more):
        links = [fake(one, major)[0] for one, major in libraries.items()]
        links += [real(tmp_path, soname, symbol, node=soname) for symbol, soname in more.items()]
        return importer(tmp_path, *[function(*one) for one in libraries.items()], *more,
                        link=links, name=name)
    return make


@pytest.fixture
def retarget(patchelf, tmp_path):
    """What is said of one file, which goes to tmp_path/out."""
    def run(*words, status=0, as_json=True, which=0):
        done = subprocess.run(
            [str(word) for word in (build.TOOL, "retarget", "-o", tmp_path / "out",
                                    *(["--json"] if as_json else []), *words)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        if not as_json or status == 2:
            return done.stdout + done.stderr
        said = json.loads(done.stdout)
        return (said["files"] + said["wheels"])[which]
    return run


def fates(said):
    return {each["library"]: each["outcome"] for each in said["libraries"]}


# ---- all of them ----

@pytest.mark.parametrize("part", [0, 1])
def test_every_library_in_one_file(retarget, module, tmp_path, part):
    """No option names any.  Half of them at once: of what threads have of their own there is
    not enough for 38 libraries that dlopen() brings beside those that Python has."""
    names = library_lists.NAMES[part::2]
    libraries = {name: newest(name) for name in names}
    said = retarget(module(libraries), "--bundle")
    assert fates(said) == dict.fromkeys(names, "repointed")
    assert said["loaded"], said
    needed = elf.dynamic(tmp_path / "out" / "module.so")["NEEDED"]
    assert {f"lib{name}_stub.so" for name in names} <= set(needed)
    assert not [name for name in needed if name in library_lists.read("cublas").sonames.values()]


def test_parts_of_cudnn_of_which_nothing_is_called(retarget, tmp_path):
    """As transformer-engine needs them: CMake named them, and libcudnn has what is called."""
    parts = [name for name in library_lists.NAMES if name.startswith("cudnn_")]
    file = importer(tmp_path, function("cudnn", 9),
                    link=[fake(name, 9)[0] for name in ("cudnn", *parts)])
    said = retarget(file, "--bundle")
    assert {each["library"]: (each["outcome"], each["imports"]) for each in said["libraries"]} == {
        "cudnn": ("repointed", 1), **dict.fromkeys(parts, ("repointed", 0))}
    assert len(parts) == 7 and said["loaded"]
    needed = elf.dynamic(tmp_path / "out" / file.name)["NEEDED"]
    assert not [name for name in needed if name.startswith("libcudnn") and "_stub." not in name]


REQUIRES = ["nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cublas-cu12==12.8.4.1",
            "nvidia-cudnn-cu12==9.10.2.21", "nvidia-nvjitlink-cu12==12.8.93",
            "nvidia-nvtx-cu12==12.8.90", "nvidia-cuda-nvcc-cu12", "numpy"]


def wheel(tmp_path, requires=(), **members):
    return wheel_files.make(tmp_path, {f"pkg/{name}.so" if not name.startswith("lib") else
                                       f"pkg.libs/{path.name}": path
                                       for name, path in members.items()}, requires=requires)


def test_a_wheel_with_one_command(retarget, module, tmp_path):
    first = module({"cublas": 12, "cudnn": 9}, "first.so", cudaMalloc="libcudart.so.12")
    second = module({"cublas": 12, "nvjpeg": 12}, "second.so")
    said = retarget("--relax-requirements", wheel(tmp_path, REQUIRES, first=first, second=second))
    assert fates(said) == dict.fromkeys(["cublas", "cudart", "cudnn", "nvjpeg"], "repointed")
    assert said["libraries"][0]["files"] == ["pkg/first.so", "pkg/second.so"]
    assert said["libraries"][0]["imports"] == 2
    # cuBLASLt, since the real cuBLAS needs it, and a file may have its functions from there.
    assert said["added"] == [f"pkg.libs/lib{name}" for name in (
        "cublas.so.12", "cublasLt.so.12", "cudart.so.12", "cudnn.so.9", "nvjpeg.so.12")]
    assert said["kept"] == []
    assert sorted(said["extras"]) == ["cuda11", "cuda12", "cuda13"]
    assert said["extras"]["cuda12"] == REQUIRES[:5]
    required = wheel_files.read(next((tmp_path / "out").glob("*.whl")))[METADATA].decode()
    always = [line for line in required.splitlines()
              if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert always == ["Requires-Dist: nvidia-cuda-nvcc-cu12", "Requires-Dist: numpy"]


def test_an_extra_is_of_cuda_where_cuda_toolkit_is_required(retarget, module, tmp_path):
    file = module({"cublas": 12, "cutensor": 2}, cudaMalloc="libcudart.so.12")
    toolkit, other = "cuda-toolkit[cublas,cudart]==12.9.*", "cutensor==1.0"
    for words in ((), ("--stub", build.BUILD / "lib" / "libcublas_stub.so")):
        said = retarget(*words, "--relax-requirements",
                        wheel(tmp_path, [toolkit, other, "cutensor-cu12"], module=file))
        assert [(each["requirement"], each["extra"]) for each in said["requirements"]] == [
            (toolkit, "cuda12"), ("cutensor-cu12", "cuda12")]
        assert said["extras"]["cuda12"] == [toolkit, "cutensor-cu12"]


def test_the_report_in_words(retarget, module, tmp_path):
    file = module({"cublas": 12, "nccl": 2}, nvinfer="libnvinfer.so.10",
                  cudaMalloc="libcudart.so.12")
    said = retarget("--leave", "nccl", wheel(tmp_path, module=file), as_json=False)
    for line in ("cublas: libcublas.so.12: a stub serves where it is missing in 1 file (1 name)",
                 "cudart: libcudart.so.12: a stub serves where it is missing in 1 file (1 name)",
                 "nccl: left as it is: libnccl.so.2 is still needed, by 1 file",
                 "nvinfer: there is no stub of it here: libnvinfer.so.10 is still needed, by 1 file"):
        assert f"    {line}\n" in said


@pytest.mark.parametrize("name, major, copy", [
    # legate has this one.
    ("cufile", 1, "libcufile-1ecaf17d.so.1.15.1"), ("cupti", 12, "libcupti-0a1b2c3d.so.2022.4.1"), ("cupti", 13, "libcupti.0a1b2c3d.so.2026.1.0")])
def test_a_copy_that_has_the_files_version_in_its_name(retarget, tmp_path, name, major, copy):
    """auditwheel names it by the file, libcufile.so.1.15.1, and not by its SONAME, libcufile.so.0."""
    node = None if name == "cufile" else library_lists.read(name).sonames[major]
    library = real(tmp_path, copy, function(name, major), node=node)
    module = importer(tmp_path, function(name, major), link=[library])
    said = retarget("--prefer=stub", wheel(tmp_path, module=module, library=library))
    assert fates(said) == {name: "repointed"} and f"pkg.libs/{copy}" in said["added"]


# ---- what is narrowed ----

def test_only_some(retarget, module, tmp_path):
    file = module({"cublas": 12, "cudnn": 9, "nccl": 2}, cudaMalloc="libcudart.so.12")
    said = retarget("--only", "cublas,cudart", file)
    assert fates(said) == {"cublas": "repointed", "cudart": "repointed", "cudnn": "left",
                           "nccl": "left"}
    needed = elf.dynamic(tmp_path / "out" / "module.so")["NEEDED"]
    assert {"libcudnn.so.9", "libnccl.so.2"} <= set(needed)
    assert fates(retarget("--only", "nccl", "--only", "cudnn", file)) == {
        "cublas": "left", "cudart": "left", "cudnn": "repointed", "nccl": "repointed"}


def test_leave_some(retarget, module, tmp_path):
    files = {"one": module({"cublas": 12}, "one.so"), "two": module({"cublas": 12, "nccl": 2}, "two.so")}
    said = retarget("--relax-requirements", "--leave", "cublas",
                    wheel(tmp_path, [*REQUIRES, "nvidia-nccl-cu12"], **files))
    assert fates(said) == {"cublas": "left", "nccl": "repointed"}
    assert [entry["requirement"] for entry in said["kept"]] == [REQUIRES[1]]
    # A pattern is one of files, as before.
    said = retarget("--leave", "pkg/one.so", "--leave", "nccl", wheel(tmp_path, **files))
    assert [(each["library"], each["outcome"], each["files"]) for each in said["libraries"]] == [
        ("cublas", "left", ["pkg/one.so"]), ("cublas", "repointed", ["pkg/two.so"]),
        ("nccl", "left", ["pkg/two.so"])]


def test_a_file_name_of_a_library_is_that_library(retarget, module, tmp_path):
    file = module({"cublas": 12, "nccl": 2}, cudaMalloc="libcudart.so.12")
    assert fates(retarget("--only=libcublas.so.12", file)) == {
        "cublas": "repointed", "cudart": "left", "nccl": "left"}
    assert fates(retarget("--leave=libcudart.so.12,pkg/*.txt,libnccl.so.2", wheel_files.make(
        tmp_path, {"pkg/module.so": file, "pkg/a.txt": b""}))) == {
            "cublas": "repointed", "cudart": "left", "nccl": "left"}


@pytest.mark.parametrize("words, said", [
    ("cublas*", "--leave: there is no file 'cublas*' in what is given"),
    ("other/module.so,*", "--leave: there is no file 'other/module.so' in what is given")])
def test_a_pattern_of_no_file(retarget, module, tmp_path, words, said):
    """What was meant to be left would be repointed."""
    file = module({"cublas": 12})
    for given in (file, wheel(tmp_path, module=file)):
        assert said in retarget("--leave", words, given, status=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--only", "--leave"])
@pytest.mark.parametrize("word", ["cublass", "cublas,nosuch", "", "libcublas"])
def test_a_name_that_is_none(retarget, module, option, word):
    said = retarget(f"{option}={word}", module({"cublas": 12}), status=2)
    bad = "nosuch" if "nosuch" in word else word
    near = "; did you mean cublas?" if "cublas" in bad else ""
    assert (f"{option}: there is no stub of {bad!r}{near}\n"
            "there is one of cublas, cublasLt, cuda, cudart") in said
    assert all(f" {name}" in said for name in library_lists.NAMES)


# ---- what has no stub, or one that is no help ----

def test_no_stub_of_it(retarget, module, tmp_path):
    file = module({"cublas": 12}, nvinfer="libnvinfer.so.10", cufftOld="libcufft.so.9")
    said = retarget(wheel(tmp_path, module=file))
    assert fates(said) == {"cublas": "repointed", "cufft": "no stub", "nvinfer": "no stub"}
    assert said["libraries"][1]["needed"] == ["libcufft.so.9"]
    assert said["libraries"][2]["reasons"] == []
    assert said["outcome"] == "retargeted"


def five_alone(tmp_path):
    """The stubs that `make` makes without `all-stubs`."""
    folder = tmp_path / "five"
    folder.mkdir()
    for name in map(build.stub_name, build.STUBBED):
        shutil.copy(build.BUILD / "lib" / name, folder)
    return folder


ALONE = "its stub is of {} alone, and not of {}".format
CUFFT = "libcufft.so.12, libcufft.so.11, libcufft.so.10"


@pytest.mark.parametrize("name, why", [
    # CUDA 10.1 had SONAMEs with a single number, and these lived on in CUDA 11.
    ("libcufft.so.9.0", ALONE(CUFFT, "libcufft.so.9.0")),
    # A library's own numbers are of no CUDA.
    ("libcudnn.so.7", ALONE("libcudnn.so.9, libcudnn.so.8", "libcudnn.so.7")),
    # More digits than Python reads.
    ("libcufft.so." + "9" * 200, ALONE(CUFFT, "libcufft.so." + "9" * 200))])
def test_no_stub_of_this_number(retarget, module, tmp_path, name, why):
    file = module({"nccl": 2}, older=name)
    library = name[3:].partition(".")[0]
    entry = next(each for each in retarget(wheel(tmp_path, module=file))["libraries"]
                 if each["library"] == library)
    assert (entry["outcome"], entry["reasons"]) == ("no stub", [why])
    assert (f"{library}: there is no stub of it here, since {why}: {name} is still needed, by 1 file\n"
            in retarget(wheel(tmp_path, module=file), as_json=False))


def test_where_there_are_the_five_alone_it_is_said_what_makes_the_others(retarget, module, tmp_path):
    said = retarget("--stubs", five_alone(tmp_path), wheel(tmp_path, module=module({"cublas": 12})),
                    as_json=False)
    assert ("cublas: there is no stub of it here, since only `make all-stubs`, or `make ALL_STUBS=yes "
            "install`, makes it: libcublas.so.12 is still needed, by 1 file\n") in said


def test_a_name_that_the_stub_does_not_have(retarget, module, tmp_path):
    """The library is left to that file, and all else is repointed."""
    more = {"cublasOfAnotherWorld": "libcublas.so.12", "cudaMalloc": "libcudart.so.12"}
    files = {"odd": module({}, "odd.so", **more), "even": module({"cublas": 12}, "even.so")}
    said = retarget("--relax-requirements", wheel(tmp_path, REQUIRES, **files))
    entries = {(each["library"], each["outcome"]): each for each in said["libraries"]}
    assert set(entries) == {("cublas", "left"), ("cublas", "repointed"), ("cudart", "repointed")}
    assert entries["cublas", "left"]["reasons"] == [
        "pkg/odd.so imports cublasOfAnotherWorld of libcublas.so.12, which libcublas_stub.so does not "
        "have"]
    assert [entry["requirement"] for entry in said["kept"]] == [REQUIRES[1]]
    # What was asked for by name is refused.
    said = retarget("--only=cublas", wheel(tmp_path, **files), status=1)
    assert said["code"] == "NO_NAME"


@pytest.mark.parametrize("stays, left", [
    # cupynumeric: the libcutensor.so.2 of cutensor-cu13 does not find its libcublasLt.so.13.
    ("libcutensor.so.2", {"cublasLt", "cutensor"}), ("libnvinfer.so.10", set())])
def test_what_a_library_that_stays_needs_itself(retarget, module, tmp_path, stays, left):
    file = module({"cublas": 12, "cublasLt": 12}, ofAnotherWorld=stays, cudaMalloc="libcudart.so.12")
    # In a wheel the stub has the name by which the library that stays needs it.
    said = retarget("--relax-requirements", wheel(tmp_path, REQUIRES, module=file))
    assert {name for name, fate in fates(said).items() if fate == "left"} == left & {"cutensor"}
    said = retarget(file)
    assert {name for name, fate in fates(said).items() if fate == "left"} == left
    reasons = {each["library"]: each["reasons"] for each in said["libraries"]}
    for name in left - {"cutensor"}:
        assert reasons[name] == [
            f"{file} also needs {stays}, which stays and needs it itself"]
    # Who asks for it by name gets it.
    assert fates(retarget("--only=cublasLt,cublas,cudart", file))[
        "cublasLt"] == "repointed"


def test_a_folder_of_the_five_alone(retarget, module, tmp_path):
    folder = five_alone(tmp_path)
    file = module({"cublas": 12, "nccl": 2}, cudaMalloc="libcudart.so.12")
    alone = {"cublas": "no stub", "cudart": "repointed", "nccl": "no stub"}
    assert fates(retarget("--stubs", folder, file)) == alone
    # Somebody else's files are none of ours, whatever they are called.
    shutil.copy(fake("cublas", 12)[0], folder / "libcublas_stub.so")
    assert fates(retarget("--stubs", folder, file)) == alone
    # A system's have a number; a link to one may be left of an older release.
    (folder / "libnvjpeg_stub.so").symlink_to("gone")
    shutil.copy(build.BUILD / "lib" / "libnvjpeg_stub.so", folder / "libnvjpeg_stub.so.0")
    assert fates(retarget("--stubs", folder, module({"nvjpeg": 12}))) == {"nvjpeg": "repointed"}


@pytest.mark.parametrize("make, why", [
    (lambda path: path.write_text("INPUT(libcublas.so)" * 9), "it is not an ELF file"),
    (lambda path: path.symlink_to("nowhere"), "No such file or directory"),
    (lambda path: os.mkfifo(path), "it is not a regular file"),
    (lambda path: path.write_bytes((build.BUILD / "lib" / path.name).read_bytes().replace(
        b'[{"soname"', b'{nonsense,')), "it has a damaged note")],
    ids=["ld script", "dangling link", "FIFO", "damaged note"])
def test_what_has_the_name_of_a_stub_and_is_none(retarget, module, tmp_path, make, why):
    folder = five_alone(tmp_path)
    make(folder / "libcublas_stub.so")
    file = module({"cublas": 12}, cudaMalloc="libcudart.so.12")
    for given in (file, wheel(tmp_path, module=file)):
        said = retarget("--stubs", folder, given)
        assert fates(said) == {"cublas": "no stub", "cudart": "repointed"}
        assert said["notes"][0] == \
            f"{folder}/libcublas_stub.so is not a usable stub: {why}"


# ---- copies that a wheel brings ----

def test_copies_that_stubs_replace_and_what_they_needed(retarget, module, tmp_path):
    file = module({"cublas": 12, "cudnn": 9})
    cublas = one_cuda.made("libcublas.so.12", f"void {function('cublas', 12)}(void) {{ }}\n",
                           needs=[fake("cublasLt", 12)[0]])
    ops = real(tmp_path, "libcudnn_ops.so.9", "cudnnOps", node="libcudnn_ops.so.9")
    members = dict(module=file, lib1=cublas, lib2=fake("cublasLt", 12)[0], lib3=fake("cudnn", 9)[0],
                   lib4=ops)

    def of(*words):
        said = retarget("--prefer=stub", *words, wheel(tmp_path, **members))
        return [[name[len("pkg.libs/"):] for name in sorted(said[what])] for what in ("added", "removed")]
    assert of() == [["libcublas.so.12", "libcudnn.so.9"], ["libcublasLt.so.12", "libcudnn_ops.so.9"]]
    assert of("--keep-libraries") == [[], []]
    assert of("--leave", "cublas") == [["libcudnn.so.9"], ["libcudnn_ops.so.9"]]
    assert of("--leave", "cudnn") == [["libcublas.so.12"], ["libcublasLt.so.12"]]
