# SPDX-License-Identifier: MIT
"""`lazycuda retarget WHEEL`: what it makes of made-up wheels."""
import functools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import zipfile

import pytest

import build
import elf
import wheel_files
from importer import check_loads, importer, patch, real

RENAMED = "libcudart-09529672.so.12.6.77"
NVRTC = "libnvrtc-d7c32a86.so.12.6.85"
BUILTINS = "libnvrtc-builtins-a1d5fce3.so.12.6.85"


@pytest.fixture
def repaired(tmp_path):
    """Members of a wheel as auditwheel leaves it: renamed copies within."""
    cudart = real(tmp_path, RENAMED, "cudaMalloc", node="libcudart.so.12")
    nvrtc = real(tmp_path, NVRTC, "nvrtcVersion", node="libnvrtc.so.12")
    builtins = real(tmp_path, BUILTINS, "getBuiltins")
    module = importer(tmp_path, "cudaMalloc", "nvrtcVersion", link=[cudart, nvrtc, builtins])
    patch(module, "--force-rpath", "--set-rpath", "$ORIGIN/../pkg.libs")
    return {"pkg/__init__.py": b"", "pkg/module.so": module, f"pkg.libs/{RENAMED}": cudart,
            f"pkg.libs/{NVRTC}": nvrtc, f"pkg.libs/{BUILTINS}": builtins}


def out_of(retarget):
    made, = retarget.out.iterdir()
    return made


def unpacked(retarget, tmp_path):
    return wheel_files.unpack(out_of(retarget), tmp_path / "site")


def test_the_stubs_are_added_and_found(retarget, tmp_path, plain, world):
    wheel = wheel_files.make(tmp_path, {"pkg/__init__.py": b"", "pkg/deep/module.so": plain})
    said, = retarget(wheel).wheels
    assert said["added"] == ["pkg.libs/libcudart.so.12"] and said["removed"] == []
    assert said["files"][0]["loaded"] is True
    wheel_files.check_record(out_of(retarget))
    site = unpacked(retarget, tmp_path)
    # As DT_RUNPATH: LD_LIBRARY_PATH goes first.
    assert elf.dynamic(site / "pkg/deep/module.so")["RUNPATH"] == ["$ORIGIN/../../pkg.libs"]
    # Where there is nothing it is loaded with every symbol bound, and answers.
    check_loads(world, site / "pkg/deep/module.so")


@pytest.mark.parametrize("options", [(), ("--relax-requirements", "--keep-libraries")])
def test_bundled_libraries_stay(retarget, tmp_path, repaired, options):
    """They are the wheel's own CUDA: it runs as published."""
    wheel = wheel_files.make(tmp_path, repaired)
    said, = retarget(*options, wheel).wheels
    assert said["outcome"] == "nothing" and said["added"] == said["removed"] == []
    assert any(f"{RENAMED} is the real cudart, and stays" in note for note in said["notes"])
    assert out_of(retarget).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("options", [("--relax-requirements",), ("--prefer", "stub")])
def test_stubs_take_the_place_of_bundled_libraries(retarget, tmp_path, repaired, world, options):
    said, = retarget(*options, wheel_files.make(tmp_path, repaired)).wheels
    assert said["added"] == [f"pkg.libs/{RENAMED}", f"pkg.libs/{NVRTC}"]
    assert said["removed"] == [f"pkg.libs/{BUILTINS}"]
    site = unpacked(retarget, tmp_path)
    assert elf.dynamic(site / f"pkg.libs/{RENAMED}")["SONAME"] == [RENAMED]
    # The module no longer needs what nvrtc opens for itself; else it is as it was.
    assert elf.dynamic(site / "pkg/module.so")["NEEDED"] == [
        name for name in elf.dynamic(repaired["pkg/module.so"])["NEEDED"] if name != BUILTINS]
    check_loads(world, site / "pkg/module.so")
    wheel_files.check_record(out_of(retarget))
    required, extras = requirements(out_of(retarget))
    assert extras == ["cuda11", "cuda12", "cuda13"]
    assert 'nvidia-cuda-nvrtc-cu12 ; extra == "cuda12"' in required


