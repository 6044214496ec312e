# SPDX-License-Identifier: MIT
"""One CUDA in a process, for libraries whose SONAME does not tell it, too: what tells which CUDA a
file belongs to, and what becomes of the choice by that."""
import itertools
import os
import subprocess

import pytest

import library_lists
import syscalls
from fakes import driver as fake_driver
from fakes import fake
from one_cuda import SITE, installed, library, put, record, stub
from world import probe as world_probe

SYSTEM = "/usr/local/cuda-13.0/lib64"
OWNERS = {"cudnn": "nvidia_cudnn", "nccl": "nvidia_nccl", "curand": "nvidia_curand",
          "cusparse": "nvidia_cusparse"}


@pytest.fixture
def stubs(world):
    """stubs(NAME...): `probe` words that open these."""
    return lambda *names: [f"open:{stub(world, name)}" for name in names]


@pytest.fixture
def statuses(world, stubs):
    """{name: its status} once all are loaded, in their order or another."""
    def statuses(*names, before=(), order=None, **options):
        said = world.probe(*before, *stubs(*names), *[f"load:{name}" for name in order or names],
                           *[f"status:{name}" for name in names], **options)
        return dict(zip(names, said[-len(names):]))
    return statuses


@pytest.fixture
def reason(statuses):
    return lambda name: statuses(name)[name]["reason"]


def paths(said):
    return {name: one["path"] for name, one in said.items()}


# ---- what tells ----


@pytest.mark.parametrize("needed", ["libnvrtc.so.13", "libcublas.so.13"])
def test_what_it_needs_of_any_library(world, reason, needed):
    world.search(put(world, "loader", library("curand", 10, [needed])))
    assert reason("curand").endswith("; it belongs to CUDA 13, of which it needs libraries")


def test_a_soname_that_is_in_one_cuda_alone(world, reason):
    world.loader(library("cusolver", 12))
    assert reason("cusolver").endswith("; libcusolver.so.12 is in CUDA 13 alone")


@pytest.mark.parametrize("folder, cuda", [
    (f"{SITE}/nvidia/cu13/lib", 13), ("cuda-12.4/lib64", 12), ("cuda-12/lib", 12),
    ("cuda-13.0/targets/x86_64-linux/lib", 13)])
def test_its_folder(world, reason, folder, cuda):
    world.search(put(world, folder, library("curand", 10)))
    assert f"; it belongs to CUDA {cuda}, as it lies in " in reason("curand")


def test_where_a_link_leads(world, reason):
    put(world, "cuda-12.4/lib64", library("curand", 10))
    (world.root / "cuda-13").symlink_to("cuda-12.4")
    world.search(world.root / "cuda-13/lib64")
    assert "; it belongs to CUDA 12, " in reason("curand")


@pytest.mark.parametrize("folder", ["cuda-14.0/lib64", "cuda-12.4x/lib64",
                                    "other/cu12/lib", "nvidia/cu12x/lib"])
def test_folders_that_tell_nothing_or_a_later_one(world, reason, folder):
    world.search(put(world, folder, library("curand", 10)))
    assert ("belongs to CUDA 14," if folder.startswith("cuda-14") else
            "nothing tells whether it belongs to CUDA 11, 12 or 13") in reason("curand")


@pytest.mark.parametrize("package, cuda", [("nvidia_cudnn_cu12", 12), ("nvidia_cudnn_cu13", 13),
                                           ("nvidia-cudnn-cu11", None), ("nvidia.cudnn.cu12", 12),
                                           ("nvidia_cudnn", None), ("nvidia_other_cu12", None)])
def test_the_package_that_has_it(world, reason, package, cuda):
    installed(world, library("cudnn", 9), "nvidia/cudnn/lib", package)
    assert (f"; it belongs to CUDA {cuda}, as {package}-9.1.0.70.dist-info says" if cuda else
            "; nothing tells whether it belongs to CUDA 11, 12 or 13") in reason("cudnn")


