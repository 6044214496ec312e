# SPDX-License-Identifier: MIT
"""Calls functions by the version node that their names have for one major, or without one where NODE
is "-":

    versioned.py HOW FILE NODE WORD...

A HOW is a function below; the words are its last arguments.  No call needs a GPU.
"""
import concurrent.futures
import ctypes
import mmap
import os
import pathlib
import re
import resource
import signal
import struct
import sys

PROCESS = ctypes.CDLL(None)
PROCESS.mmap.restype = ctypes.c_long
FIND = PROCESS.dlvsym
FIND.restype, FIND.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
MAP_FIXED = 0x10
RESULTS = {"i": ctypes.c_int, "s": ctypes.c_char_p, "v": None, "p": ctypes.c_void_p}


def find(library, node, name):
    found = FIND(library._handle, name.encode(), node.encode()) if node != "-" else \
        ctypes.cast(library[name], ctypes.c_void_p).value
    assert found, f"{name}: there is none of {node}"
    return found


def caller(file, node):
    """call(NAME, ...)"""
    library = ctypes.CDLL(file)

    def call(name, *arguments, result=ctypes.c_int):
        return ctypes.CFUNCTYPE(result)(find(library, node, name))(*arguments)
    return call


def text(call, _file, _node, name, *statuses):
    """A function that writes a text for a status: for each what it returned, and the text."""
    for status in map(int, statuses):
        said = ctypes.c_char_p(b"nothing")
        print(call(name, status, ctypes.byref(said)), said.value.decode())
        call(name, status, None)


def handles(call, _file, _node, size):
    """A real libcublasLt, or its stub, makes and frees what it does, and takes what the caller has made,
    of which that major says `size`: the name of each object and the status of each call."""
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
    """What older runtimes lack: what each returned and wrote, and what the last error is."""
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
    """What each step says, in one other thread after "other:"."""
    def many(what):
        before = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])    # many, of a sanitizer
        resource.setrlimit(resource.RLIMIT_AS, (pages * mmap.PAGESIZE + (1 << 30), before[1]))
        error = call(f"cuda{what}ExternalSemaphoresAsync", b"", b"", ctypes.c_uint(2**32 - 1), None)
        resource.setrlimit(resource.RLIMIT_AS, before)
        return error

    functions = {
        "peek": lambda: call("cudaPeekAtLastError"), "get": lambda: call("cudaGetLastError"),
        "count": lambda: call("cudaGetDeviceCount", ctypes.byref(ctypes.c_int(7))),
        "succeed": lambda: call("cudaDeviceSynchronize") and 0,
        "set": lambda number: call("cudaSetDevice", int(number)),
        # What CUDA 11 cannot express: a NUMA node of the host.
        "advise": lambda: call("cudaMemAdvise", None, ctypes.c_size_t(0), 0, ctypes.c_uint64(3)),
        # By the adaptor itself: there is no place for the kernel; nor for a copy of the parameters.
        "kernel": lambda: call("__cudaGetKernel", None, b"a function"), "many": many,
        # whether the text of 801 is that of the stub's refusal
        "ours": lambda: int(b"cudaMemAdvise" in call("cudaGetErrorString", 801, result=ctypes.c_char_p))}

    def take(name, *words):
        print(functions[name](*words), flush=True)

    with concurrent.futures.ThreadPoolExecutor(1) as other:
        for words in (step.split(":") for step in steps):
            if words[0] == "other":
                other.submit(take, *words[1:]).result()
            else:
                take(*words)


def foreign(call, _file, node, given=None):
    """Registers with `given`, a real runtime or a copy of the stub, and does the rest through the stub, as
    a file does that is bound lazily and changes sides: a kernel, the end, a launch, and that all is
    gone.  Without it the handle is a page that cannot be read."""
    def wide(name, *arguments, using=call):
        return using(name, *map(ctypes.c_long, (*arguments, *[0] * (10 - len(arguments)))),
                     result=ctypes.c_long)
    handle = wide("__cudaRegisterFatBinary", 0x1000, using=caller(given, node)) if given else \
        PROCESS.mmap(None, ctypes.c_size_t(4096), 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                     -1, ctypes.c_long(0))
    wide("__cudaRegisterFunction", handle, 0x11, 0x22, 0x33, -1)
    wide("__cudaRegisterFatBinaryEnd", handle)
    print(wide("__cudaInitModule", handle) & 0xff)
    print(wide("cudaDeviceSynchronize") & 0xffffffff)
    wide("__cudaUnregisterFatBinary", handle)


def every(call, file, _node, library, real, names):
    """Every function in the file `names`, with addresses that may be written to; `real` is a fake of
    test_every_function.py, or "-": what each returned, the number of the fake's function that was called
    or 0, and lazycuda's cause.  With AT_EXIT in the environment they are called from an exit handler
    that was registered before the library was loaded."""
    stub = ctypes.CDLL(file)
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
        PROCESS.__cxa_atexit(call_all, None, None)
    stub.lazycuda_load(None)
    called = ctypes.c_int()
    if real != "-":
        called = ctypes.c_int.in_dll(ctypes.CDLL(real, os.RTLD_NOLOAD | os.RTLD_NOW), "fake_called")
    if "AT_EXIT" in os.environ:
        PROCESS.exit(0)
    call_all(None)