def test_a_copy_that_the_wheel_opens_first_need_not_be_found(retarget, tmp_path):
    libraries = [real(tmp_path, name, names, node=name) for name, names in (
        ("libcudart.so.12", "cudaMalloc"), ("libcusolver.so.11", "cusolverDnCreate"))]
    module = importer(tmp_path, "cudaMalloc", "cusolverDnCreate", link=libraries)
    said, = retarget("--prefer", "stub", wheel_files.make(tmp_path, {
        "pkg/module.so": module, "pkg/cuda/libcusolver.so.11": libraries[1]})).wheels
    assert "pkg/cuda/libcusolver.so.11" in said["added"]
    assert said["files"][0]["not_loaded"] == "not here: libcusolver.so.11"


def test_a_copy_counts_by_its_file_name(retarget, tmp_path, plain):
    """torchvision's copy of cudart has a hash in its file name alone: ld.so does not find it."""
    copy = patch(real(tmp_path, RENAMED, "cudaMalloc", node="libcudart.so.12"),
                 "--set-soname", "libcudart.so.12")
    said, = retarget(wheel_files.make(tmp_path, {"pkg/module.so": plain,
                                                 f"pkg.libs/{RENAMED}": copy})).wheels
    assert said["added"] == ["pkg.libs/libcudart.so.12"] and said["removed"] == []


def test_the_stub_lies_where_the_file_looks_last(retarget, tmp_path, plain):
    """torch: its run path leads to NVIDIA's packages, then to its own folder.  Nothing is changed."""
    patch(plain, "--force-rpath", "--set-rpath", "$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN")
    said, = retarget(wheel_files.make(tmp_path, {"pkg/lib/module.so": plain})).wheels
    assert said["added"] == ["pkg/lib/libcudart.so.12"]
    assert wheel_files.read(out_of(retarget))["pkg/lib/module.so"] == plain.read_bytes()


@pytest.mark.parametrize("size, homes", [(0, ["pkg/b"]), (4 << 20, ["pkg/a", "pkg/b"])])
def test_folders_share_a_stub_unless_large_files_would_change(retarget, tmp_path, plain, world, size, homes):
    """cuopt: each extension looks in its own folder alone.  What needs a change anyway shares it, too."""
    outside = shutil.copy(plain, tmp_path / "outside.so")
    patch(plain, "--set-rpath", "$ORIGIN")
    padded = tmp_path / "padded.so"
    padded.write_bytes(plain.read_bytes() + bytes(size))
    said, = retarget(wheel_files.make(tmp_path, {
        "pkg/a/module.so": padded, "pkg/b/module.so": plain, "pkg/b/other.so": padded,
        "pkg/outside.so": outside})).wheels
    assert said["added"] == [f"{home}/libcudart.so.12" for home in homes]
    site = unpacked(retarget, tmp_path)
    assert (site / "pkg/b/module.so").read_bytes() == plain.read_bytes()
    assert elf.dynamic(site / "pkg/outside.so")["RUNPATH"] == ["$ORIGIN/b"]
    for file in ("a/module.so", "b/module.so", "outside.so"):
        check_loads(world, site / "pkg" / file)


@pytest.mark.parametrize("path, code, opened", [
    ("$ORIGIN", 'names = [f"libnvrtc.so.{major}"]', True),
    ("$ORIGIN", 'table = {"nvrtc": "libnvrtc.so.*[0-9]"}', True), ("$ORIGIN", 'load("libnvrtc.so.12")', True), ("$ORIGIN", 'load("libnvrtc.so.11.2")', False),
    ("$ORIGIN/../..", 'load("libnvrtc.so.12")', False)])
def test_what_python_opens_is_there_with_the_runtimes_stub(retarget, tmp_path, plain, path, code, opened):
    """torch's kernel compiler: another file of torch needs nvrtc, and is loaded later."""
    patch(plain, "--set-rpath", path)
    later = importer(tmp_path, "nvrtcVersion", name="later.so", link=[
        real(tmp_path, "libnvrtc.so.12", "nvrtcVersion", node="libnvrtc.so.12")])
    patch(later, "--set-rpath", path)
    said, = retarget(wheel_files.make(tmp_path, {"pkg/module.so": plain, "pkg/later.so": later,
                                                 "pkg/a.py": f"{code}\n".encode()})).wheels
    runtime, = [name for name in said["added"] if "cudart" in name]
    assert ("libnvrtc.so.12" in elf.dynamic(unpacked(retarget, tmp_path) / runtime)["NEEDED"]) == opened


