# SPDX-License-Identifier: MIT
"""liblazycuda_link.so, as ctypes sees it: where it is, its structs, its functions.

The structs are those of lazycuda_link.h, field by field; tests/python compares sizes,
offsets and numbers with what a C compiler says.  Users of lazycuda.link need none of this.
"""
from __future__ import annotations

import ctypes
import os
import threading
from ctypes import (CFUNCTYPE, POINTER, c_char, c_char_p, c_int, c_size_t, c_ubyte, c_uint,
                    c_uint32, c_uint64, c_void_p)
from typing import Any, List, Optional

from . import paths

NO_INDEX = ctypes.c_size_t(-1).value
SONAME = "liblazycuda_link.so"
# Names a file, which is then the only one that is tried.
VARIABLE = "LAZYCUDA_LINK_LIBRARY"

Callback = CFUNCTYPE(None, c_void_p, c_void_p)
LogCallback = CFUNCTYPE(None, c_void_p, c_int, c_size_t, c_char_p)


class Given(ctypes.Structure):
    """A struct that is filled here.  ctypes cuts a number that its field cannot hold, and C
    a text at a NUL: those are refused."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        for name, value in values.items():
            if isinstance(value, (int, bytes)) and getattr(self, name) != value:
                what = "there is a NUL in" if isinstance(value, bytes) else "C cannot hold"
                raise ValueError(f"{what} {value!r}, the {name} of the {type(self).__name__}")


class Symbol(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("hash", c_uint32), ("defined", c_ubyte), ("weak", c_ubyte),
                ("kernel", c_ubyte), ("flags", c_ubyte)]


class Entry(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("arch", c_int), ("suffix", c_char), ("toolkit", c_int),
                ("isa", c_int), ("level", c_int), ("container", c_int), ("ir", c_int),
                ("debug", c_int), ("llvm", c_int), ("abi", c_int), ("flags", c_uint),
                ("error", c_char_p), ("member", c_char_p), ("section", c_char_p),
                ("fatbin", c_int), ("header", c_uint64), ("offset", c_uint64),
                ("length", c_uint64), ("unpacked", c_uint64), ("symbols", POINTER(Symbol)),
                ("symbol_count", c_size_t)]


class Inspection(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("name", c_char_p), ("error", c_char_p),
                ("warning", c_char_p), ("entries", POINTER(POINTER(Entry))),
                ("entry_count", c_size_t), ("fatbin_count", c_int), ("length", c_uint64)]


class Environment(Given):
    _fields_ = [("size", c_size_t), ("driver", c_int), ("branch", c_int), ("nvjitlink", c_int),
                ("nvrtc", c_int)]


class Others(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("nvjitlinks", POINTER(c_int)), ("nvjitlink_count", c_size_t),
                ("nvrtcs", POINTER(c_int)), ("nvrtc_count", c_size_t), ("nvvms", POINTER(c_int)),
                ("libdevices", POINTER(c_int)), ("nvvm_count", c_size_t),
                ("tileirases", POINTER(c_int)), ("tileiras_count", c_size_t)]


class Input(Given):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("name", c_char_p), ("bytes", c_void_p),
                ("length", c_size_t), ("path", c_char_p), ("flags", c_uint), ("needs", c_uint64),
                ("setup", Callback), ("teardown", Callback), ("data", c_void_p),
                ("inspection", POINTER(Inspection)), ("name_expressions", POINTER(c_char_p)),
                ("name_expression_count", c_size_t), ("include_names", POINTER(c_char_p)),
                ("headers", POINTER(c_char_p)), ("header_count", c_size_t)]


class Support(Given):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("enabled", c_int),
                ("functions", POINTER(c_char_p)), ("function_count", c_size_t),
                ("input", POINTER(Input))]


class Setting(Given):
    _fields_ = [("kind", c_int), ("value", c_int)]


class Request(Given):
    _fields_ = [("size", c_size_t), ("arch", c_char_p), ("lto", c_int), ("output", c_int),
                ("policy", c_int), ("flags", c_uint), ("options", POINTER(c_char_p)),
                ("option_count", c_size_t), ("compile_options", POINTER(c_char_p)),
                ("compile_option_count", c_size_t), ("symbols", POINTER(c_char_p)),
                ("symbol_count", c_size_t), ("support", POINTER(POINTER(Support))),
                ("support_count", c_size_t), ("constraint", c_char_p), ("device", c_int),
                ("unpack_limit", c_uint64), ("others", POINTER(Others)), ("time_limit", c_uint64),
                ("memory_limit", c_uint64), ("log", LogCallback), ("log_data", c_void_p),
                ("settings", POINTER(Setting)), ("setting_count", c_size_t)]


class Step(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("input", c_size_t), ("support", c_size_t), ("entry", c_size_t),
                ("form", c_int), ("kind", c_int), ("name", c_char_p), ("reason", c_char_p)]


class JitOption(ctypes.Structure):
    _fields_ = [("option", c_int), ("value", c_uint), ("name", c_char_p)]


class SymbolError(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("twice", c_int), ("input", c_size_t), ("other", c_size_t)]


class Plan(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("backend", c_int), ("code", c_int), ("rule", c_char_p),
                ("input", c_size_t), ("have", c_char_p), ("need", c_char_p),
                ("message", c_char_p), ("lto", c_int), ("options", POINTER(c_char_p)),
                ("option_count", c_size_t), ("jit_options", POINTER(JitOption)),
                ("jit_option_count", c_size_t), ("compile_options", POINTER(c_char_p)),
                ("compile_option_count", c_size_t), ("compile_to", c_int),
                ("steps", POINTER(POINTER(Step))), ("step_count", c_size_t),
                ("notes", POINTER(c_char_p)), ("note_count", c_size_t),
                ("nvjitlink", c_int), ("nvrtc", c_int), ("choice", c_char_p),
                ("symbol_errors", POINTER(POINTER(SymbolError))),
                ("symbol_error_count", c_size_t), ("nvvm", c_int),
                ("nvvm_options", POINTER(c_char_p)), ("nvvm_option_count", c_size_t),
                ("nvvm_to", c_int), ("arch", c_char_p), ("tileiras", c_int)]


class LoweredName(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("input", c_size_t), ("expression", c_char_p), ("name", c_char_p)]


class Result(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("code", c_int), ("message", c_char_p), ("input", c_size_t),
                ("plan", POINTER(Plan)), ("image", c_void_p), ("image_length", c_size_t),
                ("info_log", c_char_p), ("error_log", c_char_p), ("backend_call", c_char_p),
                ("backend_status", c_int), ("symbol_errors", POINTER(POINTER(SymbolError))),
                ("symbol_error_count", c_size_t),
                ("lowered_names", POINTER(POINTER(LoweredName))), ("lowered_name_count", c_size_t)]


class Component(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("path", c_char_p), ("version", c_int), ("fits", c_int),
                ("relation", c_char_p)]


class Components(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("library", c_char_p), ("version", c_int),
                ("list", POINTER(Component)), ("count", c_size_t)]


# Made once: an interpreter that imports ctypes later in this process empties the cache that
# ctypes.POINTER() and ctypes.pointer() look into, and would get other types.
TextPointer, NumberPointer = POINTER(c_char_p), POINTER(c_int)
InputPointer, SupportPointer, OthersPointer = POINTER(Input), POINTER(Support), POINTER(Others)
SupportPointers = POINTER(SupportPointer)

# The C struct that each stands for.
STRUCTS = {f"lazycuda_{name}": struct for name, struct in (
    ("symbol", Symbol), ("entry", Entry), ("inspection", Inspection),
    ("environment", Environment), ("others", Others), ("input", Input), ("support", Support),
    ("setting", Setting), ("request", Request),
    ("component", Component), ("components", Components), ("step", Step), ("jit_option", JitOption), ("plan", Plan), ("symbol_error", SymbolError),
    ("lowered_name", LoweredName), ("result", Result))}

# name: what it returns, what it takes
FUNCTIONS = {
    "lazycuda_components_free": (None, [POINTER(Components)]),
    "lazycuda_entry_fatbin": (c_void_p, [POINTER(Inspection), c_size_t, POINTER(c_size_t),
                                         POINTER(c_char_p)]),
    "lazycuda_entry_payload": (c_void_p, [POINTER(Inspection), c_size_t, c_int,
                                          POINTER(c_size_t), POINTER(c_char_p)]),
    "lazycuda_find_components": (POINTER(Components), [c_char_p]),
    "lazycuda_get_components": (POINTER(Components), []),
    "lazycuda_get_environment": (Environment, []),
    "lazycuda_get_others": (POINTER(Others), []),
    "lazycuda_inspect_input": (POINTER(Inspection), [POINTER(Input), c_uint, c_uint64]),
    "lazycuda_inspection_free": (None, [POINTER(Inspection)]),
    "lazycuda_link_add": (c_int, [c_void_p, POINTER(Input)]),
    "lazycuda_link_cancel": (c_int, [c_void_p]),
    "lazycuda_link_free": (None, [c_void_p]),
    "lazycuda_link_key": (c_char_p, [c_void_p]),
    "lazycuda_link_new": (c_void_p, [POINTER(Request), POINTER(Environment)]),
    "lazycuda_link_run": (POINTER(Result), [c_void_p]),
    "lazycuda_link_setup": (None, [c_void_p, c_void_p]),
    "lazycuda_plan": (POINTER(Plan), [POINTER(Environment), POINTER(Request),
                                      POINTER(POINTER(Input)), c_size_t]),
    "lazycuda_plan_here": (POINTER(Plan), [POINTER(Request), POINTER(POINTER(Input)), c_size_t]),
    "lazycuda_plan_free": (None, [POINTER(Plan)]),
    "lazycuda_read_driver": (c_int, [c_char_p, POINTER(c_int), POINTER(c_int)]),
}


class LibraryNotFound(OSError):
    """liblazycuda_link cannot be loaded; the message says which files were tried, what
    is wrong with each, and how to say where it is."""


def candidates() -> List[str]:
    """The files to try, in this order."""
    named = os.environ.get(VARIABLE)
    if named:
        return [named]
    beside = sorted(path for path in paths.libdir().glob(f"{SONAME}*") if path.is_file())
    # Without a folder it is looked for as every library is; a system's has a number.
    return [*map(str, beside[:1]), SONAME, f"{SONAME}.0"]


def _declare(opened: ctypes.CDLL) -> None:
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(opened, name)
        function.restype, function.argtypes = result, arguments


def _open() -> ctypes.CDLL:
    tried = []
    for name in candidates():
        try:
            opened = ctypes.CDLL(name)      # not PyDLL: calls let other threads run
            _declare(opened)
            return opened
        except OSError as error:
            tried.append(f"{name}: {error}")
        except AttributeError as error:
            tried.append(f"{name}: of another version of lazycuda: {error}")
    raise LibraryNotFound(
        f"{SONAME} cannot be loaded: {'; '.join(tried)}.  It is in lazycuda's wheel, and in what"
        f" `make install` makes; {VARIABLE} names another file")


_lock = threading.Lock()
_opened: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """The library, loaded once a process; raises LibraryNotFound."""
    global _opened
    with _lock:
        if _opened is None:
            _opened = _open()
        return _opened


def free(block: Optional[int]) -> None:
    """Frees what C's malloc() returned."""
    c_free = ctypes.CDLL(None).free
    c_free.argtypes, c_free.restype = [c_void_p], None
    c_free(block)
