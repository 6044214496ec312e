# SPDX-License-Identifier: MIT
"""Tile IR, of which the real tileiras makes images: as tileiras alone does, and refused where there is
none, or where it would have to be linked."""
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

import build
import made_up
from samples import in_its_folder

SOURCE = """\
extern "C" __tile_global__ void tile(int *p) { }
extern "C" __global__ void simt(int *p) { *p = 1; }
"""


@pytest.fixture
def tile_ir(world, real, version):
    """tile_ir(source): a file of its Tile IR."""
    def make(source=SOURCE, name="k.tile", change=lambda code: code):
        nvrtc, written, path = real(version).file("nvrtc"), world.root / "tile.cu", world.root / name
        written.write_text(source)
        job = "\t".join(map(str, (written, path, "tileir", "--enable-tile", "-arch=sm_90")))
        said = subprocess.run([sys.executable, build.TESTS / "agreement" / "producer.py", nvrtc], check=True,
                              input=job, stdout=subprocess.PIPE, text=True, env=in_its_folder(nvrtc)).stdout
        assert said == "ok\n", said
        path.write_bytes(change(path.read_bytes()))
        return path
    return make


def say(world, *words, arch="sm_90", command="link", **options):
    output = ["-o", world.root / "image"] if command == "link" else []
    return json.loads(world.cli(command, "--json", f"--arch={arch}", "--driver=none", *output, *words,
                                check=False, **options).out)


def kernels(world, image="image"):
    said = json.loads(world.cli("inspect", "--json", world.root / image).out)["files"][0]
    return [(one["kind"], one["arch"], one["version"], one["linked"]) for one in said["entries"]]


def by_hand(toolkit, arch, path, **variables):
    """The image that tileiras makes of a file."""
    out = path.with_suffix(".cubin")
    subprocess.run([toolkit / "bin" / "tileiras", f"--gpu-name={arch}", path, "-o", out], check=True,
                   env=variables)
    return out.read_bytes()


@pytest.mark.parametrize("arch, suffix", [("sm_80", ""), ("sm_100", "a")])
@pytest.mark.parametrize("how", [(), ("--memory-limit=1G",)], ids=["here", "isolated"])
def test_tile_ir_becomes_the_image_that_tileiras_makes(world, tiled, tile_ir, version, arch, suffix, how):
    path = tile_ir()
    plan = say(world, path, arch=arch, command="plan")
    said = say(world, *how, path, arch=arch)
    for one in (plan, said):
        assert (one["decision"], one["code"], one["tileiras"], one["options"]) == (
            "tileiras", None, version, [f"--gpu-name={arch}"])
    assert (world.root / "image").read_bytes() == by_hand(tiled, arch, path)
    assert kernels(world) == [("cubin", arch + suffix, version, True)]


def test_another_toolkit_in_the_environment_is_not_taken(world, tiled, tile_ir):
    path = tile_ir()
    world.env.update(CUDA_HOME=str(world.root), CUDA_PATH=str(world.root), CUDA_ROOT=str(world.root))
    with pytest.raises(subprocess.CalledProcessError):
        by_hand(tiled, "sm_90", path, CUDA_HOME=str(world.root))
    assert say(world, path)["code"] is None


@pytest.mark.parametrize("words, code, kernel", [
    (["--compile-option=--enable-tile"], "UNSUPPORTED_KIND", None),
    (["--tile-only"], None, "tile"), (["--compile-option=--enable-tile", "--ignore-tile"], None, "simt")])
def test_source_with_both_kinds_makes_two_images(world, tiled, words, code, kernel):
    path = world.root / "k.cu"
    path.write_text(SOURCE)
    said = say(world, *words, path)
    assert said["code"] == code, said
    if code:
        assert "--tile-only" in said["message"] and "--ignore-tile" in said["message"]
        return
    assert (world.root / "image").read_bytes().count(b".text.") and said["notes"]
    assert [one for one in ("tile", "simt") if f".text.{one}\0".encode() in
            (world.root / "image").read_bytes()] == [kernel]


def test_source_without_tile_kernels_is_linked(world, tiled):
    """nvrtc and nvcc then write a kernel of their own into the Tile IR."""
    path = world.root / "k.cu"
    path.write_text(SOURCE.splitlines()[1])
    said = say(world, "--compile-option=--enable-tile", path)
    assert (said["code"], said["decision"], said["notes"]) == (None, "nvjitlink", [])
    said = say(world, "--tile-only", path)
    assert said["code"] == "NO_DEVICE_CODE" and "no __tile_global__ kernel" in said["message"]