@pytest.mark.parametrize("first", [False, True])
def test_what_the_file_found_still_goes_first(retarget, tmp_path, plain, first):
    """A run path that ends outside gets one more entry; --prefer stub puts it first."""
    outside = "$ORIGIN:$ORIGIN/../../nvidia/cuda_runtime/lib"
    patch(plain, "--force-rpath", "--set-rpath", outside)
    retarget(wheel_files.make(tmp_path, {"pkg/lib/module.so": plain}),
             *(["--prefer", "stub"] if first else []))
    ours = "$ORIGIN/../../pkg.libs"
    assert elf.dynamic(unpacked(retarget, tmp_path) / "pkg/lib/module.so")["RPATH"] == [
        f"{ours}:{outside}" if first else f"{outside}:{ours}"]


@pytest.mark.parametrize("tag, gets", [("--force-rpath", "RPATH"), ("--add-rpath", "RUNPATH")])
def test_what_is_found_by_the_path_of_another_file_still_is(retarget, tmp_path, plain, tag, gets):
    """nixl: ld.so takes the DT_RPATH of what needs a file, and of what needs that, but for a DT_RUNPATH."""
    outer, middle = (patch(real(tmp_path, f"{name}.so", name), "--add-needed", needed)
                     for name, needed in (("outer", "middle.so"), ("middle", "module.so")))
    patch(outer, tag, *(["--set-rpath"] if gets == "RPATH" else []), "$ORIGIN/far")
    retarget(wheel_files.make(tmp_path, {"pkg/far/module.so": plain, "pkg/middle.so": middle,
                                         "pkg/outer.so": outer}))
    assert elf.dynamic(unpacked(retarget, tmp_path) / "pkg/far/module.so")[gets] == ["$ORIGIN/../../pkg.libs"]


@pytest.fixture
def through_cusolver(tmp_path):
    """A module that has a function of cuBLAS only because cuSOLVER needs cuBLAS, and needs what is
    not here."""
    real(tmp_path, "libcublas.so.12", "cublasCgemmBatched", node="libcublas.so.12")
    module = importer(tmp_path, "cusolverDnCreate", "other", "cublasCgemmBatched", link=[
        real(tmp_path, "libcusolver.so.11", "cusolverDnCreate", node="libcusolver.so.11"),
        real(tmp_path, "libother.so.1", "other")])
    (tmp_path / "libother.so.1").rename(tmp_path / "away")
    return module


def test_what_a_library_needs_in_turn_its_stub_needs(retarget, tmp_path, world, through_cusolver):
    assert "libcublas.so.12" not in elf.dynamic(through_cusolver)["NEEDED"]
    said, = retarget(wheel_files.make(tmp_path, {"pkg/module.so": through_cusolver})).wheels
    assert {"pkg.libs/libcusolver.so.11", "pkg.libs/libcublas.so.12",
            "pkg.libs/libnvJitLink.so.12"} <= set(said["added"])
    site = unpacked(retarget, tmp_path)
    (world.folder("other") / "libother.so.1").symlink_to(tmp_path / "away")
    check_loads(world, site / "pkg/module.so", LD_LIBRARY_PATH=str(world.root / "other"))


def test_a_name_that_would_be_lost_keeps_the_library(retarget, tmp_path, through_cusolver):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": through_cusolver})
    said, = retarget("-o", tmp_path / "served", through_cusolver).files
    assert "libcublas_stub.so" in elf.dynamic(tmp_path / "served/module.so")["NEEDED"]
    why = "imports cublasCgemmBatched of cublas, which it has only because libcusolver.so.11 needs that"
    for path in wheel, through_cusolver:
        done = retarget("--only", "cusolver", path, status=1)
        said, = done.files + done.wheels
        assert said["code"] == "LOAD" and why in said["error"] and not list(retarget.out.iterdir())
    for path in wheel, through_cusolver:
        done = retarget("--leave", "cublas", path)
        said, = done.files + done.wheels
        assert said["outcome"] == "nothing" and why in said["libraries"][0]["reasons"][0]


