# SPDX-License-Identifier: MIT
"""The verdict is about a file as it lies there: what it needs, what it opens, what is beside it."""
import platform
import shutil
import subprocess

import pytest

import build
import wheel_files
from importer import importer, patch, real

CREATE = "cublasCreate_v2"


def imports(folder, soname, *names):
    return importer(folder, *names, link=[real(folder, soname, *names, node=soname)])


def verdict(done):
    return next(line.split(None, 1)[1] for line in done.lines if line.startswith("  verdict"))


@pytest.mark.parametrize("major, other", [(12, 13), (13, 12)])
def test_a_real_library_that_is_needed_is_that_of_one_cuda(audit, said, tmp_path, major, other):
    file = imports(tmp_path, f"libcublas.so.{major}", CREATE)
    done = audit("--require", str(major), file)
    assert f"it needs libcublas.so.{major}; runs on 11.7 and later, on 12 and on 13 once " \
        "retargeted" in verdict(done)
    assert f"no version of CUDA {other}" in audit("--require", str(other), file, status=1).err
    one = said(file)
    assert {version.partition(".")[0] for version in one["runs_on"]} == {str(major)}
    assert {version.partition(".")[0] for version in one["once_retargeted"]} == {"11", "12", "13"}


REAL = "libcublas.so.13"
RENAMED = "libcublas-0a1b2c3d.so.13.1.0.3"      # by auditwheel


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    """Files by name: a cuBLAS of 13, and what needs it."""
    tmp_path = tmp_path_factory.mktemp("bundled")
    found = {"user.so": imports(tmp_path, REAL, CREATE).rename(tmp_path / "user.so"), REAL: tmp_path / REAL}
    for name, words in {
            "here.so": ["--set-rpath", "$ORIGIN"], "libs.so": ["--set-rpath", "$ORIGIN/../libs"],
            "renamed.so": ["--set-rpath", "$ORIGIN", "--replace-needed", REAL, RENAMED],
            "by_rpath.so": ["--force-rpath", "--set-rpath", "$ORIGIN/../libs:$ORIGIN", "--remove-needed", REAL,
                            "--add-needed", "user.so"],
            "above.so": ["--set-rpath", "$ORIGIN/../libs:$ORIGIN", "--add-needed", "user.so"],
            "aside.so": ["--set-rpath", "$ORIGIN/../libs"]}.items():
        found[name] = patch(shutil.copy(found["user.so"], tmp_path / name), *words)
    found["text"] = tmp_path / "text"
    found["text"].write_text(f"../libs/{REAL}\n")       # what a zip file has of a symbolic link
    found["arm"] = tmp_path / "arm"
    found["arm"].write_bytes(found[REAL].read_bytes()[:18] + b"\xb7" + found[REAL].read_bytes()[19:])
    found["preload.py"] = tmp_path / "preload.py"
    found["preload.py"].write_text(f'ctypes.CDLL(f"{{here}}/../libs/{REAL}")\n')
    return found


# What is in the wheel, and on which majors the first runs: on all where ld.so finds cuBLAS 13 in it, on
# none where it finds what it cannot load.
@pytest.mark.parametrize("members, majors", [
    ({"p/user.so": "user.so"}, "13"),
    ({"p/user.so": "user.so", f"p/{REAL}": REAL}, "13"),
    ({"p/user.so": "here.so", f"p/{REAL}": REAL}, "11 12 13"),
    ({"p/user.so": "here.so", f"q/{REAL}": REAL}, "13"),
    ({"p/user.so": "here.so", f"p/{REAL}": "text"}, ""),
    ({"p/user.so": "here.so", f"p/{REAL}": "arm"}, "13"),
    ({"p/user.so": "libs.so", f"libs/{REAL}": REAL}, "11 12 13"),
    ({"p/user.so": "libs.so", f"x-1.data/platlib/libs/{REAL}": REAL}, "11 12 13"),
    ({"p/user.so": "libs.so", f"x-1.data/data/libs/{REAL}": REAL}, "13"),
    ({"p/user.so": "renamed.so", f"p/{RENAMED}": REAL}, "11 12 13"),
    ({"p/user.so": "renamed.so"}, ""),
    # What needs it has the library loaded first, or has a DT_RPATH; something beside it counts not.
    ({"p/user.so": "user.so", "p/above.so": "above.so", f"libs/{REAL}": REAL}, "11 12 13"),
    ({"p/user.so": "user.so", "p/by_rpath.so": "by_rpath.so", f"libs/{REAL}": REAL}, "11 12 13"),
    ({"p/user.so": "here.so", "p/by_rpath.so": "by_rpath.so", f"libs/{REAL}": REAL}, "13"),
    ({"p/user.so": "user.so", "p/aside.so": "aside.so", f"libs/{REAL}": REAL}, "13"),
    # Python loads it by its path.
    ({"p/user.so": "user.so", "p/a.py": "preload.py", f"libs/{REAL}": REAL}, "11 12 13"),
    ({"p/user.so": "user.so", "p/a.py": "preload.py", f"libs/{REAL}": "text"}, "13")])
