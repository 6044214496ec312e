# SPDX-License-Identifier: MIT
"""Calls functions by the version node that their names have for one major:

    versioned.py text STUB NODE FUNCTION STATUS...
    versioned.py handles LIBRARY NODE SIZE
    versioned.py older RUNTIME NODE
    versioned.py errors RUNTIME NODE STEP...
    versioned.py foreign STUB NODE [FROM]
    versioned.py every STUB NODE LIBRARY REAL NAMES

The first calls a function that writes a text for a status: for each status a line with what it
returned, and the text.  The second has a real libcublasLt, or its stub, make and free what it does,
and take what the caller has made, of which that major says SIZE: each line has the name of an
object and the status of each call.  The third calls what older runtimes lack: what each returned and
wrote, and what the last error is.  The fourth prints what each step of errors() says, in another thread
after "other:".  No call needs a GPU.

The fifth registers with FROM, a real runtime or a copy of the stub, and does the rest through STUB, as
a file does that is bound lazily and changes sides: a kernel, the end, a launch, and that all is gone.
Without FROM the handle is a page that cannot be read.

The last calls every function in the file NAMES; NODE may be "-".  REAL is a fake of
test_every_function.py, or "-": there is none.  For each name a line: what it returned, the number of
the fake's function that was called or 0, and lazycuda's cause.  Each argument is an address that may be
written to.  With AT_EXIT in the environment it calls them from an exit handler that was registered
before the library was loaded.
"""
import ctypes
import mmap
import os
import sys
import threading

FIND = ctypes.CDLL(None).dlvsym
FIND.restype, FIND.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


def caller(file, node):
    """call(NAME, ...)"""
    library = ctypes.CDLL(file)

    def call(name, *arguments, result=ctypes.c_int):
        found = FIND(library._handle, name.encode(), node.encode()) if node != "-" else \
            ctypes.cast(library[name], ctypes.c_void_p).value
        assert found, f"{name}: there is none of {node}"
        return ctypes.CFUNCTYPE(result)(found)(*arguments)
    return call


def text(call, _file, _node, name, *statuses):
    for status in map(int, statuses):
        said = ctypes.c_char_p(b"nothing")
        print(call(name, status, ctypes.byref(said)), said.value.decode())
        call(name, status, None)


def handles(call, _file, _node, size):
    for title, kind, attribute, width, arguments in (
            ("layout", "MatrixLayout", 5, 4,        # how many matrices
             (0, *map(ctypes.c_uint64, (16, 8, 16)))),
            ("description", "MatmulDesc", 3, 4, (68, 0)),   # the transposition of A
            ("transform", "MatrixTransformDesc", 2, 4, (0,)),
            ("preference", "MatmulPreference", 1, 8, ())):  # the size of the workspace
        kind = f"cublasLt{kind}"
        made, value, found, written = ctypes.c_void_p(1), ctypes.c_uint64(1), ctypes.c_uint64(), \
            ctypes.c_size_t()
        room, where = ctypes.c_size_t(width), ctypes.byref(found)
        print(title, "create", call(f"{kind}Create", ctypes.byref(made), *arguments),
              "set", call(f"{kind}SetAttribute", made, attribute, ctypes.byref(value), room),
              "get", call(f"{kind}GetAttribute", made, attribute, where, room, ctypes.byref(written)),
              "read", found.value, written.value, "destroy", call(f"{kind}Destroy", made))
    # What the header's inline function passes is the caller's struct, and its size.
    own = (ctypes.c_uint64 * 256)()
    print("own init", call("cublasLtMatmulPreferenceInit_internal", own, ctypes.c_size_t(int(size))))


