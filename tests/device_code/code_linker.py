# SPDX-License-Identifier: MIT
"""Links with one real nvJitLink, in a process of its own:

    code_linker.py libnvJitLink.so < jobs

A job is a line of JSON: {"options": ["-arch=sm_90"], "inputs": [["ptx", PATH]],
"get": "Cubin", "out": PATH}.  For each a line is printed: "ok", or the call that
failed and what it returned.
"""
import ctypes
import json
import pathlib
import re
import sys

KINDS = {"cubin": 1, "ptx": 2, "ltoir": 3, "fatbin": 4, "object": 5, "library": 6}


class Failed(Exception):
    pass


class NvJitLink:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        # Before 12.3 there are names with a version alone.
        names = set(re.findall(rb"__nvJitLinkCreate(_1\d_\d)", pathlib.Path(path).read_bytes()))
        self.suffix = max(names).decode()

    def call(self, name, *arguments):
        status = self.library[f"__nvJitLink{name}{self.suffix}"](*arguments)
        if status:
            raise Failed(f"{name} {status}")

    def link(self, job):
        handle, kept = ctypes.c_void_p(), []
        options = (ctypes.c_char_p * len(job["options"]))(*[o.encode() for o in job["options"]])
        self.call("Create", ctypes.byref(handle), len(options), options)
        try:
            for kind, path in job["inputs"]:
                data = pathlib.Path(path).read_bytes()
                kept.append(data)       # 12.0 and 12.1 look at cubins until Complete
                self.call("AddData", handle, KINDS[kind], data, ctypes.c_size_t(len(data)),
                          pathlib.Path(path).name.encode())
            self.call("Complete", handle)
            size = ctypes.c_size_t()
            self.call(f"GetLinked{job['get']}Size", handle, ctypes.byref(size))
            data = ctypes.create_string_buffer(size.value + 1)
            self.call(f"GetLinked{job['get']}", handle, data)
            pathlib.Path(job["out"]).write_bytes(data.raw[:size.value])
        finally:
            self.call("Destroy", ctypes.byref(handle))


def main(path):
    linker = NvJitLink(path)
    for line in sys.stdin:
        try:
            linker.link(json.loads(line))
            print("ok", flush=True)
        except Failed as failed:
            print(failed, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