def test_a_real_library_in_the_wheel_is_there_if_it_is_found(said, patchelf, bundled, tmp_path, members, majors):
    wheel = wheel_files.make(tmp_path, {name: bundled[file] for name, file in members.items()})
    one = said(wheel)
    assert " ".join(sorted({version[:2] for version in one["runs_on"]})) == majors
    assert {version[:2] for version in one["once_retargeted"]} == {"11", "12", "13"}


@pytest.mark.parametrize("run_path, places, metadata, status", [
    ("$ORIGIN", "package", "", 0), ("$ORIGIN/../mine.libs", "mine.libs", "", 0),
    ("/opt/lib:${ORIGIN}/./a/..//", "package", "", 0), ("$ORIGIN/../mine.libs", "package", "", 1),
    ("$ORIGIN/../mine.libs", "pkg-1.0.data/platlib/mine.libs", "", 0), ("$ORIGIN/../..", "package", "", 1),
    ("$ORIGIN/../mine.libs", "pkg-1.0.data/data/mine.libs", "", 1), ("", "package", "", 1),
    ("", "", "", 1), ("", "", "lazycuda>=0.1", 0), ("", "", "lazycuda", 0),
    ("", "", "lazycuda; extra == 'gpu'", 1),
    ("", "", "a\nrequires-dist:LazyCUDA; sys_platform != 'win32' and os_name != 'darwin'", 0),
    ("", "", "lazycuda; python_version < '3'", 1),
    ("", "", "lazycuda>=0.1; (python_version >= '3.8' and os_name==\"posix\")\r", 0),
    ("", "", "lazycuda; sys_platform == 'linux' and platform_machine == '{machine}'", 0),
    ("", "", "lazycuda; platform_machine != '{machine}'", 1),
    ("", "", "lazycuda; os_name == 'posix' or os_name == 'nt'", 1),
    ("", "", "lazycuda-docs", 1)])
def test_a_stub_lies_where_the_run_path_leads(audit, tmp_path, run_path, places, metadata, status):
    members = {"package/module.so": importer(tmp_path, "cudaMalloc", link=[
        build.import_library("cudart", 12), f"-Wl,-rpath,{run_path}"])}
    if places:
        members[f"{places}/libcudart_stub.so"] = build.BUILD / "lib" / "libcudart_stub.so"
    made = wheel_files.make(tmp_path, members, requires=[
        metadata.replace("{machine}", platform.machine()), "a\n\nRequires-Dist: lazycuda"])   # text
    done = audit("--require", "11,12", made, status=status)
    assert status == any("runs on none: libcudart_stub.so is not in the wheel where" in line
                         for line in done.lines)


@pytest.mark.parametrize("names, needed, status", [
    ([CREATE], "libcublas.so.12", 1), (["cudaMalloc"], None, 0), ([], None, 0)])
def test_where_there_is_no_cuda(audit, said, tmp_path, names, needed, status):
    file = imports(tmp_path, needed, *names) if needed else importer(
        tmp_path, *names, link=None if names else [])
    done = audit("--require", "none,12", file, status=status)
    assert ("not all of it can be loaded where there is no CUDA" in done.err) == bool(status)
    assert said(file)["without_cuda"] == {"runs_on": not status, "once_retargeted": True}


def test_retarget_leaves_what_is_not_in_site_packages(said, tmp_path):
    """tritonclient's perf_analyzer."""
    file = imports(tmp_path, "libcublas.so.12", CREATE)
    for folder, more in (("pkg-1.0.data/purelib/mine", True), ("pkg-1.0.data/scripts", False)):
        one = said(wheel_files.make(tmp_path, {f"{folder}/module.so": file}))
        assert (len(one["once_retargeted"]) > len(one["runs_on"])) == more
        assert ("is not installed into site-packages" in one["verdict"]) != more
        assert one["without_cuda"]["once_retargeted"] == more


