# SPDX-License-Identifier: MIT
"""Requests and inputs that make no sense, and those of older callers; prints what is not as it should
be, and how many are."""
import ctypes

from lazycuda import link_abi as abi
from lazycuda.link_library import library

PTX = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n\0"
ENDLESS = 2**64 - 1
SETTING = abi.SettingKind
ENVIRONMENT = abi.Environment(size=ctypes.sizeof(abi.Environment), nvjitlink=13000)
NONE, NULL = ctypes.POINTER(abi.Support)(), ctypes.POINTER(abi.Input)()


def texts(*given):
    return (ctypes.c_char_p * len(given))(*given)


def settings(*given):
    made = (abi.Setting * len(given))(*(abi.Setting(kind=kind, value=value) for kind, value in given))
    return {"settings": made, "setting_count": len(given)}


def request(**unusual):
    return abi.Request(**{"size": ctypes.sizeof(abi.Request), "arch": b"sm_80", **unusual})


def given(**unusual):
    data = ctypes.cast(PTX, ctypes.c_void_p).value
    return abi.Input(**{"size": ctypes.sizeof(abi.Input), "bytes": data, "length": len(PTX), **unusual})


def source(**unusual):
    """Of which nothing is compiled here."""
    return given(kind=abi.Kind.SOURCE, **unusual)


def older():
    """By a caller that knows less of the struct: what is behind is not looked at."""
    made = given(size=abi.Input.needs.offset)
    ctypes.memset(ctypes.addressof(made) + made.size, 0xa5, ctypes.sizeof(made) - made.size)
    return made


class Newer(ctypes.Structure):
    _fields_ = [("known", abi.Input), ("added", ctypes.c_long)]


NEWER = Newer(given(size=ctypes.sizeof(Newer)), 1)
# What lazycuda_link_add() says, and lazycuda_link_run() after it.
NO_SENSE, DAMAGED = "BAD_REQUEST and BAD_REQUEST", "BAD_INPUT and BAD_INPUT"
X, SAME = texts(b"x", None), texts(b"x", b"y", b"x")
TABLE = [
    ("no request", None, given(), "BAD_REQUEST"),
    ("a request without a size", request(size=0), given(), "BAD_REQUEST"),
    ("a size that ends within a field", request(size=abi.Request.arch.offset + 4), given(), "BAD_REQUEST"),
    ("no input", request(), None, "NO_INPUTS"),
    ("support that is not there", request(support_count=1), given(), "BAD_REQUEST"),
    ("endless support", request(support=ctypes.pointer(NONE), support_count=ENDLESS), given(), "BAD_REQUEST"),
    # Without options, which has to be told from an array of none.
    ("a setting alone", request(**settings((SETTING.FMA, 0))), given(), "OK"),
    ("an older caller", request(size=abi.Request.options.offset, option_count=5), older(), "OK"),
    ("a limit of a link that is not isolated", request(time_limit=1), given(), "BAD_REQUEST"),
    ("a setting that is there twice", request(**settings((SETTING.DEBUG, 1), (SETTING.DEBUG, 0))), given(),
     "BAD_OPTION"),
    ("a setting that is none", request(**settings((99, 1))), given(), "BAD_OPTION"),
    ("headers of what turns out to be PTX", request(), given(header_count=1, headers=X, include_names=X),
     "BAD_REQUEST"),
    ("NULL", request(), NULL, NO_SENSE),
    ("an input without a size", request(), given(size=0), NO_SENSE),
    ("a newer caller's field", request(), NEWER.known, NO_SENSE),
    ("neither bytes nor a path", request(), given(bytes=None, length=0), DAMAGED),
    ("a length without bytes", request(), given(bytes=None), DAMAGED),
    ("bytes that are none", request(), source(length=0), DAMAGED),
    ("a kind that does not exist", request(), given(kind=99), NO_SENSE),
    # What would be left out without a word.
    ("a flag of an input that does not exist", request(), given(flags=4), NO_SENSE),
    ("bytes and a path", request(), given(path=b"k.ptx"), NO_SENSE),
    ("the need of a module that the request lacks", request(), given(needs=1), NO_SENSE),
    ("headers of PTX", request(), given(kind=abi.Kind.PTX, header_count=1), NO_SENSE),
    ("a name expression of PTX", request(), given(kind=abi.Kind.PTX, name_expression_count=1), NO_SENSE),
    ("a name expression that is NULL", request(), source(name_expressions=X, name_expression_count=2), NO_SENSE),
    ("a header without a text", request(), source(header_count=1, include_names=X), NO_SENSE),
    ("a header that is there twice", request(), source(headers=SAME, include_names=SAME, header_count=3),
     NO_SENSE),
    ("endless headers", request(), source(headers=X, include_names=X, header_count=ENDLESS), NO_SENSE),
]


def planned(c, request, one):
    """What a plan says of it."""
    if one:
        one.inspection = c.lazycuda_inspect_input(one, 0, 0)
    return c.lazycuda_plan(ENVIRONMENT, request, ctypes.pointer(ctypes.pointer(one) if one else NULL),
                           1).contents.message


def linked(c, request, one):
    link = c.lazycuda_link_new(request, ENVIRONMENT)
    code = 0 if one is None else c.lazycuda_link_add(link, one)
    assert not code or (c.lazycuda_link_add(link, given()) == 0 and not c.lazycuda_link_key(link))
    result = c.lazycuda_link_run(link).contents
    codes = [code, result.code] if code else [result.code]
    assert not code or (result.input == 0 and result.message == planned(c, request, one)), result.message
    used_up = c.lazycuda_link_add(link, given())
    c.lazycuda_link_setup(link, None)
    c.lazycuda_link_teardown(link, None)
    c.lazycuda_link_free(link)
    assert used_up == abi.Code.BAD_REQUEST
    return " and ".join(c.lazycuda_code_name(code).decode() for code in codes)


def without_link(c):
    """What lazycuda_link_new() returns when memory ran out."""
    result = c.lazycuda_link_run(None).contents
    assert c.lazycuda_link_add(None, given()) == result.code == abi.Code.NO_MEMORY
    assert result.message == b"memory ran out" and not c.lazycuda_link_key(None)
    c.lazycuda_link_setup(None, None)
    c.lazycuda_link_teardown(None, None)
    c.lazycuda_link_free(None)
    assert c.lazycuda_link_cancel(None) == -1


if __name__ == "__main__":
    right = 0
    for what, asked, one, wanted in TABLE:
        said = linked(library(), asked, one)
        right += said == wanted
        if said != wanted:
            print(f"{what}: {said}")
    without_link(library())
    print(right)