def test_of_packages_over_each_other_the_one_whose_file_it_is(world, reason):
    file = installed(world, library("cudnn", 9), "nvidia/cudnn/lib", "nvidia_cudnn_cu12")
    record(world, "nvidia/cudnn/lib/libcudnn.so.9", "nvidia_cudnn_cu13", "9.2",
           file.stat().st_size + 1)
    assert "CUDA 12, as nvidia_cudnn_cu12" in reason("cudnn")
    record(world, "nvidia/cudnn/lib/libcudnn.so.9", "nvidia_cudnn_cu13", "9.2",
           file.stat().st_size)
    assert "nothing tells" in reason("cudnn")


@pytest.mark.parametrize("last, has, told", [
    (12, "graph", 12), (13, "graph", 13), (13, "deeper/graph", None), (None, "graph", None)])
def test_of_packages_over_each_other_the_one_whose_other_files_are_there(world, reason, last, has, told):
    """libcudnn.so.9 of 9.28 is as large for CUDA 12 as for 13, and what lies beside it is not."""
    folder = "nvidia/cudnn/lib"
    place = put(world, f"{SITE}/{folder}", library("cudnn", 9))
    size = (place / "libcudnn.so.9").stat().st_size
    other = place / has
    other.parent.mkdir(exist_ok=True)
    for major in (12, 13):
        info = world.folder(f"{SITE}/nvidia_cudnn_cu{major}-9.28.dist-info")
        (info / "RECORD").write_text(
            f"{folder}/{has},sha256=aa,{major}\n{folder}/libcudnn.so.9,sha256=bb,{size}\n"
            f"{folder}/__pycache__/a.pyc,,\nnvidia/cudnn/include/cudnn.h,sha256=cc,{major}\n")
    other.write_bytes(bytes(last or 7))
    assert (f"CUDA {told}, as nvidia_cudnn_cu{told}-9.28" if told else "nothing tells") in reason("cudnn")


def test_a_site_packages_in_a_folder_that_is_called_otherwise(world, reason):
    """What is installed in somebody's folder cuda-13.0 need not be of CUDA 13."""
    site = "cuda-13.0"
    installed(world, library("cutensorMg", 2), "cutensor/lib", "cutensor_cu12", site=site)
    world.search(world.root / site / "cutensor/lib")
    assert "; it belongs to CUDA 12, as cutensor_cu12-" in reason("cutensorMg")


def test_the_package_of_what_the_process_has_loaded(world, stubs):
    """A framework has loaded cuDNN itself; the stubs follow, and a pin does not take it."""
    file = installed(world, library("cudnn", 9), "nvidia/cudnn/lib", "nvidia_cudnn_cu12",
                     site="elsewhere/site-packages")
    world.loader(fake("cudart", "12.9"), folder="a12")
    world.loader(fake("cudart", "13.0"), folder="a13")
    opened = [f"open:{file}", "stub:cudart", *stubs("cudnn")]
    said = world.probe(*opened, "load:cudart", "load:cudnn", "status:cudart", "status:cudnn")
    assert said[-2]["version"] == "12.9"
    assert "it belongs to CUDA 12, as nvidia_cudnn_cu12-" in said[-1]["reason"]
    for variable, value in (("LAZYCUDA_MAJOR", "13"), ("LAZYCUDA_CONSTRAINT", ">=13")):
        said = world.probe(*opened, "load:cudnn", "status:cudnn", **{variable: value})
        assert said[-1]["state"] != "usable", said[-1]


def test_a_record_that_is_written_between_two_first_calls(world, stubs):
    """pip writes it last."""
    file = installed(world, library("cudnn", 9), "nvidia/cudnn/lib", "nvidia_cudnn_cu12",
                     site="elsewhere/site-packages")
    world.search(file.parent)
    world.loader(fake("cudart", "12.9"))
    made = file.parents[3] / "nvidia_cudnn_cu12-9.1.0.70.dist-info" / "RECORD"
    part = made.with_name("RECORD.part")
    made.rename(part)
    # Its time has to tell the change.
    said = world.probe("stub:cudart", *stubs("cudnn"), "shell:sleep 0.1", "load:cudart",
                       f"shell:mv '{part}' '{made}'", "load:cudnn", "status:cudnn")
    assert "; it belongs to CUDA 12, as nvidia_cudnn_cu12-" in said[-1]["reason"]


