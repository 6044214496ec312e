# SPDX-License-Identifier: MIT
"""Calls functions by the version node that their names have for one major:

    versioned.py text STUB NODE FUNCTION STATUS...
    versioned.py handles LIBRARY NODE SIZE

The first calls a function that writes a text for a status: for each status a line with what it
returned, and the text.  The second has a real libcublasLt, or its stub, make and free what it does,
and take what the caller has made, of which that major says SIZE: each line has the name of an
object and the status of each call.  No call needs a GPU.
"""
import ctypes
import sys

FIND = ctypes.CDLL(None).dlvsym
FIND.restype, FIND.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


def caller(file, node):
    """call(NAME, ...)"""
    library = ctypes.CDLL(file)

    def call(name, *arguments):
        found = FIND(library._handle, name.encode(), node.encode())
        assert found, f"{name}: there is none of {node}"
        return ctypes.CFUNCTYPE(ctypes.c_int)(found)(*arguments)
    return call


def text(call, name, *statuses):
    for status in map(int, statuses):
        said = ctypes.c_char_p(b"nothing")
        print(call(name, status, ctypes.byref(said)), said.value.decode())
        call(name, status, None)


def handles(call, size):
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


if __name__ == "__main__":
    what, file, node, *words = sys.argv[1:]
    {"text": text, "handles": handles}[what](caller(file, node), *words)
