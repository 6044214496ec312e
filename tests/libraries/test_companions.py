# SPDX-License-Identifier: MIT
"""What a real library opens by name, and would not find itself, is loaded before it: of the same
CUDA, and from the site-packages that it lies in."""
import os
import shutil

import pytest

import build
import library_lists
import one_cuda
from world import CALL

NVRTC = "nvidia/cuda_nvrtc/lib"
PART = "libcudnn_ops.so.9"


def is_plain(made):
    return made.words.get("nodes") == "none"


def opener(name, own, wanted):
    """A library whose constructor opens another by name, and whose function says whether that
    was there."""
    listed = library_lists.read(name)
    file = one_cuda.made(listed.sonames[own], (
        '#include <dlfcn.h>\nstatic int found;\n'
        '__attribute__((constructor)) static void begin(void)\n'
        f'{{ found = dlopen("{wanted}", RTLD_LAZY) ? 77 : 78; }}\n'
        f"int {listed.exported(own)[0]}(void) {{ return found; }}\n"), node=not is_plain(listed))
    one_cuda.NEEDS[file] = ()
    return file


def nvrtc(world, folder, soname="libnvrtc.so.12"):
    return world.put(folder, one_cuda.made(soname, node=False)) / soname


def said(world, *before, name="cudnn", own=9, **options):
    """What its function says, its status, and the libraries that are loaded."""
    made = library_lists.read(name)
    lines = world.probe(*before, f"open:{one_cuda.stub(world, name)}",
                        f"call:{made.exported(own)[0]}" + (
                            "" if is_plain(made) else f"@{made.sonames[own]}"),
                        f"status:{name}", "libraries", **options)
    return lines[-3]["value"], lines[-2], lines[-1]["libraries"]


@pytest.fixture
def cudnn(world):
    return one_cuda.installed(world, opener("cudnn", 9, "libnvrtc.so.12"), "nvidia/cudnn/lib",
                              "nvidia_cudnn_cu12")


@pytest.fixture
def companion(world):
    return nvrtc(world, f"{one_cuda.SITE}/{NVRTC}")


def test_what_is_no_file_is_not_opened(world, cudnn):
    """The writer of a FIFO would be waited for."""
    os.mkfifo(world.folder(f"{one_cuda.SITE}/{NVRTC}") / "libnvrtc.so.12")
    value, status, _ = said(world, timeout=20)
    assert (value, status["state"]) == (78, "usable")


@pytest.mark.parametrize("name, own, folder, package", [
    ("cudnn", 9, "nvidia/cudnn/lib", "nvidia_cudnn_cu12"),
    ("cufft", 12, "nvidia/cufft/lib", None),
    ("cublasLt", 12, "nvidia/cublas/lib", None)])
def test_it_is_there_before_the_library(world, companion, name, own, folder, package):
    file = opener(name, own, "libnvrtc.so.12")
    if package:
        one_cuda.installed(world, file, folder, package)
    else:
        world.put(f"{one_cuda.SITE}/{folder}", file)
    value, status, loaded = said(world, name=name, own=own)
    assert (status["state"], value) == ("usable", 77), status["reason"]
    assert str(companion) in loaded


def test_without_one_the_library_is_used_all_the_same(world, cudnn):
    value, status, _ = said(world)
    assert (status["state"], value) == ("usable", 78)


def test_of_another_cuda_it_is_left_where_it_is(world, companion):
    one_cuda.installed(world, opener("cudnn", 9, "libnvrtc.so.12"), "nvidia/cudnn/lib",
                       "nvidia_cudnn_cu13")
    value, status, loaded = said(world)
    assert (status["state"], value) == ("usable", 78)
    assert str(companion) not in loaded


def test_one_that_is_in_the_process_stays_the_only_one(world, cudnn, companion):
    first = nvrtc(world, "elsewhere")
    value, _, loaded = said(world, f"open:{first}")
    assert value == 77
    assert str(first) in loaded and str(companion) not in loaded


def test_not_from_a_folder_that_everybody_can_write_to(world, cudnn, companion):
    companion.parent.chmod(0o777)
    value, status, loaded = said(world)
    assert (status["state"], value) == ("usable", 78)
    assert str(companion) not in loaded
    assert [one["path"] for one in status["left_out"]] == [str(companion.parent)]


# ---- what has the same SONAME in every CUDA, and lies beside the library ----

