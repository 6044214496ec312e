# SPDX-License-Identifier: MIT
"""Source alone needs no linker; without an architecture, that of the GPU here is the target."""
import json

import pytest

import fakes
import handles

KERNEL = 'extern "C" __global__ void kernel(int *out) { *out = 1; }\n'
CALLS = 'extern "C" __device__ int elsewhere(int);\n' + KERNEL.replace("= 1", "= elsewhere(1)")
CALLED = 'extern "C" __device__ int elsewhere(int x) { return x + 1; }\n'
TEMPLATE = "template <class T> __global__ void kernel(T *out) { *out = 1; }\n"


def linked(world, source, *words, status=0):
    path = world.root / "kernel.cu"
    path.write_text(source)
    done = world.cli("link", "--json", "-o", world.root / "out", "--nvjitlink", "none", *words, path,
                     check=False)
    assert done.status == status, done.out + done.err
    return json.loads(done.out)


@pytest.mark.parametrize("version, words", [
    ("11.8", ()), ("12.9", ("--isolated",)),
    ("13.5", ("--setting", "lineinfo", "--setting", "optimize=1"))])
def test_nvrtc_makes_the_image(world, real, version, words):
    handles.install(world, real(version), "nvrtc")
    older = f"{version.partition('.')[0]}.0"
    # Its PTX is too new for the driver's linker; its image is not, for the driver.
    said = linked(world, KERNEL, "--driver", older, "--arch", "sm_80", *words)
    assert said["decision"] == "nvrtc" and said["options"] == []
    handles.check_image(world.root / "out")
    said = linked(world, TEMPLATE, "--driver", older, "--arch", "sm_80", *words, status=1)
    assert said["code"] == "BAD_IMAGE" and "nvrtc reported success, but the image" in said["message"]
    said = linked(world, CALLS, "--driver", older, "--arch", "sm_80", *words, status=1)
    assert said["code"] == "COMPILE_FAILED" and "elsewhere" in said["error_log"]


@pytest.mark.parametrize("version", ["12.9", "13.5"])
def test_nvrtc_makes_ltoir_for_a_later_link(world, real, version):
    handles.install(world, real(version), "nvrtc", "nvJitLink")
    for name, source, *words in (("calls", CALLS), ("elsewhere", CALLED, "--setting", "debug")):
        said = linked(world, source, "--arch", "sm_90", "--ltoir", *words)
        assert said["decision"] == "nvrtc" and not said["notes"]
        (world.root / "out").rename(world.root / f"{name}.ltoir")
    said = json.loads(world.cli("link", "--json", "--lto", "--arch", "sm_90", "-o", world.root / "out",
                                world.root / "calls.ltoir", world.root / "elsewhere.ltoir").out)
    assert said["decision"] == "nvjitlink"
    handles.check_image(world.root / "out")


@pytest.mark.parametrize("words", [(), ("--arch", "from-inputs")])
def test_the_gpu_here_is_the_target(world, words):
    handles.install_fakes(world)
    assert "links for sm_86: " in world.cli("plan", *words, handles.ptx_in(world)).out


@pytest.mark.parametrize("there, why", [
    (True, "cuInit of the driver here failed for device 0"), (False, "and there is no driver here")])
def test_without_a_driver_that_starts_an_architecture_is_asked_for(world, there, why):
    if there:
        world.loader(fakes.driver("13.0", init=100))
    (world.root / "k.cu").write_text(KERNEL)
    said = world.cli("plan", world.root / "k.cu", check=False)
    assert said.status == 1 and "BAD_ARCH" in said.out
    assert f"{why}\n            give one, such as sm_90" in said.out
