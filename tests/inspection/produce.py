# SPDX-License-Identifier: MIT
"""Real code, made by one toolkit, in a process of its own.

    produce.py NVRTC NVFATBIN|- FOLDER [ARCH...]

Writes ARCH.ptx, .cubin and .ltoir, and fatbins of all of them, one for each way
of compressing that this nvFatbin has.
"""
import ctypes
import pathlib
import sys

SOURCE = b"""
#ifdef WHOLE
__device__ int helper(int i) { return i; }
#else
extern __device__ int helper(int);
#endif
extern "C" __global__ void kernel(int *x) { *x = helper(*x); }
"""
MODES = {"default": (), "plain": ("-compress=false",), "all": ("-compress-all",),
         "size": ("-compress-mode=size",), "speed": ("-compress-mode=speed",)}


def compile(nvrtc, arch, kind, *options):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    words = [f"-arch={arch}".encode(), *options]
    assert not nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"a.cu", 0, None, None)
    assert not nvrtc.nvrtcCompileProgram(program, len(words),
                                         (ctypes.c_char_p * len(words))(*words))
    assert not nvrtc[f"nvrtcGet{kind}Size"](program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    assert not nvrtc[f"nvrtcGet{kind}"](program, code)
    return code.raw


def make_fatbin(nvfatbin, options, codes):
    """None if this version does not know the options."""
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()
    words = [word.encode() for word in ("-64", *options)]
    if nvfatbin.nvFatbinCreate(ctypes.byref(handle), (ctypes.c_char_p * len(words))(*words),
                               ctypes.c_size_t(len(words))):
        return None
    for arch, (ptx, cubin, ltoir) in codes.items():
        arch = arch.removeprefix("sm_").encode()
        assert not nvfatbin.nvFatbinAddPTX(handle, ptx, ctypes.c_size_t(len(ptx)), arch, b"one",
                                           b"--compile-only")
        assert not nvfatbin.nvFatbinAddCubin(handle, cubin, ctypes.c_size_t(len(cubin)), arch,
                                             b"one")
        assert not nvfatbin.nvFatbinAddLTOIR(handle, ltoir, ctypes.c_size_t(len(ltoir)), arch,
                                             b"one", b"-ftz=0")
    assert not nvfatbin.nvFatbinSize(handle, ctypes.byref(size))
    fatbin = ctypes.create_string_buffer(size.value)
    assert not nvfatbin.nvFatbinGet(handle, fatbin)
    return fatbin.raw


def main(nvrtc, nvfatbin, folder, *archs):
    folder, nvrtc = pathlib.Path(folder), ctypes.CDLL(nvrtc)
    lto = "LTOIR" if hasattr(nvrtc, "nvrtcGetLTOIR") else "NVVM"
    codes = {}
    for arch in archs:
        codes[arch] = [compile(nvrtc, arch, "PTX", b"-rdc=true"),
                       compile(nvrtc, arch, "CUBIN", b"-rdc=true"),
                       compile(nvrtc, arch, lto, b"-dlto")]
        for suffix, code in zip(("ptx", "cubin", "ltoir"), codes[arch]):
            (folder / f"{arch}.{suffix}").write_bytes(code)
        (folder / f"{arch}.linked.cubin").write_bytes(compile(nvrtc, arch, "CUBIN", b"-DWHOLE"))
    if nvfatbin == "-":
        return
    nvfatbin = ctypes.CDLL(nvfatbin)
    for mode, options in MODES.items():
        fatbin = make_fatbin(nvfatbin, options, codes)
        if fatbin:
            (folder / f"{mode}.fatbin").write_bytes(fatbin)


if __name__ == "__main__":
    main(*sys.argv[1:])