def older(call, _file, node):
    written, stream, one = (ctypes.c_uint64 * 2)(), ctypes.c_void_p(2), ctypes.c_size_t(1)
    first, second = ctypes.byref(written), ctypes.byref(written, 8)
    bytes_ = [ctypes.create_string_buffer(16) for _ in range(2)]
    # SIZE_MAX stands for an error of no copy.  A runtime that cannot start writes nothing.
    copy = [*((ctypes.c_void_p * 1)(ctypes.addressof(one)) for one in bytes_), (ctypes.c_size_t * 1)(16),
            one, (ctypes.c_int * 6)(1), (ctypes.c_size_t * 1)(0), one,
            *[first] * node.endswith(".12"), stream]
    by_version = [b"cuInit", first, 12000, ctypes.c_uint64(0), second]
    for name, *arguments in (
            ("cudaGetDriverEntryPointByVersion", *by_version),
            ("cudaGetDriverEntryPointByVersion_ptsz", *by_version),
            ("cudaGetDriverEntryPoint", b"cuInit", first, ctypes.c_uint64(0), second),
            ("cudaInitDevice", 0, 0, 1), ("cudaStreamGetId", stream, first),
            ("cudaStreamGetDevice", stream, first),
            ("cudaMemcpyBatchAsync", *copy), ("cudaMemcpyBatchAsync_ptsz", *copy)):
        written[:] = [2**64 - 1] * 2
        print(name, call(name, *arguments), *map(hex, written),
              "last", *(call("cudaGetLastError") for _ in range(2)))


def errors(call, _file, _node, *steps):
    functions = {
        "peek": lambda: call("cudaPeekAtLastError"), "get": lambda: call("cudaGetLastError"),
        "count": lambda: call("cudaGetDeviceCount", ctypes.byref(ctypes.c_int(7))),
        "succeed": lambda: call("cudaDeviceSynchronize") and 0,
        "set": lambda number: call("cudaSetDevice", int(number)),
        # What CUDA 11 cannot express: a NUMA node of the host.
        "advise": lambda: call("cudaMemAdvise", None, ctypes.c_size_t(0), 0, ctypes.c_uint64(3)),
        # whether the text of 801 is that of the stub's refusal
        "ours": lambda: int(b"cudaMemAdvise" in call("cudaGetErrorString", 801, result=ctypes.c_char_p))}

    def take(name, *words):
        print(functions[name](*words), flush=True)

    for words in (step.split(":") for step in steps):
        if words[0] == "other":
            other = threading.Thread(target=take, args=words[1:])
            other.start()
            other.join()
        else:
            take(*words)


def foreign(call, _file, node, given=None):
    def wide(name, *arguments, using=call):
        return using(name, *map(ctypes.c_long, (*arguments, *[0] * (10 - len(arguments)))),
                     result=ctypes.c_long)
    map_page = ctypes.CDLL(None).mmap
    map_page.restype = ctypes.c_long
    handle = wide("__cudaRegisterFatBinary", 0x1000, using=caller(given, node)) if given else \
        map_page(None, ctypes.c_size_t(4096), 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                 -1, ctypes.c_long(0))
    wide("__cudaRegisterFunction", handle, 0x11, 0x22, 0x33, -1)
    wide("__cudaRegisterFatBinaryEnd", handle)
    print(wide("__cudaInitModule", handle) & 0xff)
    print(wide("cudaDeviceSynchronize") & 0xffffffff)
    wide("__cudaUnregisterFatBinary", handle)


def every(call, file, _node, library, real, names):
    stub, process = ctypes.CDLL(file), ctypes.CDLL(None)
    room = ctypes.create_string_buffer(1 << 20)
    arguments = [ctypes.c_void_p(ctypes.addressof(room) + len(room) // 2)] * 32
    stub.lazycuda_get_error.restype = ctypes.POINTER(ctypes.c_size_t * 2)   # its size, its cause

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def call_all(_):
        for name in open(names).read().split():
            called.value = 0
            returned = call(name, *arguments, result=ctypes.c_ulong)
            cause = stub.lazycuda_get_error(library.encode()).contents[1]
            print(name, returned, called.value, cause & 0xffffffff, flush=True)

    if "AT_EXIT" in os.environ:
        process.__cxa_atexit(call_all, None, None)
    stub.lazycuda_load(None)
    called = ctypes.c_int()
    if real != "-":
        called = ctypes.c_int.in_dll(ctypes.CDLL(real, os.RTLD_NOLOAD | os.RTLD_NOW), "fake_called")
    if "AT_EXIT" in os.environ:
        process.exit(0)
    call_all(None)


if __name__ == "__main__":
    what, file, node, *words = sys.argv[1:]
    {"text": text, "handles": handles, "older": older, "errors": errors, "every": every,
     "foreign": foreign}[what](caller(file, node), file, node, *words)