@pytest.mark.parametrize("program, bytes_before", [(False, 0), (True, 0), (False, 65 << 20)])
def test_a_variable_that_a_stub_cannot_serve(retarget, tmp_path, program, bytes_before):
    """A copy in a program, and what a static constructor reads, are as the stub had it."""
    library = real(tmp_path, "libnvshmem_host.so.3", "nvshmem_align", node="NVSHMEM",
                   variables=["nvshmem_options"])
    source = tmp_path / "early.c"
    source.write_text("extern int nvshmem_options; int nvshmem_align(void); int seen;\n"
                      "int late(void) { return nvshmem_options + nvshmem_align(); }\n"
                      "int main(void) { return late(); }\n"
                      "static void __attribute__((constructor)) early(void);\n"
                      "static void __attribute__((noinline)) look(void)\n"
                      f"{{ __asm__ volatile (\".zero {bytes_before}\"); seen = nvshmem_options; }}\n"
                      "static void early(void) { look(); }\n")
    mode = ["-no-pie", "-fno-pic", "-Dconstructor=unused"] if program else ["-shared", "-fPIC"]
    name = "pkg/tool" if program else "pkg/module.so"
    build.output(*build.CC, "-O2", *mode, "-o", tmp_path / "early", source, library)
    done = retarget(wheel_files.make(tmp_path, {name: tmp_path / "early"}), json_wanted=False)
    assert done.out.splitlines()[-1].strip() == \
        f"{name} cannot be imported without libnvshmem_host.so.3: variable nvshmem_options"
    assert "left as it is" in done.out
    # What reads it later is served, and what does not, however much there is to look at.
    text = source.read_text()
    for other in () if program else (text.replace("(constructor)", "(unused)"), text.replace(
            f".zero {bytes_before}", ".fill 3145728, 1, 0xe8").replace("seen = nvshmem_options;", "")):
        source.write_text(other)
        build.output(*build.CC, "-O2", *mode, "-o", tmp_path / "early", source, library)
        said, = retarget(wheel_files.make(tmp_path, {name: tmp_path / "early"})).wheels
        assert said["added"] == ["pkg.libs/libnvshmem_host.so.3"] and said["files"][0]["loaded"]


@pytest.mark.parametrize("words, below, stubs, path", [
    (["--stubs-in", "./pkg/"], "", "pkg", "$ORIGIN"),
    # What pip moves: they lie where the file will lie, also where lib and lib64 differ.
    ([], "pkg-1.0.data/platlib/", "pkg.libs", "$ORIGIN/../pkg.libs")])
def test_another_folder_for_the_stubs(retarget, tmp_path, plain, words, below, stubs, path):
    said, = retarget(*words, wheel_files.make(tmp_path, {f"{below}pkg/module.so": plain})).wheels
    assert said["added"] == [f"{below}{stubs}/libcudart.so.12"]
    assert elf.dynamic(unpacked(retarget, tmp_path) / f"{below}pkg/module.so")["RUNPATH"] == [path]


