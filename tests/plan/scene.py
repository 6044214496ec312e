# SPDX-License-Identifier: MIT
"""Questions to lazycuda_plan(), from words:

    driver=12.4 branch=550 nvjitlink=12.9 nvrtc=none    what is installed
    nvjitlinks=13.0,12.4 nvrtcs=13.0                    what is installed besides
    nvvms=13.0,12.9 libdevices=13.0,none                and for LLVM IR
    arch=sm_90 lto output=ptx policy=strict             the request
    flags=across,offline,forward constraint=>=12 option=-g compile=-DX=1
    support=NAME:on:FUNCTION,FUNCTION:CODE              a support module, or :off:
    in=NAME:CODE                                        an input

CODE is entries with '/' between them, those in braces in one container, words of an entry with ' '
between: "{ptx 8.0 sm_52/lto 12.0 sm_61 obfuscated}".  The first word of an entry is its kind, then
come version ("?": not known) and architecture, then any of FLAGS and SYMBOLS (def=NAME), bytes (LTO-IR
tells its toolkit by its bytes alone), damaged, and a field's value: abi=8, level=2, member=m.o,
section=.nv_fatbin.  Before the entries, words of the file with a '+': +main; +needs=0; +is=archive;
(its kind, where the entries do not say) +declared=cubin; +error=TEXT; +warning=TEXT; +unseen; (it was
not inspected).  LLVM IR is "+is=llvm ir;", or with an entry "+is=llvm ir;ptx ? sm_80 libdevice", of
which flags and names count.

    scene.py            answers questions, a list of words in a line of JSON each, with plans
    scene.py sealed WORD...     ends with what pure.c, preloaded, says
    scene.py starved WORD...    says how many allocations planning takes, of which each may fail
"""
import ctypes
import json
import re
import sys

from lazycuda import link_abi as abi
from lazycuda.link_abi import Flag, Kind, NO_INDEX
from lazycuda.link_library import library

# What the versions of LTO-IR are, as measured: container, IR.
LTOIR = {
    11070: (1054, 2047), 11080: (1054, 2048), 12000: (1057, 2051), 12010: (1057, 2053),
    12020: (1059, 2058), 12030: (1060, 2063), 12040: (1061, 2071), 12050: (1061, 2083),
    12060: (1062, 2084), 12080: (1064, 2089), 12090: (1064, 2093), 13000: (1065, 2098),
    13010: (1066, 2107), 13020: (1066, 2114), 13030: (1067, 2115), 13040: (1067, 2120),
    13050: (1067, 2131)}
# What each sets.
FLAGS = {"linked": Flag.ENTRY_LINKED, "plain": 0, "lz4": Flag.ENTRY_LZ4, "zstd": Flag.ENTRY_ZSTD,
         "libdevice": Flag.ENTRY_LIBDEVICE, "no-layout": Flag.ENTRY_NO_LAYOUT,
         "listed": Flag.ENTRY_LISTED, "32-bit": Flag.ENTRY_32_BIT, "unseen": Flag.ENTRY_UNSEEN,
         "obfuscated": Flag.ENTRY_OBFUSCATED | Flag.ENTRY_UNSEEN | Flag.ENTRY_ZSTD}
NOT_RELOCATABLE = "linked", "plain", "unseen"
SYMBOLS = {"def": {"defined": 1}, "kernel": {"defined": 1, "kernel": 1},
           "weak-kernel": {"defined": 1, "weak": 1, "kernel": 1}, "weak": {"defined": 1, "weak": 1},
           "unlisted": {"defined": 1, "flags": Flag.SYMBOL_UNLISTED}, "ext": {}}
ASKED = {"across": Flag.LINK_LTO_ACROSS_MAJORS, "offline": Flag.LINK_OFFLINE,
         "forward": Flag.LINK_FORWARD_COMPATIBLE, "isolated": Flag.LINK_ISOLATED,
         "support": Flag.LINK_NO_SUPPORT, "ignore": Flag.LINK_IGNORE_NON_LTO, "wrong": 0x800}


def made(struct, **values):
    return struct(size=ctypes.sizeof(struct), **values)


def array(of, values):
    return (of * len(values))(*values)


def pointers(structs):
    return array(ctypes.POINTER(type(structs[0])), [ctypes.pointer(one) for one in structs]) if structs else None


