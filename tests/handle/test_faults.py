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


@pytest.mark.parametrize("fault, scenario", [
    # Every call fails in turn, and every allocation.
    *[(fault, scenario) for fault in ("calls", "memory") for scenario in SCENARIOS],
    # Success with what is no image is a bad image; logs come back whole on success and failure.
    *[(fault, scenario) for fault in ("images", "logs") for scenario in ("driver", "nvjitlink")],
    ("contexts", "driver")])
def test_what_may_fail(world, fault, scenario):
    run(world, fault, scenario)


@pytest.mark.parametrize("how, words, lacks", [
    # The links' stand-in for libcuda is no driver, and one may be without a linker.
    ({"result": 34}, ["--driver", "13000"], "libcuda.so.1"), ({"init": 0}, [], "cuCtxGetCurrent")])
def test_what_is_no_driver_says_what_it_lacks(world, link, how, words, lacks):
    world.loader(fakes.driver("13.0", **how))
    said = link(handles.ptx_in(world), *words)
    assert said["code"] == "BACKEND_MISSING" and lacks in said["message"]


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