def test_a_file_of_which_nobody_knows_where_it_goes(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg-1.0.data/data/module.so": plain})
    said, = retarget(wheel).wheels
    assert said["outcome"] == "nothing" and said["notes"] == [
        "pkg-1.0.data/data/module.so is left as it is, since it is not installed into site-packages, "
        "where the stubs lie: it still needs libcudart.so.12"]
    retarget("--strict", wheel, status=1)


def test_nothing_but_what_is_left(retarget, tmp_path, plain):
    said, = retarget("--leave", "pkg/*", wheel_files.make(tmp_path, {"pkg/a.so": plain})).wheels
    assert said["outcome"] == "nothing" and "still needs libcudart.so.12" in said["notes"][0]


def test_what_is_for_musl_can_be_left(retarget, tmp_path, plain):
    patch(plain, "--replace-needed", "libc.so.6", "libc.musl-x86_64.so.1")
    for given in plain, wheel_files.make(tmp_path, {"pkg/a.so": plain}):
        done = retarget(given, status=1)
        assert [said["code"] for said in done.files + done.wheels] == ["MUSL"]
        retarget("--leave", "*.so", given)
        retarget("--leave", "cudart", given)


@pytest.mark.parametrize("damage", [
    lambda text: text[:4] + b"\1" + text[5:],
    # DT_STRSZ, before DT_SYMENT, is 0.
    lambda text: re.sub(rb"(?s)\n\0{7}.{8}(?=\x0b\0{7})", b"\n" + bytes(15), text)],
    ids=["32 bits", "no names"])
def test_a_file_that_cannot_be_read_as_elf_stays(retarget, tmp_path, repaired, damage):
    """Whatever its name is: no library is known to be in it."""
    for name in ("pkg/odd.so", "pkg/libcudart.so.12"):
        repaired[name] = damage(repaired["pkg/module.so"].read_bytes())
    said, = retarget("--relax-requirements", wheel_files.make(tmp_path, repaired)).wheels
    assert [file["file"] for file in said["files"]] == ["pkg/module.so"]
    made = wheel_files.read(out_of(retarget))
    assert made["pkg/odd.so"] == repaired["pkg/odd.so"] == made["pkg/libcudart.so.12"]


def test_a_bundled_library_of_an_older_cuda_is_there(retarget, tmp_path):
    name = "libcudart-00c0ffee.so.10.2.89"
    old = importer(tmp_path, "cudaMalloc", link=[
        real(tmp_path, name, "cudaMalloc", node="libcudart.so.10.2")])
    said, = retarget("--strict", wheel_files.make(tmp_path, {
        "pkg/a.so": old, f"pkg.libs/{name}": tmp_path / name})).wheels
    assert said["outcome"] == "nothing" and not said["libraries"]


def test_static_runtimes_are_named(retarget, tmp_path):
    module = importer(tmp_path, link=[], text="/cudart.shm.%x.%x.%llx")
    said, = retarget(wheel_files.make(tmp_path, {"pkg/module.so": module})).wheels
    assert said["notes"] == ["pkg/module.so has the CUDA runtime linked statically: out of reach"]


# The archive.

def test_the_same_input_gives_the_same_output(retarget, tmp_path, repaired):
    wheel = wheel_files.make(tmp_path, repaired)
    (tmp_path / "again").mkdir()
    retarget(wheel)
    retarget("-o", tmp_path / "again", wheel)
    assert out_of(retarget).read_bytes() == (tmp_path / "again" / wheel.name).read_bytes()


@pytest.mark.parametrize("epoch, year", [("1700000000", 2023), ("0", 1980), (str(1 << 62), 2107)])
def test_source_date_epoch_dates_what_is_new(retarget, tmp_path, plain, epoch, year):
    """A zip archive has no date before 1980, and none after 2107."""
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain})
    retarget(wheel, env={"SOURCE_DATE_EPOCH": epoch})
    with zipfile.ZipFile(out_of(retarget)) as made:
        assert made.getinfo("pkg.libs/libcudart.so.12").date_time[0] == year
        assert made.getinfo("pkg/module.so").date_time == wheel_files.DATE


def test_signatures_are_dropped(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain},
                        more={"pkg-1.0.dist-info/RECORD.jws": b"{}"})
    said, = retarget(wheel).wheels
    assert "RECORD.jws" in said["notes"][0]
    assert "pkg-1.0.dist-info/RECORD.jws" not in wheel_files.read(out_of(retarget))
    wheel_files.check_record(out_of(retarget))


def test_names_with_commas_and_quotes(retarget, tmp_path, plain):
    odd = 'pkg/a "strange", näme.txt'
    retarget(wheel_files.make(tmp_path, {odd: b"x", "pkg/module.so": plain}))
    assert wheel_files.read(out_of(retarget))[odd] == b"x"
    wheel_files.check_record(out_of(retarget))


def test_a_build_tag(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain})
    said, = retarget("--build-tag", "1lazycuda", wheel).wheels
    made = out_of(retarget)
    assert made.name == "pkg-1.0-1lazycuda-py3-none-linux_x86_64.whl"
    assert said["output"] == str(made)
    assert b"Build: 1lazycuda" in wheel_files.read(made)["pkg-1.0.dist-info/WHEEL"]
    wheel_files.check_record(made)
    # Which differ by their build tags alone.
    other = tmp_path / "pkg-1.0-2-py3-none-linux_x86_64.whl"
    other.write_bytes(wheel.read_bytes())
    said = retarget("--build-tag", "3", "-o", tmp_path / "both", wheel, other, status=2)
    assert "pkg-1.0-3-py3-none-linux_x86_64.whl: two inputs have this output" in said.err
    assert not (tmp_path / "both").exists()


