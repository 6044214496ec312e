# SPDX-License-Identifier: MIT
"""Device code for the bundle, by one real nvrtc or nvFatbin in a process of its own:

    compile_code.py nvrtc LIBRARY VERSION SOURCES FOLDER ARCH...
    compile_code.py nvfatbin LIBRARY OUTPUT [OPTION...] KIND:ARCH:FILE...
"""
import ctypes
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "device_code"))
from code_producer import Nvrtc  # noqa: E402

# What every driver takes that has a device of sm_75.
PTX_BY, PTX_ARCH = "11.8", "75"
REST_BY = "12.9"


def architectures(nvrtc, wanted):
    known = set(nvrtc.architectures())
    return [arch for arch in wanted if arch in known]


def compile_all(library, version, sources, folder, wanted):
    nvrtc = Nvrtc(pathlib.Path(library))
    text = {path.stem: path.read_text() for path in pathlib.Path(sources).glob("*.cu")}

    def make(stem, options, what, name):
        made, = nvrtc.compile(text[stem], options, what)
        (pathlib.Path(folder) / name).write_bytes(made)

    if version == PTX_BY:
        for stem in ("linked", "helper"):
            make(stem, ["-rdc=true", f"-arch=compute_{PTX_ARCH}"], "PTX", f"{stem}_all.ptx")
        make("kernels", [f"-arch=compute_{PTX_ARCH}"], "PTX", "kernels.ptx")
        make("references", [f"-arch=compute_{PTX_ARCH}"], "PTX", "references.ptx")
    if version == REST_BY:
        make("whole", ["-rdc=true", "-arch=compute_52"], "PTX", "whole_52.ptx")
        for arch in ("52", "61"):
            make("whole", ["-rdc=true", "-dlto", f"-arch=compute_{arch}"], "LTOIR",
                 f"whole_{arch}.ltoir")
    for arch in architectures(nvrtc, wanted):
        make("small", ["-rdc=true", f"-arch=sm_{arch}"], "CUBIN", f"small_{version}_{arch}.cubin")
        make("small", ["-rdc=true", f"-arch=compute_{arch}"], "PTX", f"small_{version}_{arch}.ptx")
        if version != REST_BY:
            continue
        make("kernels", [f"-arch=sm_{arch}"], "CUBIN", f"kernels_{arch}.cubin")
        for stem in ("linked", "helper"):
            make(stem, ["-rdc=true", f"-arch=sm_{arch}"], "CUBIN", f"{stem}_{arch}.cubin")
            make(stem, ["-rdc=true", "-dlto", f"-arch=compute_{arch}"], "LTOIR",
                 f"{stem}_{arch}.ltoir")


def fatbin(library, output, words):
    entries = [word for word in words if ":" in word]
    options = [word.encode() for word in words if ":" not in word]
    nvfatbin = ctypes.CDLL(library)
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()

    def call(name, *arguments):
        status = nvfatbin[name](*arguments)
        if status:
            sys.exit(f"{name}: {status}")

    call("nvFatbinCreate", ctypes.byref(handle), (ctypes.c_char_p * len(options))(*options),
         ctypes.c_size_t(len(options)))
    given = []      # nvFatbin keeps what it is given until it is destroyed
    for entry in entries:
        kind, arch, path = entry.split(":", 2)
        bytes_ = pathlib.Path(path).read_bytes()
        given.append(ctypes.create_string_buffer(bytes_))
        # The NUL behind PTX belongs to it, whether or not the file has it.
        length = ctypes.c_size_t(len(bytes_.rstrip(b"\0")) + 1 if kind == "ptx" else len(bytes_))
        common = (handle, given[-1], length, arch.encode(), b"code")
        if kind == "cubin":
            call("nvFatbinAddCubin", *common)
        else:
            call({"ptx": "nvFatbinAddPTX", "ltoir": "nvFatbinAddLTOIR"}[kind], *common, b"")
    call("nvFatbinSize", handle, ctypes.byref(size))
    made = ctypes.create_string_buffer(size.value)
    call("nvFatbinGet", handle, made)
    pathlib.Path(output).write_bytes(made.raw)


if __name__ == "__main__":
    if sys.argv[1] == "nvrtc":
        compile_all(*sys.argv[2:6], sys.argv[6:])
    else:
        fatbin(sys.argv[2], sys.argv[3], sys.argv[4:])
