# SPDX-License-Identifier: MIT
"""lazycuda_link.h for ctypes, written by tools/upkeep/abi.py: change neither, but the header."""
from ctypes import (CFUNCTYPE, POINTER, c_char, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint32,
                    c_uint64, c_void_p)

from .link_types import Number, Struct


class Kind(Number):
    """enum lazycuda_kind"""
    UNKNOWN = 0; PTX = 1; CUBIN = 2; LTOIR = 3; FATBIN = 4; OBJECT = 5; ARCHIVE = 6; SHARED = 7
    SOURCE = 8; THIN_ARCHIVE = 9; BITCODE = 10; OFFLOAD = 11; OPTIXIR = 12; TILEIR = 13; LLVMIR = 14
    BUNDLE = 15


class Policy(Number):
    """enum lazycuda_policy"""
    BEST_EFFORT = 0; STRICT = 1; OFF = 2


class Output(Number):
    """enum lazycuda_output"""
    CUBIN = 0; PTX = 1; RELOCATABLE = 2; LTOIR = 3


class SettingKind(Number):
    """enum lazycuda_setting_kind"""
    LINEINFO = 1; DEBUG = 2; OPTIMIZE = 3; MAX_REGISTERS = 4; FAST_MATH = 5; FTZ = 6; PREC_DIV = 7
    PREC_SQRT = 8; FMA = 9; FAST_COMPILE = 10; SPLIT_COMPILE = 11


class Log(Number):
    """enum lazycuda_log"""
    NOTE = 0; INFO = 1; ERROR = 2


class Code(Number):
    """enum lazycuda_code"""
    OK = 0; NO_INPUTS = 1; BAD_ARCH = 2; BAD_OPTION = 3; BAD_REQUEST = 4; BAD_INPUT = 10
    UNKNOWN_KIND = 11; UNSUPPORTED_KIND = 12; KIND_MISMATCH = 13; NO_DEVICE_CODE = 14
    NO_USABLE_ENTRY = 15; LINKED_CUBIN = 16; DUPLICATE_SYMBOL = 17; CANNOT_UNPACK = 18
    UNPACK_LIMIT = 19; PTX_TOO_NEW = 20; CUBIN_TOO_NEW = 21; LTOIR_TOO_NEW = 22; LTOIR_CROSS_MAJOR = 23
    ARCH_MISMATCH = 24; ARCH_UNSUPPORTED = 25; OPTION_UNSUPPORTED = 26; PTX_NEEDS_LTO = 27
    NO_BACKEND = 30; NVJITLINK_REQUIRED = 31; NVJITLINK_TOO_OLD = 32; NVRTC_REQUIRED = 33
    NVRTC_TOO_NEW = 34; CROSS_MAJOR = 35; LTOIR_ON_DRIVER = 36; DRIVER_TOO_OLD = 37; CONSTRAINT = 38
    INSUFFICIENT_METADATA = 39; NVVM_REQUIRED = 40; NVVM_TOO_NEW = 41; LIBDEVICE_REQUIRED = 42
    TILEIRAS_REQUIRED = 43; COMPILE_FAILED = 50; LINK_FAILED = 51; UNDEFINED_SYMBOL = 52; BAD_IMAGE = 53
    BACKEND_MISSING = 54; DRIVER_FAILED = 55; NO_MEMORY = 56; CRASHED = 60; TIME_LIMIT = 61
    MEMORY_LIMIT = 62; CANCELLED = 63; NO_CHILD = 64


class Backend(Number):
    """enum lazycuda_backend"""
    NONE = 0; NVJITLINK = 1; DRIVER = 2; NVRTC = 3; TILEIRAS = 4


class Form(Number):
    """enum lazycuda_form"""
    AS_IS = 0; UNPACKED = 1; FATBIN = 2; COMPILED = 3


class Outcome(Number):
    """enum lazycuda_outcome"""
    COMPATIBLE = 0; INCOMPATIBLE = 1; INSUFFICIENT_METADATA = 2; DRIVER_TOO_OLD = 3


class Flag:
    """Without LAZYCUDA_."""
    ENTRY_RELOCATABLE = 0x001; ENTRY_LINKED = 0x002; ENTRY_LZ4 = 0x004; ENTRY_ZSTD = 0x008
    ENTRY_OBFUSCATED = 0x010; ENTRY_DEBUG = 0x020; ENTRY_UNSEEN = 0x040; ENTRY_OVER_LIMIT = 0x080
    ENTRY_NOT_ASCII = 0x100; ENTRY_NO_ROOT = 0x200; ENTRY_LIBDEVICE = 0x400; ENTRY_NO_LAYOUT = 0x800
    ENTRY_LISTED = 0x1000; ENTRY_32_BIT = 0x2000; ENTRY_NO_DEBUG_INFO = 0x4000; SYMBOL_UNLISTED = 0x1
    SYMBOL_VARIABLE = 0x2; INSPECT_PAYLOADS = 0x1; INPUT_MAIN = 0x1; INPUT_LIBRARY = 0x2
    LINK_LTO_ACROSS_MAJORS = 0x1; LINK_OFFLINE = 0x2; LINK_FORWARD_COMPATIBLE = 0x4
    LINK_NO_SUPPORT = 0x8; LINK_IGNORE_NON_LTO = 0x10; LINK_IGNORE_TILE = 0x20; LINK_TILE_ONLY = 0x40
    LINK_ISOLATED = 0x100