def test_a_container_as_nvcc_writes_it(world, tiled, tile_ir):
    """With what tileiras made of the Tile IR, which goes with it; beside a container of other code."""
    code, simt = tile_ir().read_bytes(), tile_ir(SOURCE.splitlines()[1], "simt.tile").read_bytes()
    image = by_hand(tiled, "sm_90", world.root / "k.tile")
    ptx = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n\0"
    packed = made_up.PLAIN | made_up.ZSTD
    tile = made_up.fatbin(made_up.entry(made_up.CUBIN, image, arch=90),
                          made_up.entry(made_up.TILEIR, code, arch=90, flags=packed))
    other = made_up.fatbin(made_up.entry(made_up.PTX, ptx, arch=90))
    path = world.root / "k.fatbin"
    path.write_bytes(tile)
    said = say(world, path)
    assert (said["decision"], said["code"]) == ("tileiras", None), said
    assert (world.root / "image").read_bytes() == image
    path.write_bytes(tile + other)
    said = say(world, path)
    assert said["code"] == "UNSUPPORTED_KIND" and "PTX 8.0" in said["message"], said
    said = say(world, "--tile-only", path)
    assert said["decision"] == "tileiras" and "left out" in said["notes"][0]
    assert say(world, "--ignore-tile", path)["decision"] == "nvjitlink"
    path.write_bytes(made_up.fatbin(made_up.entry(made_up.TILEIR, simt, arch=90, flags=packed)) + other)
    said = say(world, path)
    assert (said["decision"], said["notes"]) == ("nvjitlink", [])


@pytest.mark.parametrize("words, code, text", [
    (["--arch=sm_75"], "ARCH_UNSUPPORTED", "no tileiras makes code for sm_75"),
    (["--arch=sm_100f"], "ARCH_UNSUPPORTED", "for one GPU, not for a family"),
    (["--lto"], "UNSUPPORTED_KIND", "takes no part in link-time optimisation"),
    (["--ptx"], "UNSUPPORTED_KIND", "becomes an image only"),
    (["--option=-lineinfo"], "OPTION_UNSUPPORTED", "takes no options of linkers"),
    (["--ignore-tile"], "UNSUPPORTED_KIND", "only Tile IR"),
    (["--constraint=>=12,<13"], "CONSTRAINT", "is here"),
])
def test_what_tileiras_does_not_do(world, tiled, tile_ir, words, code, text):
    arch = words[0].partition("--arch=")[2]
    said = say(world, tile_ir(), arch=arch) if arch else say(world, *words, tile_ir())
    assert said["code"] == code and text in said["message"], said
    assert not (world.root / "image").exists()


def test_its_memory_is_limited(world, tiled, tile_ir):
    said = say(world, "--memory-limit=4M", tile_ir())
    assert said["code"] == "MEMORY_LIMIT" and "; its limit was 4194304 bytes of memory" in said["message"], said
    assert not (world.root / "image").exists()


def newer(code):
    return code[:8] + bytes([13, code[9] + 1]) + code[10:]


def test_a_tileiras_that_is_not_there_or_too_old(world, tiled, tile_ir, version):
    next_version = f"13.{int(version[3:]) + 1}"
    said = say(world, tile_ir(change=newer))
    assert (said["code"], said["have"], said["need"]) == (
        "TILEIRAS_REQUIRED", f"tileiras {version}", f"tileiras {next_version} or later")
    (tiled / "bin" / "tileiras").unlink()
    said = say(world, tile_ir())
    assert (said["code"], said["have"], said["need"]) == (
        "TILEIRAS_REQUIRED", "no tileiras", f"tileiras {version} or later")
    assert "nvidia-cuda-tileiras" in said["message"]


@pytest.mark.parametrize("lacks, package", [(["bin/ptxas"], "nvidia-cuda-nvcc"), (
    ["nvvm/lib64/libnvvm.so", "lib/libnvvm.so.4"], "nvidia-nvvm")])
def test_what_it_needs_is_named(world, tiled, tile_ir, lacks, package):
    for name in lacks:
        if os.path.lexists(tiled / name):
            (tiled / name).unlink()
    said = say(world, tile_ir())
    assert said["code"] == "COMPILE_FAILED" and f"of the package {package}" in said["message"], said


def test_what_it_runs_ends_with_it(world, tiled, tile_ir):
    """As ptxas does."""
    program = tiled / "bin" / "tileiras"
    program.unlink()
    program.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {world.root}/pid\nwait\n")
    program.chmod(0o755)
    assert say(world, "--time-limit=1", tile_ir())["code"] == "TIME_LIMIT"
    number = int((world.root / "pid").read_text())
    for _ in range(50):
        if not pathlib.Path(f"/proc/{number}").exists():
            return
        time.sleep(.1)
    raise AssertionError("it still runs")


def test_damaged_tile_ir_is_what_tileiras_says_of_it(world, tiled, tile_ir):
    said = say(world, tile_ir(change=lambda code: code[:100]))
    assert said["code"] == "COMPILE_FAILED" and said["backend_call"] == "tileiras"
    assert "section length" in said["message"] and said["backend_status"] > 0
    assert say(world, tile_ir(change=lambda code: code[:10]))["code"] == "BAD_INPUT"
    assert not (world.root / "image").exists()