# ---- records that lie ----

@pytest.mark.parametrize("damage", [
    "rm RECORD; mkfifo RECORD", "chmod 666 RECORD", "chmod 777 .", f"truncate -s {2**20 + 1} RECORD",
    "printf nvidia/cudnn/lib/libcudnn.so.9 >RECORD"])
def test_a_record_that_is_not_believed(world, statuses, reason, damage):
    installed(world, library("cudnn", 9), "nvidia/cudnn/lib", "nvidia_cudnn_cu12")
    assert "belongs to CUDA 12" in reason("cudnn")
    subprocess.run(["sh", "-c", damage], check=True,
                   cwd=world.root / SITE / "nvidia_cudnn_cu12-9.1.0.70.dist-info")
    said = statuses("cudnn")["cudnn"]
    assert said["state"] == "usable"
    assert "nothing tells whether it belongs to CUDA 11, 12 or 13" in said["reason"]


def test_a_record_that_everybody_can_write_since(world, stubs):
    """The driver is too old for the library that was found; then something else loads it."""
    world.loader(fake_driver("11.8"))
    world.env["LAZYCUDA_GUARD"] = "strict"
    file = installed(world, library("cudnn", 9), "nvidia/cudnn/lib", "nvidia_cudnn_cu12")
    info = world.root / SITE / "nvidia_cudnn_cu12-9.1.0.70.dist-info"
    made = library_lists.read("cudnn")

    def told(change):
        return world.probe(*stubs("cudnn"), "shell:sleep 0.1",
                           f"call:{made.names(9)[0]}@{made.sonames[9]}", "status:cudnn",
                           f"shell:{change}", f"open:{file}", "load", "status:cudnn")[-1]

    last = told("true")
    assert last["found_by"] == "process" and "belongs to CUDA 12" in last["reason"]
    last = told(f"chmod 777 {info}")
    assert last["found_by"] == "process"
    assert "nothing tells whether it belongs to CUDA 11, 12 or 13" in last["reason"]


@pytest.mark.parametrize("name", ["nvidia_cudnn_cu-1.dist-info",
                                  "nvidia_cudnn_cu99999999999-1.dist-info", "nvidia_cudnn_cu12.dist-info"])
def test_names_that_are_like_those_of_packages(world, reason, name):
    installed(world, library("cudnn", 9), "nvidia/cudnn/lib", "nvidia_cudnn_cu13")
    (world.folder(f"{SITE}/{name}") / "RECORD").write_text("nothing\n")
    assert "belongs to CUDA 13" in reason("cudnn")


def opened_by(world, opened, *names):
    """The files and folders that loading these opens."""
    return syscalls.files_opened(syscalls.system_calls(
        world, world_probe(), *opened, *[f"load:{name}" for name in names]))


def test_what_is_read_is_little(world, stubs):
    """Of one search for several libraries: site-packages once, and the RECORD of each once."""
    names = ["cudnn", "nccl", "curand"]
    for name in names:
        installed(world, library(name, max(library_lists.read(name).sonames)),
                  f"nvidia/{name}/lib", f"{OWNERS[name]}_cu12")
    record(world, "nvidia/other/lib/libother.so.1", "nvidia_other_cu12", "1", 1)
    files = opened_by(world, stubs(*names), "cudnn")
    assert files.count(str(world.root / SITE)) == 1
    assert sorted(file for file in files if file.endswith("RECORD")) == sorted(
        str(world.root / SITE / f"{OWNERS[name]}_cu12-9.1.0.70.dist-info/RECORD") for name in names)


def test_nothing_is_read_where_something_else_tells(world, stubs):
    installed(world, library("cusparse", 12, ["libnvJitLink.so.12"]), "nvidia/cusparse/lib",
              "nvidia_cusparse_cu12")
    put(world, f"{SITE}/nvidia/cublas/lib", library("cublas", 12))
    files = opened_by(world, stubs("cusparse", "cublas"), "cusparse", "cublas")
    assert str(world.root / SITE / "nvidia/cusparse/lib/libcusparse.so.12") in files
    assert not [file for file in files if file.endswith("RECORD") or file == str(world.root / SITE)]