def test_a_library_that_is_opened_by_name(audit, tmp_path):
    file = importer(tmp_path, link=[], text="libcublas.so.12")
    assert "it may open libcublas.so.12 by name" in verdict(audit("--require", "12", file))
    audit("--require", "13", file, status=1)
    audit("--require", "13", "--allow-by-name", file)
    audit("--require", "12,13", importer(tmp_path, link=[], text="libcublas.so.12\\0libcublas.so.13", name="two.so"))


@pytest.mark.parametrize("soname, function, without, having", [
    ("libcublas.so.12", "cublasDgemmGroupedBatched", "12.3", "12.4"),
    # Of those whose numbers are their own: what the CUDA ships.
    ("libcusparse.so.12", "cusparseSpMVOp_bufferSize", "13.1", "13.2"),    # 12.7.9, after 12.7.2
    ("libcusolver.so.11", "cusolverDnXgeev", "12.6", "12.8"),
    ("libcusolver.so.11", "cusolverSpClangeHost", "12.3", "12.2"),          # in 11.5.0, and not in 11.5.3
    ("libcufile.so.0", "cuFileGetParameterBool", "12.8", "12.9"),
    # Of those that go with a CUDA: the newest for it.  cuDNN 9.10 is the last for 11.
    ("libcudnn.so.9", "cudnnCausalConv1dForward", "11.8", "12.0"),
    ("libcudnn.so.8", "cudnnGetVersion", "13", "11,12"), ("libnvToolsExt.so.1", "nvtxMarkA", "13", "11,12")])
def test_a_name_that_another_version_has_not(audit, tmp_path, soname, function, without, having):
    file = imports(tmp_path, soname, function)
    audit("--require", having, file)
    assert f" CUDA {without}" in audit("--require", without, file, status=1).err


@pytest.mark.parametrize("soname, function, by, since", [
    ("libcudnn.so.9", "cudnnCausalConv1dForward", "9 from 9.22 on", "9.22"),
    ("libcusparseLt.so.0", "cusparseLtGetErrorName", "1 from 0.8 on", "0.8"),
    ("libcusparse.so.12", "cusparseSpMVOp_bufferSize", "12 from 12.7.9 on", "12.7.9"),
    ("libnccl.so.2", "ncclAllReduce", "2", "2.13")])
def test_since_which_version_of_a_library_of_its_own_number(audit, said, tmp_path, soname, function, by,
                                                            since):
    file = imports(tmp_path, soname, function)
    assert audit(file).lines[1].endswith(f"; served by its major {by}")
    assert said(file)["imports"][0]["served_since"] == [since]


def test_what_cupti_lays_out_stays_in_its_major(said, tmp_path):
    """A record of 12.9 has 208 bytes where a caller of 13 reads 224."""
    function = "cuptiActivityGetNextRecord"
    for major, other in (("12", "13"), ("13", "12")):
        file = imports(tmp_path, f"libcupti.so.{major}", function)
        one = said("--all-versions", file)
        assert {version.partition(".")[0] for version in one["once_retargeted"]} == {major}
        assert all(one["targets"][version]["refused"] == [function] for version in one["targets"]
                   if version.startswith(f"{other}."))


def test_a_retargeted_wheel_runs_with_each_cuda_and_with_none(audit, patchelf, tmp_path):
    """As torch and CuPy do, which take variables of NVSHMEM and cuTENSOR."""
    sources = {"libnvshmem_host.so.3": ("nvshmem_selected_device_transport", "NVSHMEM"),
               "libcutensor.so.2": ("CUTENSOR_COMPUTE_DESC_32F", "libcutensor.2.0.0")}
    file = importer(tmp_path, CREATE, *(name for name, _ in sources.values()), link=[
        real(tmp_path, "libcublas.so.12", CREATE, node="libcublas.so.12"),
        *(real(tmp_path, soname, variables=[name], node=node) for soname, (name, node) in sources.items())])
    made = wheel_files.make(tmp_path, {"package/user.so": file}, name="mine")
    audit("--require", "none,11", made, status=1)
    # Under a sanitizer there are five stubs.
    subprocess.run([build.BUILD / "bin/lazycuda", "retarget", "-o", tmp_path / "out", made], check=True)
    said = audit("--require", "none,11,12,13", tmp_path / "out" / made.name).out
    assert "through libcublas.so.12, which comes with it" in said