def test_a_tag_that_promises_too_much_is_named(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain}, tags="py3-none-manylinux1_x86_64")
    assert "glibc 2.17" in retarget(wheel).wheels[0]["notes"][0]


def test_in_place(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain})
    retarget("--in-place", wheel)
    assert "pkg.libs/libcudart.so.12" in wheel_files.read(wheel)
    wheel_files.check_record(wheel)
    said = retarget("--in-place", wheel).wheels[0]
    assert (said["outcome"], said["mentions"]) == ("already", [])


@pytest.mark.parametrize("folder, requires, has, outcome", [
    ("pkg", [], False, "retargeted"), ("pkg", ["lazycuda"], False, "already"), ("pkg", [], True, "already"),
    ("pkg", ["lazycuda; extra == 'gpu'"], False, "retargeted"),
    ("pkg-1.0.data/scripts", [], False, "already")])
def test_what_was_linked_to_a_stub_that_is_not_there_gets_it(
        retarget, tmp_path, folder, requires, has, outcome):
    user = importer(tmp_path, "cudaMalloc", link=[build.import_library("cudart", 12)], name="user.so")
    members = {f"{folder}/user.so": user, **({"pkg/libcudart_stub.so": build.stub("cudart")} if has else {})}
    said, = retarget(wheel_files.make(tmp_path, members, requires=requires)).wheels
    assert said["outcome"] == outcome
    if outcome == "retargeted":
        assert said["files"][0]["loaded"] and said["added"] == ["pkg.libs/libcudart_stub.so"]
        assert [entry["needed"] for entry in said["libraries"]] == [["libcudart_stub.so"]]


# Requirements.

REQUIREMENTS = [
    "numpy>=1.20", "nvidia-cuda-runtime-cu12>=12.1; platform_system == 'Linux'",
    "nvidia_cuda_runtime_cu12==12.4.127", "nvidia-cuda-nvrtc-cu12", "nvidia-cublas-cu12",
    'nvidia-cuda-runtime-cu11; python_version < "3.9" or os_name == "nt"',
    'nvidia-cuda-runtime==13.*; extra == "gpu"', "nvidia-cuda-runtime>=13.0"]


def requirements(wheel):
    lines = wheel_files.read(wheel)["pkg-1.0.dist-info/METADATA"].decode().splitlines()
    return ([line[15:] for line in lines if line.startswith("Requires-Dist: ")],
            [line[16:] for line in lines if line.startswith("Provides-Extra: ")])


def test_requirements_are_named_and_stay(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain}, requires=REQUIREMENTS)
    said, = retarget(wheel).wheels
    assert [(entry["requirement"], entry["extra"]) for entry in said["requirements"]] == [
        *[(requirement, "cuda12") for requirement in REQUIREMENTS[1:5]],
        (REQUIREMENTS[5], "cuda11"), (REQUIREMENTS[7], "cuda13")]
    assert requirements(out_of(retarget))[0] == REQUIREMENTS


# What others say of the result.

@pytest.mark.parametrize("first", ["auditwheel", "retarget"])
def test_auditwheel_before_and_after(retarget, tmp_path, plain, world, first):
    """As the page has it for cibuildwheel, and the other way round."""
    pytest.importorskip("auditwheel")

    def repaired(wheel):
        done = build.run(sys.executable, "-m", "auditwheel", "repair", "--exclude", "libcudart.so.*", "-w",
                         tmp_path / "repaired", wheel)
        assert done.returncode == 0, done.stderr
        made, = (tmp_path / "repaired").iterdir()
        return made
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain})
    if first == "auditwheel":
        retarget(repaired(wheel))
        made = out_of(retarget)
    else:
        retarget(wheel)
        made = repaired(out_of(retarget))
    assert made.name.split("-")[-1].startswith("manylinux")
    site = wheel_files.unpack(made, tmp_path / "site")
    assert [path.name for path in sorted((site / "pkg.libs").iterdir())] == ["libcudart.so.12"]
    check_loads(world, site / "pkg/module.so")


# Wheels that are none.

def rewrite(wheel, edit):
    contents = wheel_files.read(wheel)
    edit(contents)
    with zipfile.ZipFile(wheel, "w") as out:
        for name, content in contents.items():
            out.writestr(name, content)