class Symbol(Struct):
    _fields_ = [
        ("name", c_char_p), ("hash", c_uint32), ("defined", c_ubyte), ("weak", c_ubyte),
        ("kernel", c_ubyte), ("flags", c_ubyte)]


class Entry(Struct):
    _fields_ = [
        ("size", c_size_t), ("kind", c_int), ("arch", c_int), ("suffix", c_char), ("toolkit", c_int),
        ("isa", c_int), ("level", c_int), ("container", c_int), ("ir", c_int), ("debug", c_int),
        ("llvm", c_int), ("abi", c_int), ("flags", c_uint), ("error", c_char_p), ("member", c_char_p),
        ("section", c_char_p), ("fatbin", c_int), ("header", c_uint64), ("offset", c_uint64),
        ("length", c_uint64), ("unpacked", c_uint64), ("symbols", POINTER(Symbol)),
        ("symbol_count", c_size_t)]


class Inspection(Struct):
    _fields_ = [
        ("size", c_size_t), ("kind", c_int), ("name", c_char_p), ("error", c_char_p),
        ("warning", c_char_p), ("entries", POINTER(POINTER(Entry))), ("entry_count", c_size_t),
        ("fatbin_count", c_int), ("length", c_uint64)]


class Environment(Struct):
    _fields_ = [
        ("size", c_size_t), ("driver", c_int), ("branch", c_int), ("nvjitlink", c_int), ("nvrtc", c_int)]


class Others(Struct):
    _fields_ = [
        ("size", c_size_t), ("nvjitlinks", POINTER(c_int)), ("nvjitlink_count", c_size_t),
        ("nvrtcs", POINTER(c_int)), ("nvrtc_count", c_size_t), ("nvvms", POINTER(c_int)),
        ("libdevices", POINTER(c_int)), ("nvvm_count", c_size_t), ("tileirases", POINTER(c_int)),
        ("tileiras_count", c_size_t)]

InputSetup = CFUNCTYPE(None, c_void_p, c_void_p)

InputTeardown = CFUNCTYPE(None, c_void_p, c_void_p)


class Input(Struct):
    _fields_ = [
        ("size", c_size_t), ("kind", c_int), ("name", c_char_p), ("bytes", c_void_p),
        ("length", c_size_t), ("path", c_char_p), ("flags", c_uint), ("needs", c_uint64),
        ("setup", InputSetup), ("teardown", InputTeardown), ("data", c_void_p),
        ("inspection", POINTER(Inspection)), ("name_expressions", POINTER(c_char_p)),
        ("name_expression_count", c_size_t), ("include_names", POINTER(c_char_p)),
        ("headers", POINTER(c_char_p)), ("header_count", c_size_t)]


class Support(Struct):
    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("enabled", c_int), ("functions", POINTER(c_char_p)),
        ("function_count", c_size_t), ("input", POINTER(Input))]


class Setting(Struct):
    _fields_ = [
        ("kind", c_int), ("value", c_int)]

RequestLog = CFUNCTYPE(None, c_void_p, c_int, c_size_t, c_char_p)


class Request(Struct):
    _fields_ = [
        ("size", c_size_t), ("arch", c_char_p), ("lto", c_int), ("output", c_int), ("policy", c_int),
        ("flags", c_uint), ("options", POINTER(c_char_p)), ("option_count", c_size_t),
        ("compile_options", POINTER(c_char_p)), ("compile_option_count", c_size_t),
        ("symbols", POINTER(c_char_p)), ("symbol_count", c_size_t),
        ("support", POINTER(POINTER(Support))), ("support_count", c_size_t), ("constraint", c_char_p),
        ("device", c_int), ("unpack_limit", c_uint64), ("others", POINTER(Others)),
        ("time_limit", c_uint64), ("memory_limit", c_uint64), ("log", RequestLog),
        ("log_data", c_void_p), ("settings", POINTER(Setting)), ("setting_count", c_size_t)]


class Step(Struct):
    _fields_ = [
        ("size", c_size_t), ("input", c_size_t), ("support", c_size_t), ("entry", c_size_t),
        ("form", c_int), ("kind", c_int), ("name", c_char_p), ("reason", c_char_p)]


class JitOption(Struct):
    _fields_ = [
        ("option", c_int), ("value", c_uint), ("name", c_char_p)]


class SymbolError(Struct):
    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("twice", c_int), ("input", c_size_t),
        ("other", c_size_t)]


