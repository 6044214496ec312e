# SPDX-License-Identifier: MIT
"""One link through the handle, and what came of it, as JSON:

    handle.py [--lto] [--output N] [--symbol NAME] [--bytes] [--callbacks] [--driver V]
              [--nvjitlink V] [--nvrtc V] [--main FILE] [--support FILE:FUNCTION] [--exact]
              [--arch ARCH] [--offline] [--beside STUB] [-o OUT] FILE...

--bytes has all given as memory, --exact in blocks that end where a page does.  --beside: with
cudart's stub in the process; tells what version that and nvJitLink's have loaded then.
"""
import argparse
import ctypes
import json
import mmap
import os
import pathlib

from lazycuda import link_abi as abi
from lazycuda.link_library import library

kept, calls = [], []        # what C sees; of setup and teardown


def keep(value):
    kept.append(value)
    return value


def told(what):
    return lambda module, data: calls.append(
        f"{what} {ctypes.string_at(module).decode()} {ctypes.string_at(data).decode()}")


CALLBACKS = {"setup": abi.InputSetup(told("setup")), "teardown": abi.InputTeardown(told("teardown"))}


def exactly(data):
    """The address of bytes behind which nothing can be read."""
    page = mmap.PAGESIZE
    memory = keep(mmap.mmap(-1, -(-len(data) // page) * page + page))
    start = ctypes.addressof(keep(ctypes.c_char.from_buffer(memory)))
    end = start + len(memory) - page
    assert not ctypes.CDLL(None).mprotect(ctypes.c_void_p(end), ctypes.c_size_t(page), 0)
    ctypes.memmove(end - len(data), data, len(data))
    return end - len(data)


def given(words, path):
    made = keep(abi.Input(size=ctypes.sizeof(abi.Input)))
    if words.bytes:
        data = pathlib.Path(path).read_bytes()
        made.bytes = exactly(data) if words.exact else ctypes.addressof(
            keep(ctypes.create_string_buffer(data, len(data))))
        made.length, made.name = len(data), os.fsencode(path)
    else:
        made.path = os.fsencode(path)
    if words.callbacks:
        made.setup, made.teardown = CALLBACKS.values()
        made.data = ctypes.addressof(keep(ctypes.create_string_buffer(os.path.basename(path).encode())))
    return made


def request(words):
    made = keep(abi.Request(size=ctypes.sizeof(abi.Request), arch=words.arch.encode(), lto=words.lto,
                            flags=abi.Flag.LINK_OFFLINE if words.offline else 0,
                            output=words.output, symbol_count=len(words.symbol)))
    made.symbols = (ctypes.c_char_p * len(words.symbol))(*map(str.encode, words.symbol))
    if words.support:
        path, function = words.support.split(":")
        support = keep(abi.Support(size=ctypes.sizeof(abi.Support), name=b"support", enabled=1,
                                   function_count=1, input=ctypes.pointer(given(words, path))))
        support.functions = (ctypes.c_char_p * 1)(function.encode())
        made.support, made.support_count = ctypes.pointer(ctypes.pointer(support)), 1
    return made


def environment(words):
    """That of this machine, but for what was said; None: nothing was."""
    made = library().lazycuda_get_environment()
    said = {name: value for name in ("driver", "nvjitlink", "nvrtc")
            for value in [getattr(words, name)] if value is not None}
    for name, value in said.items():
        setattr(made, name, value)
    return ctypes.byref(keep(made)) if said else None


def versions(stub):
    status = stub.lazycuda_get_status
    status.restype = ctypes.POINTER(ctypes.c_int * 8)
    for name in (b"nvJitLink", b"cudart"):
        stub.lazycuda_load(name)
    return [status(name).contents[6:] for name in (b"nvJitLink", b"cudart")]


def main():
    parser = argparse.ArgumentParser()
    for name in ("--lto", "--bytes", "--exact", "--callbacks", "--offline"):
        parser.add_argument(name, action="store_true")
    for name in ("--driver", "--nvjitlink", "--nvrtc"):
        parser.add_argument(name, type=int)
    for name in ("--main", "--support", "--beside", "-o"):
        parser.add_argument(name)
    parser.add_argument("--arch", default="sm_80")
    parser.add_argument("--output", type=int, default=0)
    parser.add_argument("--symbol", action="append", default=[])
    parser.add_argument("files", nargs="*")
    words, c = parser.parse_intermixed_args(), library()
    beside = words.beside and ctypes.CDLL(words.beside)
    link = c.lazycuda_link_new(request(words), environment(words))
    for path in [words.main, *words.files] if words.main else words.files:
        one = given(words, path)
        one.flags = abi.Flag.INPUT_MAIN if path == words.main else 0
        assert not c.lazycuda_link_add(link, one)
    if words.callbacks:     # nothing has been linked yet
        c.lazycuda_link_setup(link, b"early")
    result = c.lazycuda_link_run(link)
    made = result.contents
    image = ctypes.string_at(made.image, made.image_length) if made.image else None
    if image and words.o:
        pathlib.Path(words.o).write_bytes(image)
    assert ctypes.addressof(c.lazycuda_link_run(link).contents) == ctypes.addressof(made)
    assert (image is None) == (made.code != abi.Code.OK)
    if words.callbacks:
        c.lazycuda_link_setup(link, b"module")
        c.lazycuda_link_teardown(link, b"module")
    print(json.dumps({
        "code": c.lazycuda_code_name(made.code).decode(), "calls": calls,
        "input": ctypes.c_ssize_t(made.input).value, "image": made.image_length,
        "call": f"{(made.backend_call or b'none').decode()} {made.backend_status}",
        "versions": beside and versions(beside),
        "backend": made.plan.contents.backend if made.plan else None,
        **{name: getattr(made, of).decode(errors="replace") for name, of in (
            ("message", "message"), ("info", "info_log"), ("error", "error_log"))}}))
    c.lazycuda_link_free(link)


if __name__ == "__main__":
    main()
