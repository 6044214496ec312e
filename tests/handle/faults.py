# SPDX-License-Identifier: MIT
"""Links on fakes, everything failing in turn:

    faults.py calls|memory|images|logs|contexts driver|nvjitlink|source|main

`calls` fails each call that the backend makes, one a link; `memory` fails each allocation; `images` has
the backend hand out what is no image; `logs` has it say a lot; `contexts` links without a current
context, and with one.  Whatever happens, the outcome has to be the right typed one, nothing may be left
alive, pushed or retained, and no memory lost.
"""
import ctypes
import itertools
import sys

from lazycuda import link_abi as abi

C = ctypes.c_int, ctypes.c_long, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p
INT, LONG, SIZE, TEXT, POINTER = C


class Fake(ctypes.Structure):
    """struct fake of fake.h"""
    _fields_ = [("fail_at", INT), ("status", INT), ("calls", INT), ("alive", INT), ("failed", TEXT),
                ("image", POINTER), ("length", SIZE), ("info", TEXT), ("error", TEXT)]


class Outcome(ctypes.Structure):
    """struct outcome of counted.c"""
    _fields_ = [("code", INT), ("ran_out", INT), ("lost", LONG), ("logs", SIZE * 3), ("info", SIZE),
                ("error", SIZE), ("wrong", TEXT), ("message", ctypes.c_char * 512)]


LINK = ctypes.CDLL(None).link_inputs
LINK.restype = ctypes.POINTER(Outcome)
CUDA = ctypes.CDLL("libcuda.so.1")
NVJITLINK, NVRTC, DRIVER = (Fake.in_dll(ctypes.CDLL(name), "fake") for name in (
    "libnvJitLink.so.13", "libnvrtc.so.13", "libcuda.so.1"))
CURRENT, RETAINED, PUSHED, ALL_RETAINED, ALL_PUSHED = (INT.in_dll(CUDA, f"fake_{name}") for name in (
    "current", "retained", "pushed", "all_retained", "all_pushed"))
CUBIN = ctypes.string_at(NVJITLINK.image, NVJITLINK.length)

PTX = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel() { ret; }\n"
OTHER = PTX.replace(b".entry kernel", b".func f")
SOURCE = b'extern "C" __global__ void kernel() {}\n'
# What nvrtc makes of a program that calls f().
CALLS_F = PTX.replace(b".vis", b".extern .func f();\n.vis").replace(b"ret; }\n", b"call f; ret; }\0")
# LTO-IR by 13.0 for sm_80, as much of it as anybody reads.
LTOIR = bytes.fromhex("ed434e7f 01410262 03020700 18000100 28000000 2c000000 01002003 02000200 63"
                      ).ljust(64, b"\0")
BOTH = {"nvjitlink": 13000, "nvrtc": 13000}
# The linker, what there is, and what is linked; of "main" the second is a support module.
SCENARIOS = {"driver": (DRIVER, {"driver": 13000}, [PTX, OTHER]),
             "nvjitlink": (NVJITLINK, {"nvjitlink": 13000}, [PTX, OTHER]),
             "source": (NVJITLINK, BOTH, [SOURCE]), "main": (NVJITLINK, BOTH, [SOURCE, OTHER])}
SCENARIO = sys.argv[2]
LINKER, VERSIONS, TEXTS = SCENARIOS[SCENARIO]


def texts(*given):
    return (TEXT * len(given))(*given)


def described():
    """The request, and the inputs."""
    made = (abi.Input * len(TEXTS))(*(abi.Input(
        size=ctypes.sizeof(abi.Input), name=b"input", length=len(text),
        bytes=ctypes.cast(text, POINTER).value, include_names=texts(b"h"), headers=texts(b"h"),
        header_count=text is SOURCE, flags=abi.Flag.INPUT_MAIN if SCENARIO == "main" and not i else 0)
        for i, text in enumerate(TEXTS)))
    request = abi.Request(size=ctypes.sizeof(abi.Request), arch=b"sm_80", lto=SCENARIO == "source",
                          symbols=texts(b"kernel"), symbol_count=1, support_count=SCENARIO == "main")
    if SCENARIO == "main":
        request.support = ctypes.pointer(ctypes.pointer(abi.Support(
            size=ctypes.sizeof(abi.Support), name=b"module", enabled=1, functions=texts(b"f"),
            function_count=1, input=ctypes.pointer(made[1]))))
    return request, made