class Plan(Struct):
    _fields_ = [
        ("size", c_size_t), ("backend", c_int), ("code", c_int), ("rule", c_char_p), ("input", c_size_t),
        ("have", c_char_p), ("need", c_char_p), ("message", c_char_p), ("lto", c_int),
        ("options", POINTER(c_char_p)), ("option_count", c_size_t), ("jit_options", POINTER(JitOption)),
        ("jit_option_count", c_size_t), ("compile_options", POINTER(c_char_p)),
        ("compile_option_count", c_size_t), ("compile_to", c_int), ("steps", POINTER(POINTER(Step))),
        ("step_count", c_size_t), ("notes", POINTER(c_char_p)), ("note_count", c_size_t),
        ("nvjitlink", c_int), ("nvrtc", c_int), ("choice", c_char_p),
        ("symbol_errors", POINTER(POINTER(SymbolError))), ("symbol_error_count", c_size_t),
        ("nvvm", c_int), ("nvvm_options", POINTER(c_char_p)), ("nvvm_option_count", c_size_t),
        ("nvvm_to", c_int), ("arch", c_char_p), ("tileiras", c_int)]


class Combination(Struct):
    _fields_ = [
        ("size", c_size_t), ("driver", c_int), ("branch", c_int), ("cudart", c_int), ("nvrtc", c_int),
        ("nvjitlink", c_int), ("carries", c_int), ("policy", c_int), ("flags", c_uint),
        ("constraint", c_char_p)]


class Component(Struct):
    _fields_ = [
        ("name", c_char_p), ("path", c_char_p), ("version", c_int), ("fits", c_int),
        ("relation", c_char_p)]


class Components(Struct):
    _fields_ = [
        ("size", c_size_t), ("library", c_char_p), ("version", c_int), ("list", POINTER(Component)),
        ("count", c_size_t)]


class LoweredName(Struct):
    _fields_ = [
        ("size", c_size_t), ("input", c_size_t), ("expression", c_char_p), ("name", c_char_p)]


class Result(Struct):
    _fields_ = [
        ("size", c_size_t), ("code", c_int), ("message", c_char_p), ("input", c_size_t),
        ("plan", POINTER(Plan)), ("image", c_void_p), ("image_length", c_size_t), ("info_log", c_char_p),
        ("error_log", c_char_p), ("backend_call", c_char_p), ("backend_status", c_int),
        ("symbol_errors", POINTER(POINTER(SymbolError))), ("symbol_error_count", c_size_t),
        ("lowered_names", POINTER(POINTER(LoweredName))), ("lowered_name_count", c_size_t)]


# name: what it returns, what it takes
FUNCTIONS = {
    "lazycuda_kind_name": (c_char_p, [c_int]),
    "lazycuda_inspect": (POINTER(Inspection), [c_void_p, c_size_t, c_char_p, c_uint]),
    "lazycuda_inspect_file": (POINTER(Inspection), [c_char_p, c_uint]),
    "lazycuda_inspect_input": (POINTER(Inspection), [POINTER(Input), c_uint, c_uint64]),
    "lazycuda_inspection_free": (None, [POINTER(Inspection)]),
    "lazycuda_entry_payload": (c_void_p, [POINTER(Inspection), c_size_t, c_int, POINTER(c_size_t), POINTER(c_char_p)]),
    "lazycuda_entry_fatbin": (c_void_p, [POINTER(Inspection), c_size_t, POINTER(c_size_t), POINTER(c_char_p)]),
    "lazycuda_read_driver": (c_int, [c_char_p, POINTER(c_int), POINTER(c_int)]),
    "lazycuda_code_name": (c_char_p, [c_int]),
    "lazycuda_plan": (POINTER(Plan), [POINTER(Environment), POINTER(Request), POINTER(POINTER(Input)), c_size_t]),
    "lazycuda_plan_free": (None, [POINTER(Plan)]),
    "lazycuda_combine": (c_int, [POINTER(Combination), c_char_p, c_size_t]),
    "lazycuda_toolkit_version": (c_int, [c_char_p, c_char_p, c_size_t]),
    "lazycuda_find_components": (POINTER(Components), [c_char_p]),
    "lazycuda_components_free": (None, [POINTER(Components)]),
    "lazycuda_get_environment": (Environment, []), "lazycuda_get_components": (POINTER(Components), []),
    "lazycuda_get_others": (POINTER(Others), []),
    "lazycuda_plan_here": (POINTER(Plan), [POINTER(Request), POINTER(POINTER(Input)), c_size_t]),
    "lazycuda_link_new": (c_void_p, [POINTER(Request), POINTER(Environment)]),
    "lazycuda_link_add": (c_int, [c_void_p, POINTER(Input)]),
    "lazycuda_link_key": (c_char_p, [c_void_p]), "lazycuda_link_run": (POINTER(Result), [c_void_p]),
    "lazycuda_link_cancel": (c_int, [c_void_p]), "lazycuda_link_setup": (None, [c_void_p, c_void_p]),
    "lazycuda_link_teardown": (None, [c_void_p, c_void_p]), "lazycuda_link_free": (None, [c_void_p])}
