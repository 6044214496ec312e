# SPDX-License-Identifier: MIT
"""A plugin of pytest for cupy's tests: puts the CUDA runtime of driver.c in the place of the one that is
linked into cupy, and with IN_PLACE lazycuda.link in the place of its compiler and of the driver's linker."""
import ctypes
import os
import re
import subprocess
import sysconfig

from cupy_backends.cuda.api import runtime

os.environ.setdefault("CUDA_PATH", os.path.join(sysconfig.get_path("purelib"), "nvidia", "cu13"))


def replace_runtime():
    """A jump over each of its functions; the whole would ask a driver for tables that are not public."""
    ours, libc = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None)
    with open("/proc/self/maps") as maps:
        base = next(int(line.partition("-")[0], 16) for line in maps if line.rstrip().endswith(runtime.__file__))
    names = subprocess.run(["nm", runtime.__file__], check=True, capture_output=True, text=True).stdout
    for at, name in re.findall(r"^(\w+) [tT] (cuda[A-Z]\w+)$", names, re.M):
        to = ctypes.cast(getattr(ours, name, ours.cudaNothing), ctypes.c_void_p).value
        libc.mprotect(ctypes.c_void_p(base + int(at, 16) & -4096), 8192, 7)
        ctypes.memmove(base + int(at, 16), b"\xff\x25\0\0\0\0" + to.to_bytes(8, "little"), 14)


def text(data):
    return data.decode() if isinstance(data, bytes) else data


def put_in_place(link, compiler, function):
    own = compiler._NVRTCProgram

    class Program:
        def __init__(self, src, name="default_program", headers=(), include_names=(), name_expressions=None,
                     method="ptx"):
            self.source = link.CUSource(
                text(src), text(name) or "default_program", name_expressions=name_expressions or (),
                headers=dict(zip(map(text, include_names), map(text, headers))))
            self.output = {"lto": "ltoir"}.get(method, method)

        def compile(self, options=(), log_stream=None):
            apart = any(one in compiler._rdc_flags for one in options)
            arch = next(one.partition("_")[2] for one in options if one.startswith("-arch="))
            linker = link.Linker(f"sm_{arch}", output="relocatable" if apart else self.output, compile_options=[
                one for one in options if one not in (*compiler._rdc_flags, "-dlto") and not one.startswith("-arch=")])
            try:
                done = linker.add(self.source).run()
            except link.LinkError as error:
                raise compiler.CompileException(error.log, self.source.data, self.source.name, options) from error
            if log_stream is not None:
                log_stream.write(done.info_log)
            return done.image, done.lowered_names

    class LinkState:
        def __init__(self):
            self.linker = link.Linker()

        def add_ptr_data(self, data, name):
            self.linker.add(link.Input(data, name))

        def add_ptr_file(self, path):
            self.linker.add(link.Archive.from_path(path))

        def complete(self):
            return self.linker.link()

    class Functions:
        Module = function.Module
    Functions.LinkState = LinkState
    # An empty program is no link: cupy asks for one to see nvrtc's version.
    compiler._NVRTCProgram = lambda src, *rest, **more: (Program if src else own)(src, *rest, **more)
    compiler.function = Functions


replace_runtime()
import cupy  # noqa: E402

cupy.cuda.set_allocator(None)       # so that all memory is zero at first
if "IN_PLACE" in os.environ:
    from lazycuda import link

    put_in_place(link, cupy.cuda.compiler, cupy.cuda.function)