@pytest.mark.parametrize("name, soname", [
    ("cublas", "libcublas.so.12"), ("cusparseLt", "libcusparseLt.so.0"), ("cudnn", "libcudnn.so.9"),
    ("nccl", "libnccl.so.2"), ("cudart", "libcudart.so.12"), ("nvJitLink", "libnvJitLink.so.13"),
    ("cuda", "libcuda.so.1"), ("nvml", "libnvidia-ml.so.1")])
def test_a_stub_is_the_stub_by_either_name(audit, tmp_path, name, soname):
    """What it holds names of it opens as a stub does, by the process's CUDA."""
    stub = build.BUILD / "lib" / build.stub_name(name)
    renamed = patch(shutil.copy(stub, tmp_path / soname), "--set-soname", soname)
    for file in stub, renamed:
        assert verdict(audit("--require", "none,11,12,13", file)) == f"is the stub for {name} itself"


@pytest.mark.parametrize("soname", ["libcufft.so.8.0", "libcudart.so.10.2"])
def test_what_no_cuda_that_is_known_has(audit, tmp_path, soname):
    file = importer(tmp_path, "cudaMalloc", link=[
        real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12"), real(tmp_path, soname, "other")])
    said = verdict(audit("--require", "12", file, status=1))
    assert said.startswith("runs on none: it needs ") and soname in said and "retargeted" not in said


def test_a_library_that_nobody_judges_is_named(audit, said, tmp_path):
    file = importer(tmp_path, "other", link=[real(tmp_path, "libc10.so", "other")])
    assert any("not judged" in line and "libc10.so" in line for line in audit(file).lines)
    assert said(file)["not_judged"] == ["libc10.so"]


def test_musl_never(audit, tmp_path):
    file = importer(tmp_path, "other", link=[real(tmp_path, "libc.musl-x86_64.so.1", "other")])
    assert "runs on none: it is for musl" in verdict(audit("--require", "12", file, status=1))


def test_nothing_to_judge_is_no_yes(audit, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", wheel_files.make(tmp_path, {"package/a.py": b""})):
        assert "there is no ELF file in" in audit(path, status=1).err


def test_what_cannot_be_judged_is_no_yes(audit, tmp_path):
    """An object file is not linked yet, a 32-bit CPU has no CUDA, and a wheel that is cut has no directory."""
    small = importer(tmp_path, link=[])
    data = small.read_bytes()
    small.write_bytes(data[:4] + b"\1" + data[5:])
    done = audit("--require", "12", small, status=1)
    assert "32-bit" in done.out and "nothing in it that could be judged" in done.err
    build.output(*build.CC, "-c", "-o", tmp_path / "a.o", build.text(
        "int cudaMalloc(void **, unsigned long); int f(void *p) { return cudaMalloc(p, 1); }\n", "c"))
    assert "is not linked yet" in verdict(audit(tmp_path / "a.o"))
    audit("--require", "12", tmp_path / "a.o", status=1)
    (tmp_path / "cut-1-py3-none-any.whl").write_bytes(b"PK\3\4" + bytes(100))
    said = audit(tmp_path / "a.o", tmp_path / "cut-1-py3-none-any.whl", status=2).lines
    assert said[-2:] == ["1 that could not be read is not judged",
                         "all of it: nothing that could be judged"]
    # pip takes a zip file that something is put before.
    (tmp_path / "dist").mkdir()
    whole = wheel_files.make(tmp_path, {"a.o": tmp_path / "a.o"})
    (tmp_path / "dist" / "a.whl").write_bytes(b"#" + whole.read_bytes())
    assert "a.whl has a damaged directory" in audit(tmp_path / "dist", status=2).err


def test_a_library_without_its_stub_is_not_judged(world, tmp_path):
    """`make` builds five stubs; the tool of such a tree."""
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    subprocess.run(["cp", build.BUILD / "bin" / "lazycuda", tmp_path / "bin"], check=True)
    subprocess.run(["cp", *[build.BUILD / "lib" / build.stub_name(one) for one in build.STUBBED],
                    build.BUILD / "lib" / "liblazycuda_link.so", tmp_path / "lib"], check=True)
    file = imports(tmp_path, "libcublas.so.12", CREATE)
    done = world.run(tmp_path / "bin" / "lazycuda", "audit", "--require", "12", file, check=False)
    assert done.status == 1 and "the stub of libcublas.so.12 is not installed" in done.out