REQUEST, INPUTS = described()
ENVIRONMENT = abi.Environment(size=ctypes.sizeof(abi.Environment), **VERSIONS)


def begin(image=CUBIN, info=b"linked", error=b"", fail_at=0, of=LINKER):
    """What the linker is to hand out and to say, and which call of which fake is to fail."""
    compiled = CALLS_F if SCENARIO == "main" else LTOIR
    for fake, status, *has in ((LINKER, 400 if LINKER is DRIVER else 6, image, info, error),
                               (NVRTC, 6, compiled, b"compiled", b"error: no")):
        fake.image, fake.length = ctypes.cast(has[0], POINTER), len(has[0])
        fake.info, fake.error = has[1:]
        fake.status, fake.calls, fake.alive, fake.failed = status, 0, 0, None
        fake.fail_at = fail_at if fake is of else 0


def link(allocations=-1):
    return LINK(ctypes.byref(ENVIRONMENT), ctypes.byref(REQUEST), INPUTS,
                SIZE(len(TEXTS) - REQUEST.support_count), CUBIN, SIZE(len(CUBIN)), LONG(allocations)).contents


def linked(what, *codes, allocations=-1, why=b""):
    said = link(allocations)
    code, message = abi.Code(said.code), said.message
    assert not said.wrong and said.lost <= 0, (what, said.wrong, said.lost)
    assert (not codes or code in codes) and why in message, (what, code, message)
    assert not any(fake.alive for fake in (NVJITLINK, NVRTC, DRIVER)), (what, "something lives")
    assert not RETAINED.value and not PUSHED.value, (what, "a context is retained or pushed")
    return said


def expected(call):
    """Without logs, and with what cannot be undone, there still is an image."""
    if any(word in call for word in (b"Destroy", b"Log", b"Pop", b"Release")):
        return abi.Code.OK
    if b"nvrtc" in call:
        return abi.Code.COMPILE_FAILED
    return abi.Code.LINK_FAILED if b"Link" in call else abi.Code.DRIVER_FAILED


def calls():
    number = 0
    for fake in (LINKER, NVRTC)[:1 + ("nvrtc" in VERSIONS)]:
        for at in itertools.count(1):
            begin(fail_at=at, of=fake)
            said = linked(f"call {at}")
            if not fake.failed:
                break
            assert said.code == expected(fake.failed), (fake.failed, said.code, said.message)
            number += 1
    assert number > 8, f"only {number} calls"


def memory():
    for allocations in itertools.count():
        begin()
        said = linked(f"allocation {allocations}", allocations=allocations)
        if not said.ran_out:
            break
        # What fails in the fake itself, fails as it says.
        assert said.code == abi.Code.NO_MEMORY or b"Create returned" in said.message, said.message
    assert allocations > 9, f"only {allocations} allocations"


def images():
    garbage = b"this is no image".ljust(256, b"\0")
    for image, why in ((b"", b"an image of 0 bytes"), (garbage, b"the image"),
                       (CUBIN.replace(b"\0kernel\0", b"\0kernem\0"), b"does not define kernel")):
        begin(image)
        linked(why, abi.Code.BAD_IMAGE, why=why)
    if LINKER is NVJITLINK:
        begin()
        LINKER.length = 1 << 40
        linked("a large image", abi.Code.BAD_IMAGE, why=b"1099511627776")


def logs():
    begin(info=b"a" * 199999, error=b"a" * 199999)
    said = linked("much", abi.Code.OK)
    assert said.info > 60000 and said.error > 60000, (said.info, said.error)
    begin(error=b"Undefined reference to 'f' in 'input'", fail_at=9 if LINKER is DRIVER else 4)
    linked("logs", abi.Code.UNDEFINED_SYMBOL)
    if LINKER is NVJITLINK:     # which reports success then
        begin(error=b"Multiple definition of 'f' in 'input', first defined in 'input'")
        linked("a name twice", abi.Code.DUPLICATE_SYMBOL)


def contexts():
    """The one that is current is used; else one is retained and given back."""
    for CURRENT.value in 0, 1:
        begin()
        ALL_RETAINED.value = ALL_PUSHED.value = 0
        linked("a context", abi.Code.OK)
        assert ALL_RETAINED.value == ALL_PUSHED.value == (not CURRENT.value)


if __name__ == "__main__":
    begin()
    link()      # what is done once is done
    {"calls": calls, "memory": memory, "images": images, "logs": logs, "contexts": contexts}[sys.argv[1]]()