def version(text):
    if text in ("none", "unknown"):
        return 0 if text == "none" else -1
    major, _, minor = text.partition(".")
    return 1000 * int(major) + 10 * int(minor or 0)


def kind(name):
    return Kind.LTOIR if name == "lto" else next(
        one for one in Kind if library().lazycuda_kind_name(one) == name.encode())


def symbol(name, **what):
    hashed = 2166136261
    for one in name.encode():
        hashed = (hashed ^ one) * 16777619 % 2**32
    return abi.Symbol(name=name.encode(), hash=hashed, **what)


def entry(text, fatbin):
    of, number, arch, *words = [*text.split(), "?", "sm_0"][:max(3, len(text.split()))]
    one = made(abi.Entry, kind=kind(of), fatbin=fatbin, level=-1, flags=Flag.ENTRY_RELOCATABLE)
    number = 0 if number == "?" else version(number)
    if one.kind == Kind.PTX:
        one.isa = number // 1000 * 10 + number % 1000 // 10
    else:
        one.toolkit = number
    if one.kind == Kind.LTOIR:
        one.container, one.ir = LTOIR.get(number, (0, 0))
    if one.kind == Kind.CUBIN and number:
        one.abi = 8 if number >= 13000 else 7
    digits, suffix = re.fullmatch(r"sm_(\d+)(.?)", arch).groups()
    one.arch, one.suffix = int(digits), suffix.encode() or b"\0"
    symbols = []
    for word in words:
        name, _, value = word.partition("=")
        if name in FLAGS:
            one.flags = (one.flags | FLAGS[name]) & ~(Flag.ENTRY_RELOCATABLE * (name in NOT_RELOCATABLE))
            if name in ("obfuscated", "unseen"):
                one.toolkit = one.ir = 0
        elif name in SYMBOLS:
            symbols.append(symbol(value, **SYMBOLS[name]))
        elif name == "bytes":
            one.toolkit = 0
        elif name == "damaged":
            one.error = b"ends inside its header (0x20)"
        elif name in ("member", "section"):
            setattr(one, name, value.encode())
        else:
            assert name in ("abi", "level", "ir", "container"), word
            setattr(one, name, int(value))
    one.symbols, one.symbol_count = array(abi.Symbol, symbols), len(symbols)
    return one


def source_input(name, text):
    """An input, of which the entries say what kind it is if nothing else does."""
    one, seen = made(abi.Input, name=name.encode() or None), made(abi.Inspection)
    one.inspection = ctypes.pointer(seen)
    while text.startswith("+"):
        word, text = text[1:].split(";", 1)
        what, _, value = word.partition("=")
        if what == "main":
            one.flags = Flag.INPUT_MAIN
        elif what == "unseen":
            one.inspection = None
        elif what == "needs":
            one.needs |= 1 << int(value)
        elif what == "is":
            seen.kind = kind(value)
        elif what == "declared":
            one.kind = kind(value)
        else:
            assert what in ("error", "warning"), word
            setattr(seen, what, value.encode())
    entries, fatbin = [], -1
    for piece in text.split("/") if text != "source" else ():
        if piece.startswith("{"):
            fatbin, seen.fatbin_count = seen.fatbin_count, seen.fatbin_count + 1
        if piece.strip("{}"):
            entries.append(entry(piece.strip("{}"), fatbin))
        if piece.endswith("}"):
            fatbin = -1
    seen.entries, seen.entry_count = pointers(entries), len(entries)
    seen.kind = seen.kind or (
        Kind.SOURCE if text == "source" else Kind.FATBIN if seen.fatbin_count else
        Kind.ARCHIVE if entries[1:] else entries[0].kind if entries else Kind.UNKNOWN)
    return one


def support(text):
    name, state, functions, code = text.split(":", 3)
    names = [one.encode() for one in functions.split(",") if one]
    given = source_input(name, code) if code else None
    return made(abi.Support, name=name.encode(), enabled=state == "on",
                functions=array(ctypes.c_char_p, names), function_count=len(names),
                input=given and ctypes.pointer(given))