def results(call, _file, _node):
    """What nvJitLinkCreate says to each set of options, and what is said of no cubin as PTX."""
    handle = ctypes.c_void_p()
    for options in ((b"-arch=sm_80", b"-ptx"), (b"-arch=sm_999",), (b"-arch=sm_80",)):
        print(call("nvJitLinkCreate", ctypes.byref(handle), len(options),
                   (ctypes.c_char_p * len(options))(*options)))
    print(call("nvJitLinkAddData", handle, 1, b"no cubin at all", ctypes.c_size_t(16), b"x"))


KERNEL = b'extern "C" __global__ void axpy(float a, float *x, float *y) { y[threadIdx.x] += a * x[0]; }'


def compiled(call, _file, _node, kind, linker, of_linker, suffix):
    """What nvrtc makes of a kernel, and `linker` of that, whose names have the suffix that headers give
    them: how many bytes, each status, and how the image begins."""
    def made(call, name, handle, suffix=""):
        size = ctypes.c_size_t()
        assert not call(f"{name}Size{suffix}", handle, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        assert not call(name + suffix, handle, image)
        return image.raw

    def ask(call, name, *arguments):
        print(name, call(name, *arguments))

    program, handle, link = ctypes.c_void_p(), ctypes.c_void_p(), caller(linker, of_linker)
    options = {"PTX": (b"-arch=compute_75",), "LTOIR": (b"-arch=compute_75", b"-dlto"),
               "CUBIN": (b"-arch=sm_75",)}[kind]
    ask(call, "nvrtcCreateProgram", ctypes.byref(program), KERNEL, b"axpy.cu", 0, None, None)
    ask(call, "nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
    code = made(call, f"nvrtcGet{kind}", program)
    print(len(code) > 100)
    if kind != "CUBIN":
        lto = kind == "LTOIR"
        options = (ctypes.c_char_p * 2)(b"-arch=sm_75", b"-lto")
        ask(link, f"__nvJitLinkCreate{suffix}", ctypes.byref(handle), 1 + lto, options)
        ask(link, f"__nvJitLinkAddData{suffix}", handle, 2 + lto, code, ctypes.c_size_t(len(code)), b"axpy")
        ask(link, f"__nvJitLinkComplete{suffix}", handle)
        print(made(link, "__nvJitLinkGetLinkedCubin", handle, suffix)[:4])
        ask(link, f"__nvJitLinkDestroy{suffix}", ctypes.byref(handle))
    ask(call, "nvrtcDestroyProgram", ctypes.byref(program))


BYTES, UNTOUCHED, AT = 2048, b"\xa5", 0x200000000000


def written(address):
    """Numbers are compared, addresses are not: only that there is one.  The heap lies low where the
    program has a fixed address, as Debian's Python."""
    used = len(ctypes.string_at(address, BYTES).rstrip(UNTOUCHED))
    words = struct.unpack_from(f"<{-(-used // 8)}Q", ctypes.string_at(address, BYTES))
    first, end = (int(word, 16) for word in re.search(
        r"^(\w+)-(\w+) .*\[heap\]$", pathlib.Path("/proc/self/maps").read_text(), re.M).groups())
    return "".join("<address>" if 0 < word >> 40 < 0x80 or first <= word < end else f"{word:016x}"
                   for word in words)


def answers(_call, file, node, lines):
    """All that the caller can see of each function in the file `lines`, which is called in a child with a
    time limit: what it returned and wrote, and how the child ended.  A line is NAME PATTERN RESULT; the
    pattern has a letter for each argument, 0 for a zero and p for an address, which is always the same
    one: where a count is expected it is a number.  Libraries that print the same answer alike."""
    room, library = 12 * (BYTES + 4096), ctypes.CDLL(file)
    PROCESS.mmap(ctypes.c_void_p(AT), ctypes.c_size_t(room), 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS |
                 MAP_FIXED, -1, ctypes.c_long(0))
    ctypes.memset(AT, UNTOUCHED[0], room)
    # The stub looks once, here, and not in every child again.
    assert not (hasattr(library, "lazycuda_load") and library.lazycuda_load(None))
    for name, pattern, kind in map(str.split, pathlib.Path(lines).read_text().splitlines()):
        function = ctypes.CFUNCTYPE(RESULTS[kind])(find(library, node, name))
        where = {i: AT + i * (BYTES + 4096) for i, letter in enumerate(pattern) if letter == "p"}
        print(name, pattern, end=" ", flush=True)
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
            signal.alarm(5)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            value = function(*(ctypes.c_void_p(where.get(i)) for i in range(12)))
            value = bool(value) if kind == "p" else value
            print(value, *(f"{i}:{written(at)}" for i, at in where.items()), end=" ", flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print("dies" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), flush=True)


if __name__ == "__main__":
    what, file, node, *words = sys.argv[1:]
    globals()[what](caller(file, node), file, node, *words)