@pytest.mark.parametrize("before", [[], ["setenv:LD_LIBRARY_PATH=/nowhere"]])
def test_its_own_parts_come_before_those_that_ld_library_path_leads_to(world, before):
    """ld.so looks there before a RUNPATH, and would mix two cuDNNs.  It does so, too, when the
    program has changed the variable since."""
    file = one_cuda.installed(world, opener("cudnn", 9, PART), "nvidia/cudnn/lib",
                              "nvidia_cudnn_cu12")
    own = nvrtc(world, f"{one_cuda.SITE}/nvidia/cudnn/lib", PART)
    other = nvrtc(world, "elsewhere", PART)
    world.search(other.parent)
    value, status, loaded = said(world, *before)
    assert (value, status["path"]) == (77, str(file))
    assert str(own) in loaded and str(other) not in loaded


def test_its_own_parts_are_left_to_it_otherwise(world):
    """They are large.  This one opens none that ld.so would not find."""
    one_cuda.installed(world, opener("cudnn", 9, PART), "nvidia/cudnn/lib", "nvidia_cudnn_cu12")
    own = nvrtc(world, f"{one_cuda.SITE}/nvidia/cudnn/lib", PART)
    world.search(world.folder("empty"))
    value, _, loaded = said(world)
    assert value == 78 and str(own) not in loaded
    (world.folder("link") / PART).symlink_to(own)
    world.search(world.folder("link"))
    assert said(world)[0] == 77


@pytest.mark.parametrize("variable", [False, True])
def test_those_of_the_system_are_searched_last(world, variable):
    """After the library's RUNPATH, that is, if LD_LIBRARY_PATH does not lead there as well."""
    system = f"/usr/lib/{build.ARCH}-linux-gnu"
    one_cuda.installed(world, opener("cudnn", 9, "libcudnn_cnn.so.9"), "nvidia/cudnn/lib",
                       "nvidia_cudnn_cu12")
    own = nvrtc(world, f"{one_cuda.SITE}/nvidia/cudnn/lib", PART)
    world.system_file(system, nvrtc(world, "system", PART))
    if variable:
        world.search(system)
    _, _, loaded = said(world)
    assert (str(own) in loaded) == variable


def later(world, change):
    """What its function says, and the libraries that are loaded, where the file system is changed
    after the first search of another stub."""
    stubs = [world.put(f"{one_cuda.SITE}/wheel", file) / file.name for file in
             (build.stub("cudart"), build.stub("nvrtc"), library_lists.stub("cudnn"))]
    made = library_lists.read("cudnn")
    # What was made just before a search is not trusted by the next.
    lines = world.probe(*[f"open:{stub}" for stub in stubs], "shell:sleep 0.1",
                        f"call:{CALL['cudart']}", f"shell:{change}",
                        f"call:{made.names(9)[0]}@{made.sonames[9]}", "status:cudnn", "libraries")
    assert lines[-2]["state"] == "usable"
    return lines[-3]["value"], lines[-1]["libraries"]


def test_not_from_a_folder_that_everybody_can_write_to_since(world, cudnn, companion):
    value, loaded = later(world, f"chmod 777 {companion.parent}")
    assert value == 78 and str(companion) not in loaded


@pytest.mark.parametrize("mode, expected", [(0o755, 77), (0o777, 78)])
def test_not_through_a_link_to_where_everybody_can_write(world, cudnn, mode, expected):
    companion = nvrtc(world, "elsewhere")
    (world.folder(f"{one_cuda.SITE}/{NVRTC}") / companion.name).symlink_to(companion)
    companion.parent.chmod(mode)
    assert said(world)[0] == expected


@pytest.mark.parametrize("came", ["libnvrtc.so.12", "lib", "cuda_nvrtc"])
def test_one_that_came_since(world, cudnn, came):
    folder = f"{one_cuda.SITE}/{NVRTC}"
    companion = nvrtc(world, f"made/{NVRTC}")
    target = world.root / folder / companion.name
    while companion.name != came:
        companion, target = companion.parent, target.parent
    world.folder(str(target.parent.relative_to(world.root)))
    assert later(world, f"mv {companion} {target}")[0] == 77


def test_it_goes_with_a_library_that_cannot_be_loaded(world, cudnn, companion):
    """What was loaded for a file that is not used is unloaded."""
    made = library_lists.read("cudnn")
    shutil.copy(one_cuda.made("libcudnn.so.9", f"extern int nowhere; int {made.names(9)[0]}(void)"
                              " { return nowhere; }\n"), cudnn)
    one_cuda.record(world, "nvidia/cudnn/lib/libcudnn.so.9", "nvidia_cudnn_cu12", "9.1.0.70",
                    cudnn.stat().st_size)
    *_, status, loaded = world.probe(f"open:{one_cuda.stub(world, 'cudnn')}", "load", "status:cudnn",
                                     "libraries")
    assert status["state"] == "broken" and "nowhere" in status["reason"]
    assert str(companion) not in loaded["libraries"]