# ---- what becomes of the choice ----

def a_venv_of_12(world):
    for name, own in (("cudnn", 9), ("nccl", 2), ("curand", 10)):
        installed(world, library(name, own), f"nvidia/{name}/lib", f"{OWNERS[name]}_cu12")
    installed(world, library("cusparse", 12, ["libnvJitLink.so.12"]), "nvidia/cusparse/lib",
              "nvidia_cusparse_cu12")
    put(world, f"{SITE}/nvidia/cublas/lib", library("cublas", 12))


def a_system_of_13(world, *more):
    folder = put(world, "system", library("cublas", 13), library("curand", 10),
                 library("cusparse", 12, ["libnvJitLink.so.13"]), *more)
    world.bind(folder, SYSTEM)


@pytest.fixture
def both(world):
    a_venv_of_12(world)
    a_system_of_13(world)


ALL = ("cublas", "cudnn", "cusparse", "curand")


@pytest.mark.parametrize("order", [*itertools.permutations(ALL)][::5], ids="-".join)
def test_a_full_12_beside_a_13_without_cudnn_gives_12_for_all(world, both, statuses, order):
    said = statuses(*ALL, order=order)
    site = world.root / SITE
    assert paths(said) == {
        "cublas": str(site / "nvidia/cublas/lib/libcublas.so.12"),
        "cudnn": str(site / "nvidia/cudnn/lib/libcudnn.so.9"),
        "cusparse": str(site / "nvidia/cusparse/lib/libcusparse.so.12"),
        "curand": str(site / "nvidia/curand/lib/libcurand.so.10")}


@pytest.mark.parametrize("order, driver", [("near", None), ("highest", None), ("highest", "12.9")])
def test_a_full_12_near_and_a_full_13_far(world, statuses, order, driver):
    a_venv_of_12(world)
    a_system_of_13(world, library("cudnn", 9))
    if driver:
        world.loader(fake_driver(driver))
    said = statuses(*ALL, LAZYCUDA_ORDER=order)
    where = f"{SYSTEM}/" if order == "highest" and not driver else str(world.root)
    assert all(path.startswith(where) for path in paths(said).values()), said


@pytest.mark.parametrize("order", itertools.permutations(("cublas", "cudnn")), ids="-".join)
def test_cublas_13_and_cudnn_of_12_cannot_happen(world, statuses, order):
    """Neither has another: the one whose SONAME does not tell its CUDA is refused."""
    installed(world, library("cudnn", 9), "nvidia/cudnn/lib", "nvidia_cudnn_cu12")
    a_system_of_13(world)
    said = statuses("cublas", "cudnn", order=order)
    assert said["cublas"]["state"] == "usable"
    assert (said["cudnn"]["state"], said["cudnn"]["cause"]) == ("refused", 5)
    assert "the process uses CUDA 13; it belongs to CUDA 12, as" in said["cudnn"]["reason"]


def test_who_comes_later_follows(world, both, stubs):
    first, second = stubs("cusparse", "cudnn")
    said = world.probe(first, "load", second, "load", "status:cusparse", "status:cudnn",
                       LAZYCUDA_ORDER="highest")
    assert "belongs to CUDA 13" in said[-2]["reason"]
    assert (said[-1]["state"], said[-1]["cause"]) == ("refused", 5)


def test_a_pin_holds_for_these_too(world, both, statuses):
    names = "cublas", "cusparse", "curand"
    for major, start in (("13", SYSTEM), ("12", str(world.root))):
        said = statuses(*names, LAZYCUDA_MAJOR=major)
        assert all(path.startswith(start) for path in paths(said).values()), said
    said = statuses(*names, LAZYCUDA_MAJOR="14")
    assert all("LAZYCUDA_MAJOR=14 is not a CUDA major: use 13, 12 or 11, or none" in one["reason"]
               for one in said.values())


