# SPDX-License-Identifier: MIT
"""What other programs do with a library that looks like the CUDA runtime."""
import re
import shutil
import struct
import sys

import pytest

import build
import world as worlds
from fakes import answer, builtins, fake
from world import probe

CALL = "cudaDeviceReset"


def test_a_scan_of_the_maps_finds_a_stub_that_works(world):
    # vLLM, FlashInfer and SGLang take the first mapped file whose name
    # begins with libcudart, dlopen it and look functions up.
    world.loader(fake("cudart", "12.9"))
    path = world.probe("stub:cudart", "maps:libcudart")[1]["maps"]
    assert path == str(build.stub("cudart"))
    said = world.probe(f"open:{path}", *[f"call:{name}" for name in VLLM])
    assert [line["value"] for line in said[1:]] == [answer("cudart", name, "12.9") for name in VLLM]


# What vLLM's cuda wrapper looks up by name, less those that answer otherwise.
VLLM = ["cudaDeviceSynchronize", "cudaDeviceReset", "cudaMalloc", "cudaFree", "cudaMemset",
        "cudaMemcpy", "cudaIpcGetMemHandle", "cudaIpcOpenMemHandle"]


@pytest.mark.parametrize("real_is_global", [False, True])
def test_the_stub_is_not_fooled_by_a_global_real_library(world, real_is_global):
    # The stub cannot find itself by the address of one of its names: with the real library
    # first in the global scope, that name leads there.
    file = world.loader(fake("cudart", "12.9")) / "libcudart.so.12"
    said = world.probe(f"{'global' if real_is_global else 'open'}:{file}",
                       f"global:{build.stub('cudart')}", f"call:{CALL}", "status:cudart")
    assert said[2]["value"] == answer("cudart", CALL, "12.9")
    assert said[3]["path"] == str(file)


DEFAULT = """
import ctypes, sys
opened = [ctypes.CDLL(file, ctypes.RTLD_GLOBAL) for file in sys.argv[1:]]
print(ctypes.CDLL(None).cudaDeviceReset())
"""


@pytest.mark.parametrize("stub_first", [False, True])
def test_a_globally_visible_stub_serves_dlsym_default(world, stub_first):
    # cuda-python looks in RTLD_DEFAULT first.
    file = world.loader(fake("cudart", "12.9")) / "libcudart.so.12"
    order = [build.stub("cudart"), file]
    said = world.run(sys.executable, "-c", DEFAULT, *(order if stub_first else reversed(order)))
    assert int(said.out) == answer("cudart", CALL, "12.9")


def test_a_note_that_is_in_the_file_alone(world, tmp_path):
    (tmp_path / "other.c").touch()
    file = build.shared(tmp_path / "other.c", "-Wl,--build-id")
    data = bytearray(file.read_bytes())
    start, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    note = next(at for at in range(start, start + 56 * count, 56) if struct.unpack_from("<I", data, at)[0] == 4)
    struct.pack_into("<Q", data, note + 16, 1 << 30)    # its address
    file = tmp_path / "libother.so"
    file.write_bytes(data)
    world.loader(fake("cudart", "12.9"))
    said = world.probe(f"open:{file}", "stub:cudart", f"call:{CALL}")
    assert said[2]["value"] == answer("cudart", CALL, "12.9")


@pytest.mark.parametrize("library, version, own_soname", [
    ("cudart", "12.9", False), ("nvJitLink", "13.5", False), ("cudart", "12.9", True)])
def test_a_stub_under_the_real_soname_does_not_find_itself(world, request, library, version, own_soname):
    # Traps 6 and 16: compat folders on LD_LIBRARY_PATH that hold the stub under
    # the name of the real library.  RTLD_NOLOAD matches SONAMEs as well.
    real, name = fake(library, version), worlds.CALL[library]
    compat = world.loader(folder="compat")
    shutil.copy(build.stub(library), compat / real.name)
    if own_soname:
        request.getfixturevalue("patchelf")("--set-soname", real.name, compat / real.name)
    said = world.probe(f"open:{real.name}", "load", f"status:{library}", timeout=20)
    assert said[1]["load"] == 1
    assert said[2]["state"] in ("missing", "broken")
    # Behind it on the path lies the real one.
    folder = world.loader(real, folder="real")
    said = world.probe(f"open:{compat / real.name}", "load", f"status:{library}", f"call:{name}", timeout=20)
    assert (said[2]["state"], said[2]["path"]) == ("usable", str(folder / real.name))
    assert said[3]["value"] == answer(library, name, version)


def test_a_real_13_beside_a_stub_under_the_name_of_12(world):
    # cuda.pathfinder tries libnvJitLink.so.13 first, also for a package
    # that was built for 12 and has the stub as libnvJitLink.so.12.
    compat = world.loader(fake("nvJitLink", "13.5"), folder="compat")
    shutil.copy(build.stub("nvJitLink"), compat / "libnvJitLink.so.12")
    said = world.probe("open:libnvJitLink.so.13", "open:libnvJitLink.so.12",
                       "call:__nvJitLinkComplete_12_9@libnvJitLink.so.12", "status:nvJitLink")
    assert said[2]["value"] == answer("nvJitLink", "nvJitLinkComplete", "13.5")
    assert (said[3]["found_by"], said[3]["major"]) == ("process", 13)


def test_a_wrapped_dlopen(world):
    # The caller of dlopen() is then the wrapper, whose search path is another than the stub's.
    wrapper = build.shared(build.TESTS / "process" / "wrapper.c")
    site = world.site_packages(fake("cudart", "13.5"))
    stub = world.put(f"{site}/pkg", build.stub("cudart")) / "libcudart_stub.so"
    said = world.run(probe(), f"open:{stub}", f"call:{CALL}", LD_PRELOAD=wrapper)
    assert f'"value": {answer("cudart", CALL, "13.5")}' in said.out
    assert re.search(r"wrapper: .*libcudart\.so\.13", said.err)


@pytest.mark.parametrize("folder", ["", "nvidia/cuda_nvrtc/lib"])
def test_nvrtcs_builtins_are_found_where_nvrtc_has_no_runpath(world, folder):
    # nvrtc opens its builtins by name, and without a RUNPATH ld.so does not look beside nvrtc.
    nvrtc = world.put(f"site/{folder}", fake("nvrtc", "13.0"), builtins("13.0"))
    said = world.probe("stub:nvrtc", "call:nvrtcCompileProgram",
                       LAZYCUDA_NVRTC=nvrtc / "libnvrtc.so.13")
    assert said[1]["value"] == 0
    # And it is their doing: without them nvrtc fails as it does.
    (nvrtc / "libnvrtc-builtins.so.13.0").unlink()
    said = world.probe("stub:nvrtc", "call:nvrtcCompileProgram",
                       LAZYCUDA_NVRTC=nvrtc / "libnvrtc.so.13")
    assert said[1]["value"] == 7