@pytest.mark.parametrize("damage, word", [
    (lambda wheel: wheel.rename(wheel.with_name("pkg.whl")), "name"),
    (lambda wheel: wheel.write_bytes(b"PK\3\4" + bytes(200)), "zip"),
    (lambda wheel: rewrite(wheel, lambda contents: contents.pop("pkg-1.0.dist-info/RECORD")), "RECORD")])
def test_a_damaged_wheel(retarget, tmp_path, plain, damage, word):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain})
    damage(wheel)
    wheel, = tmp_path.glob("*.whl")
    before = wheel.read_bytes()
    said, = retarget(wheel, status=1).wheels
    assert said["code"] == "WHEEL" and word in said["error"]
    assert not list(retarget.out.iterdir()) and wheel.read_bytes() == before


def test_text_output(retarget, tmp_path, repaired):
    wheel = wheel_files.make(tmp_path, repaired, requires=["nvidia-cuda-runtime-cu12"])
    done = retarget(wheel, "--prefer", "stub", json_wanted=False)
    assert f"pkg.libs/{BUILTINS}: removed, nothing needs it now" in done.out
    assert f"{RENAMED}: a stub serves in its place" in done.out
    assert "still requires nvidia-cuda-runtime-cu12: --relax-requirements" in done.out


# What there is no stub for is brought as well, where it is required of every Linux.
BROUGHT = ["nvidia-cudss-cu12>=0.3", "cuda-toolkit==12.*", "cupy-cuda12x", "nvidia-cublasmp-cu13",
           "tensorrt_cu12 (>10)"]


@pytest.mark.parametrize("options, more, brings", [
    ([], [], "nvidia-cuda-runtime-cu12"), (["--relax-requirements"], [], "no package of CUDA"),
    (["--relax-requirements"], BROUGHT, ", ".join(BROUGHT)),
    (["--relax-requirements"], ["nvidia-cudss-cu12; extra == 'solve'", "nvidia-ml-py", "numpy",
                                "nvidia-cudss-cu12; sys_platform == 'win32'"], "no package of CUDA")])
def test_the_last_line_is_what_an_installation_brings(retarget, tmp_path, plain, options, more, brings):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain}, requires=["nvidia-cuda-runtime-cu12", *more])
    assert retarget(wheel, *options, json_wanted=False).out.splitlines()[-1].strip() == \
        f"an installation brings, also where there is no CUDA: {brings}"


def test_a_variant_label_stays(retarget, tmp_path, plain):
    """PEP 825."""
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain})
    wheel = wheel.rename(wheel.with_name(f"{wheel.stem}-cu12.6_x.whl"))
    retarget(wheel)
    assert out_of(retarget).name == wheel.name
    retarget("--build-tag=1a", "-o", tmp_path / "tagged", wheel)
    made, = (tmp_path / "tagged").iterdir()
    assert made.name == "pkg-1.0-1a-py3-none-linux_x86_64-cu12.6_x.whl"


def test_a_record_that_was_wrong_is_said_to_have_been(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain, "pkg/data.txt": b"as it was"})
    assert not any("RECORD" in note for note in retarget("-o", tmp_path / "other", wheel).wheels[0]["notes"])
    rewrite(wheel, lambda contents: contents.update({"pkg/data.txt": b"as it is"}))
    said, = retarget(wheel).wheels
    assert "its RECORD was wrong of pkg/data.txt, and is not in the result" in said["notes"]
    wheel_files.check_record(out_of(retarget))


def test_what_there_is_no_room_for_is_named(retarget, tmp_path, plain, monkeypatch):
    big = wheel_files.make(tmp_path, {"pkg/module.so": plain, "pkg/data.bin": os.urandom(1 << 20)})
    monkeypatch.setattr(subprocess, "run", functools.partial(subprocess.run, preexec_fn=lambda:
                        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))))
    done = retarget(big, json_wanted=False, status=2)
    assert re.fullmatch(r"lazycuda retarget: \S+\.whl: File too large\n", done.err)
    assert not list(retarget.out.iterdir())


def test_json_names_the_patchelf(retarget, tmp_path, plain):
    said = retarget(wheel_files.make(tmp_path, {"pkg/module.so": plain})).said
    assert set(said) == {"patchelf", "files", "wheels"} and json.dumps(said)
    assert said["patchelf"]["version"].count(".") == 2
