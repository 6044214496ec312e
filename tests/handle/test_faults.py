# SPDX-License-Identifier: MIT
"""Links on a fake driver, nvJitLink and nvrtc, with everything failing in turn."""
import ctypes
import hashlib

import pytest

import build
import fakes
import handles

SCENARIOS = ("driver", "nvjitlink", "source", "main")


def run(world, fault, scenario):
    handles.install_fakes(world)
    # A malloc() of its own or the sanitizer's.
    more = ["-DSANITIZED"] if build.SANITIZER and build.SANITIZER.runtime else []
    handles.script(world, "faults", fault, scenario, LD_PRELOAD=build.shared(
        handles.HERE / "counted.c", *more, build.STUBS / "liblazycuda_link.so",
        f"-Wl,-rpath,{build.STUBS}"))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_call_may_fail(world, scenario):
    run(world, "calls", scenario)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_allocation_may_fail(world, scenario):
    run(world, "memory", scenario)


@pytest.mark.parametrize("scenario", ["driver", "nvjitlink"])
def test_success_with_what_is_no_image_is_a_bad_image(world, scenario):
    run(world, "images", scenario)


@pytest.mark.parametrize("scenario", ["driver", "nvjitlink"])
def test_logs_come_back_whole_on_success_and_failure(world, scenario):
    run(world, "logs", scenario)


def test_the_drivers_context(world):
    run(world, "contexts", "driver")


def test_the_links_stand_in_for_libcuda_is_no_driver(world, link):
    world.loader(fakes.driver("13.0", result=34))
    said = link(handles.ptx_in(world), "--driver", "13000")
    assert said["code"] == "BACKEND_MISSING"
    assert "libcuda.so.1" in said["message"]


def test_a_driver_without_a_linker_says_what_it_lacks(world, link):
    world.loader(fakes.driver("13.0", init=0))
    said = link(handles.ptx_in(world))
    assert said["code"] == "BACKEND_MISSING"
    assert "cuCtxGetCurrent" in said["message"]


def test_what_makes_no_sense_is_refused_and_older_callers_are_not(world):
    handles.install_fakes(world)
    assert handles.script(world, "misuse") == ["28"]


class Sum(ctypes.Structure):
    _fields_ = [("state", ctypes.c_uint32 * 8), ("length", ctypes.c_uint64), ("block", ctypes.c_char * 64)]


def test_the_digest_of_a_key_is_sha_256():
    """tests/python asks what is in a key."""
    library = ctypes.CDLL(build.compile("libsum.so", "-shared", "-fPIC",
                                        build.ROOT / "link" / "run" / "sha256.c"))
    library.lk_sha256_new.restype = Sum
    data = bytes(7 * i % 256 for i in range(300))
    for length in range(300):
        sum_, digest, at, step = library.lk_sha256_new(), ctypes.create_string_buffer(32), 0, 0
        while at < length:      # in pieces
            step = min(step % 71 + 1, length - at)
            library.lk_sha256_add(ctypes.byref(sum_), data[at:at + step], ctypes.c_size_t(step))
            at += step
        library.lk_sha256_end(ctypes.byref(sum_), digest)
        assert digest.raw == hashlib.sha256(data[:length]).digest()
