# SPDX-License-Identifier: MIT
"""Trap 15: "no CUDA" has to be made, and made sure of."""
import os
import subprocess

import build
import world as worlds
from fakes import fake, driver

SONAMES = [f"lib{name}" for name in (
    "cudart.so", "cudart.so.11.0", "cudart.so.12", "cudart.so.13", "nvrtc.so.11.2",
    "nvrtc.so.12", "nvrtc.so.13", "nvJitLink.so.12", "nvJitLink.so.13", "cuda.so.1",
    "nvidia-ml.so.1")]


def opened(world):
    return {line["open"] for line in world.probe(*[f"open:{name}" for name in SONAMES])
            if line["error"] is None}


def test_no_cuda_soname_can_be_loaded(world):
    assert opened(world) == set()


def test_no_cuda_folder_is_left(world):
    found = world.run("sh", "-c", "ls -d /usr/local/cuda* /opt/cuda* /usr/lib/*/libcudart*; true")
    assert found.out == ""


def test_no_module_of_a_driver_is_left(world):
    assert world.run("sh", "-c", "ls /sys/module").out == ""


def test_what_a_test_puts_there_can_be_loaded(world):
    # Or the two above would pass in a sandbox where nothing can be loaded.
    world.loader(fake("cudart", "12.9"))
    world.system_file(f"/usr/lib/{build.ARCH}-linux-gnu", driver("12.2"))
    assert opened(world) == {"libcudart.so.12", "libcuda.so.1"}


def test_a_library_that_is_left_ends_the_test(world):
    # The sandbox looks before it lets a command run: with CUDA in the caller's
    # own LD_LIBRARY_PATH it must refuse.
    folder = world.put("outside", fake("cudart", "12.9"))
    done = subprocess.run([worlds.sandbox(), "--", "true"], capture_output=True, text=True,
                          env={"LD_LIBRARY_PATH": str(folder)})
    if done.returncode != 77:
        assert done.returncode == 125
        assert "libcudart.so.12 can still be loaded" in done.stderr


def test_the_environment_is_empty(world):
    os.environ["CUDA_PATH"] = "/usr/local/cuda"
    try:
        names = {line.split("=")[0] for line in world.run("env", WANTED="1").lines}
    finally:
        del os.environ["CUDA_PATH"]
    assert names == {"PATH", "WANTED"}


def test_nothing_changes_outside(world):
    world.system("/usr/local/cuda-99.0/lib64", fake("cudart", "12.9"))
    world.run("ls", "/usr/local/cuda-99.0/lib64/libcudart.so.12")
    assert not os.path.exists("/usr/local/cuda-99.0")


def test_an_unreadable_file_is_unreadable_for_root_too(world):
    path = world.root / "secret"
    path.write_text("x")
    path.chmod(0)
    assert world.run("cat", path, check=False).status == 1