class Scene:
    def __init__(self, words):
        self.environment = made(abi.Environment)
        self.request = made(abi.Request, arch=b"sm_90")
        self.others = made(abi.Others)
        inputs, more, options, compiled = [], [], [], []
        for word in words:
            name, _, value = word.partition("=")
            if name == "lto":
                self.request.lto = 1
            elif name == "branch":
                self.environment.branch = int(value)
            elif name == "no_device":
                self.environment.no_device = 1
            elif name in ("driver", "nvjitlink", "nvrtc"):
                setattr(self.environment, name, version(value))
            elif name in ("nvjitlinks", "nvrtcs", "nvvms", "libdevices"):
                listed = [version(one) for one in value.split(",")]
                setattr(self.others, name, array(ctypes.c_int, listed))
                if name != "libdevices":
                    setattr(self.others, f"{name[:-1]}_count", len(listed))
            elif name in ("arch", "constraint"):
                setattr(self.request, name, value.encode())
            elif name in ("output", "policy"):
                known = getattr(abi, name.title()).__members__
                setattr(self.request, name, known[value.upper()] if value.upper() in known else int(value))
            elif name == "flags":
                self.request.flags = sum(ASKED[one] for one in value.split(","))
            elif name == "support":
                more.append(support(value))
            elif name == "in":
                inputs.append(source_input(*value.split(":", 1)))
            else:
                {"option": options, "compile": compiled}[name].append(value.encode())
        self.request.options, self.request.option_count = array(ctypes.c_char_p, options), len(options)
        self.request.compile_options = array(ctypes.c_char_p, compiled)
        self.request.compile_option_count = len(compiled)
        self.request.support, self.request.support_count = pointers(more), len(more)
        self.request.others = ctypes.pointer(self.others)
        self.asked = (ctypes.byref(self.environment), ctypes.byref(self.request), pointers(inputs),
                      ctypes.c_size_t(len(inputs)))

    def plan(self):
        plan = library().lazycuda_plan(*self.asked)
        try:
            return told(plan.contents)
        finally:
            library().lazycuda_plan_free(plan)


def told(plan):
    """What the tests look at, in texts."""
    def texts(of):
        return [one.decode() for one in getattr(plan, f"{of}s")[:getattr(plan, f"{of}_count")]]

    def index(number):
        return None if number == NO_INDEX else str(number)

    def name(of):
        return library().lazycuda_kind_name(of).decode()

    steps = [one.contents for one in plan.steps[:plan.step_count]]
    errors = [one.contents for one in plan.symbol_errors[:plan.symbol_error_count]]
    assert all(one.size == ctypes.sizeof(one) for one in [*steps, *errors])
    return {
        **{field: None if value is None else value.decode()
           for field in ("rule", "arch", "have", "need", "message", "choice")
           for value in [getattr(plan, field)]},
        "decision": "refused" if not plan.backend else abi.Backend(plan.backend).name.lower(),
        "code": library().lazycuda_code_name(plan.code).decode(), "input": index(plan.input),
        "lto": str(plan.lto), "nvjitlink": str(plan.nvjitlink), "nvrtc": str(plan.nvrtc),
        "nvvm": str(plan.nvvm) if plan.nvvm else None,
        "compile_to": name(plan.compile_to) if plan.compile_to else None,
        "options": texts("option"), "compile": texts("compile_option"), "ir": texts("nvvm_option"),
        "notes": texts("note"),
        "jit": [f"{one.name.decode()} {one.option} {one.value}"
                for one in plan.jit_options[:plan.jit_option_count]],
        "steps": [" ".join((f"support {one.support}" if one.input == NO_INDEX else f"input {one.input}",
                            "whole" if one.entry == NO_INDEX else f"entry {one.entry}", name(one.kind),
                            abi.Form(one.form).name.lower())) for one in steps],
        "names": [one.name.decode() for one in steps], "reasons": [one.reason.decode() for one in steps]}


def main(way="", *words):
    asked = Scene(words).asked
    if way == "sealed":
        sys.exit(ctypes.CDLL(None).sealed(*asked))
    if way == "starved":
        from starving import starve     # which is preloaded, too
        print(starve(library().lazycuda_plan, library().lazycuda_plan_free,
                     *(ctypes.cast(one, ctypes.c_void_p).value for one in asked[:3]), asked[3].value))
        return
    for line in sys.stdin:
        print(json.dumps(Scene(json.loads(line)).plan()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