@pytest.mark.parametrize("is_named", [False, True])
def test_what_the_process_has_loaded_or_is_named_binds_the_others(world, both, statuses, is_named):
    real = world.root / SITE / "nvidia/cusparse/lib/libcusparse.so.12"
    how = {"LAZYCUDA_CUSPARSE": real} if is_named else {"before": [f"open:{real}"]}
    said = statuses("cublas", "cusparse", "curand", **how)
    assert all(path.startswith(str(world.root)) for path in paths(said).values()), said
    assert (said["cusparse"]["found_by"] == "process") != is_named


def test_off_takes_what_it_finds(world, both, statuses):
    said = statuses(*ALL, LAZYCUDA_GUARD="off", LAZYCUDA_ORDER="highest")
    assert said["cublas"]["path"].startswith(SYSTEM)
    assert said["cudnn"]["path"].startswith(str(world.root))


# ---- what nothing tells ----

def test_the_unclear_goes_with_the_others_and_is_said_to_unless_strict(world, statuses):
    world.loader(library("cudnn", 9), library("cublas", 12))
    for order in itertools.permutations(["cublas", "cudnn"]):
        said = statuses("cublas", "cudnn", order=order)
        assert [one["state"] for one in said.values()] == ["usable"] * 2
        assert "nothing tells whether it belongs to CUDA 11, 12 or 13" in said["cudnn"]["reason"]
    said = statuses("cublas", "cudnn", LAZYCUDA_GUARD="strict")
    assert said["cublas"]["state"] == "usable"
    assert said["cudnn"]["state"] != "usable"
    assert ("nothing tells whether it belongs to CUDA 11, 12 or 13, and LAZYCUDA_GUARD=strict rejects"
            " that") in said["cudnn"]["reason"]


def test_a_major_of_which_all_is_told_is_preferred(world, both, statuses):
    world.loader(library("cudnn", 9))
    world.env["LAZYCUDA_ORDER"] = "highest"
    for order in itertools.permutations(["cublas", "cudnn"]):
        said = statuses("cublas", "cudnn", order=order)
        assert all(path.startswith(str(world.root / SITE)) for path in paths(said).values()), said
        assert ("CUDA 13 was passed over: of its cudnn nothing tells whether it belongs to"
                " CUDA 11, 12 or 13") in said[order[0]]["reason"]


def test_alone_it_agrees_on_nothing(world, stubs):
    """One that may be of any CUDA has no say in that of others that come later."""
    world.loader(library("cudnn", 9), library("cublas", 12))
    first, second = stubs("cudnn", "cublas")
    said = world.probe(first, "load", second, "load", "status:cublas")
    assert said[-1]["state"] == "usable"
    assert "is in use in this process" not in said[-1]["reason"]


def test_one_that_goes_with_any_takes_no_part(world, statuses):
    a_system_of_13(world)
    installed(world, library("nvToolsExt", 1), "nvidia/nvtx/lib", "nvidia_nvtx_cu12")
    said = statuses("cublas", "nvToolsExt", LAZYCUDA_GUARD="strict")
    assert [one["state"] for one in said.values()] == ["usable"] * 2


@pytest.mark.parametrize("home, version", [("cuda/12.4", "12.4"), ("cuda", ".")])
@pytest.mark.parametrize("name, own, folder", [
    ("curand", 10, "math_libs/{}/lib64"), ("nccl", 2, "comm_libs/{}/nccl/lib"),
    ("nvshmem_host", 3, "comm_libs/{}/nvshmem/lib")])
def test_nvidias_hpc_sdk(world, statuses, home, version, name, own, folder):
    """CUDA_HOME names the toolkit; other libraries lie beside it."""
    file = library(name, own)
    folder = world.put(f"sdk/{folder.format(version)}", file)
    world.folder("sdk/cuda/12.4")
    status = statuses(name, CUDA_HOME=f"{world.root}/sdk/{home}")[name]
    assert (status["path"] and os.path.realpath(status["path"])) == str(folder / file.name)
    told = "it belongs to CUDA 12, as it lies in" if version != "." else "nothing tells"
    assert told in status["reason"]
