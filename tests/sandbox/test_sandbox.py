# SPDX-License-Identifier: MIT
"""A machine without CUDA has to be made, and made sure of: in all ways that the sandbox has."""
import os

import pytest

import build
import world as worlds
from fakes import driver, fake

SONAMES = [f"lib{name}" for name in (
    "cudart.so", "cudart.so.11.0", "cudart.so.12", "cudart.so.13", "nvrtc.so.11.2",
    "nvrtc.so.12", "nvrtc.so.13", "nvJitLink.so.12", "nvJitLink.so.13", "cuda.so.1",
    "nvidia-ml.so.1")]
LIB = f"/usr/lib/{build.ARCH}-linux-gnu"


@pytest.fixture(autouse=True, params=["namespace", "proot", "none"])
def way(request, monkeypatch):
    monkeypatch.setattr(worlds, "way", lambda: request.param)
    return request.param


def opened(world):
    return {line["open"] for line in world.probe(*[f"open:{name}" for name in SONAMES])
            if line["error"] is None}


# ---- what is not there ----

def test_no_cuda_soname_can_be_loaded(world):
    assert opened(world) == set()
    # Where this machine has one.
    assert world.run("sh", "-c", "ls -d /usr/local/cuda* /opt/cuda*", check=False).out == ""


def test_what_a_test_puts_there_can_be_loaded(world):
    # Or those above would pass in a sandbox where nothing can be loaded.
    world.loader(fake("cudart", "12.9"))
    world.system_file(LIB, driver("12.2"))
    assert opened(world) == {"libcudart.so.12", "libcuda.so.1"}


@pytest.mark.parametrize("has", [
    "/usr/local/cuda-12.9/lib64", f"{LIB}/libcuda.so.1", "/sys/module/nvidia", "/etc/ld.so.cache", "option"])
def test_where_nothing_can_be_hidden_there_is_nothing_to_hide(world, way, has):
    if way == "none":
        pytest.skip("the machine that has it is made in the other ways")
    if has == "/etc/ld.so.cache":
        world.cached(world.put("placed", fake("cudart", "12.9")))
    elif has == "/sys/module/nvidia":
        world.bind(world.folder("module/nvidia").parent, "/sys/module")
    elif has != "option":
        world.bind(driver("12.2") if has.endswith(".1") else world.folder("placed"), has)
    options = ["--bind", "/etc:/etc"] if has == "option" else []
    said = world.run("sh", "-c", '"$@"; echo $?', "sh", worlds.sandbox(), "--bare", *options, "--", "echo", "run")
    assert said.lines == ["77"]
    assert has.replace("option", "places of the system").replace("/lib64", "") in said.err
    world.options.clear()
    assert "run" in world.run(worlds.sandbox(), "--bare", "--", "echo", "run").lines


def test_a_library_that_is_left_ends_the_test():
    # The sandbox looks before it lets a command run: with CUDA in the caller's
    # own LD_LIBRARY_PATH it must refuse.
    done = build.run(worlds.sandbox(), "--", "true",
                     env={"LD_LIBRARY_PATH": str(fake("cudart", "12.9").parent)})
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 125
    assert "libcudart.so.12 can still be loaded" in done.stderr


# ---- what is put there ----

def test_links_and_folders_of_the_system_are_seen_beside_what_it_has(world):
    if worlds.way() == "proot":
        pytest.skip("proot knows no folder that is only on the way to what it shows")
    world.system("/usr/local/cuda-12.9/lib64", fake("cudart", "12.9"))
    world.symlink("cuda-12.9", "/usr/local/cuda")
    world.system_file("/usr/local/bin", driver("12.2"))
    said = world.run("sh", "-c", "ls -d /usr/local/cuda* /usr/local/bin; readlink /usr/local/cuda; "
                     "realpath /usr/local/cuda/lib64/libcudart.so.12").lines
    assert said == ["/usr/local/bin", "/usr/local/cuda", "/usr/local/cuda-12.9", "cuda-12.9",
                    "/usr/local/cuda-12.9/lib64/libcudart.so.12"]


def test_a_folder_keeps_what_it_has_beside_what_is_put_there(world):
    world.system_file(LIB, driver("12.2"))
    names = world.run("ls", "-A", LIB).lines
    outside = [name for name in os.listdir(LIB)
               if not name.startswith(("libcuda", "libnvrtc", "libnvidia-ml", "libnvJitLink"))]
    assert sorted(names) == sorted([*outside, "libcuda.so.1"])


# ---- what a command gets ----

def test_the_environment_is_empty(world):
    os.environ["CUDA_PATH"] = "/usr/local/cuda"
    try:
        names = {line.split("=")[0] for line in world.run("env", WANTED="1").lines}
    finally:
        del os.environ["CUDA_PATH"]
    assert names == {"PATH", "WANTED"}
