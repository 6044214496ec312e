# SPDX-License-Identifier: MIT
"""nvJitLink itself through ctypes: what the linkers of other packages call."""
import ctypes

KINDS = {"cubin": 1, "ptx": 2, "ltoir": 3, "fatbin": 4, "object": 5, "library": 6}


class Failed(Exception):
    def __init__(self, call, status, log):
        super().__init__(f"{call} {status}: {log}")
        self.call, self.status, self.log = call, status, log


class NvJitLink:
    def __init__(self, path, *options):
        self.library = ctypes.CDLL(path)
        self.handle = ctypes.c_void_p()
        self.kept = []
        words = (ctypes.c_char_p * len(options))(*(one.encode() for one in options))
        self._do("Create", ctypes.byref(self.handle), len(options), words)

    def _do(self, name, *arguments):
        # 12.0 to 12.2 have names with versions alone; none of those is used here.
        status = getattr(self.library, f"nvJitLink{name}")(*arguments)
        if status:
            raise Failed(f"nvJitLink{name}", status, self._get("ErrorLog").decode())

    def _get(self, what):
        size = ctypes.c_size_t()
        if getattr(self.library, f"nvJitLinkGet{what}Size")(self.handle, ctypes.byref(size)):
            return b""
        made = ctypes.create_string_buffer(size.value)
        assert not getattr(self.library, f"nvJitLinkGet{what}")(self.handle, made)
        return made.raw

    def add(self, kind, data, name):
        self.kept += [data, name.encode()]      # nvJitLink looks at them until Complete
        self._do("AddData", self.handle, KINDS[kind], data, ctypes.c_size_t(len(data)),
                 self.kept[-1])

    def linked(self, what="Cubin"):
        self._do("Complete", self.handle)
        return self._get(f"Linked{what}")
