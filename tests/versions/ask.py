# SPDX-License-Identifier: MIT
"""Asks the tables and rules about versions, which are in a library: `ask.py LIBRARY < QUESTIONS`

A question is a line of tab-separated fields, a function of Questions and its arguments; each gets a
line.
"""
import ctypes
import os
import sys
from ctypes import byref, c_char_p, c_int, c_void_p

from lazycuda import link_abi as abi

FATES = "taken dropped refused reserved unknown malformed".split()
OUTCOMES = "compatible", "incompatible", "insufficient metadata", "driver too old"


class Arch(ctypes.Structure):
    _fields_ = [("sm", c_int), ("suffix", ctypes.c_char), ("virtual", ctypes.c_bool)]


class Verdict(ctypes.Structure):
    _fields_ = [("fate", c_int), ("since", c_int), ("jit_option", c_int), ("jit_value", ctypes.c_uint),
                ("jit_name", c_char_p), ("why", c_char_p)]


c = ctypes.CDLL(sys.argv[1])
for name in ("lazycuda_combine", "lazycuda_toolkit_version", "lazycuda_find_components",
             "lazycuda_components_free"):
    getattr(c, name).restype, getattr(c, name).argtypes = abi.FUNCTIONS[name]
c.lk_version_text.restype = c.lk_arch_text.restype = c.lk_setting_read.restype = c_char_p
c.lk_arch_parse.restype = c.lk_arch_supported.restype = c.lk_arch_fits.restype = ctypes.c_bool
c.lk_version_parse.restype = ctypes.c_bool
c.lk_option_judge.restype, c.lc_arena_new.restype = Verdict, c_void_p
c.lk_setting_words.restype = ctypes.c_size_t


def arch_of(text):
    found = Arch()
    return found if c.lk_arch_parse(text.encode(), byref(found)) else None


class Questions:
    def parse(text):
        version = c_int(-2)
        return int(c.lk_version_parse(text.encode(), byref(version))), version.value

    def text(version):
        return c.lk_version_text(int(version), ctypes.create_string_buffer(64)).decode(),

    def isa(number):
        return c.lk_cuda_of_isa(int(number)),

    def newest_isa(version):
        return c.lk_isa_of_cuda(int(version)),

    def ltoir(container, ir):
        return c.lk_cuda_of_ltoir(int(container), int(ir)),

    def container(number):
        oldest, newest = c_int(), c_int()
        c.lk_cuda_range_of_container(int(number), byref(oldest), byref(newest))
        return oldest.value, newest.value

    def branch(number):
        return c.lk_cuda_of_branch(int(number)),

    def needed_branch(version):
        return c.lc_compatible_branch(int(version)),

    def constraint(version, text):
        """The answer, and where it is wrong."""
        start = ctypes.create_string_buffer(text.encode())
        wrong = c_void_p(ctypes.addressof(start))
        return c.lc_constraint_holds(start, int(version), byref(wrong)), wrong.value - ctypes.addressof(start)

    def arch(text):
        """Its name, and whether it is known."""
        found = arch_of(text)
        return (c.lk_arch_text(byref(found), ctypes.create_string_buffer(64)).decode(),
                c.lk_arch_known(byref(found))) if found else ("none",)

    def knows(tool, version, arch):
        """Whether it does, and since and until when."""
        of, tool = byref(arch_of(arch)), int(tool)
        return (int(c.lk_arch_supported(of, tool, int(version))), c.lk_arch_since(of, tool),
                c.lk_arch_until(of, tool))

    def fits(kind, code, target, linker):
        return int(c.lk_arch_fits(int(kind), byref(arch_of(code)), byref(arch_of(target)), int(linker))),

    def option(backend, version, option):
        said = c.lk_option_judge(option.encode(), int(backend), int(version))
        return "\t".join((FATES[said.fate], str(said.since), str(said.jit_option), str(said.jit_value),
                          *((one or b"-").decode() for one in (said.jit_name, said.why)))),

    def setting(tool, text):
        """Why it is none, or its first nvrtc and its words."""
        read, words, arena = abi.Setting(), (c_char_p * 4)(), c_void_p(c.lc_arena_new())
        why = c.lk_setting_read(text.encode(), byref(read))
        count = 0 if why else c.lk_setting_words(arena, byref(read), int(tool), words)
        said = [why.decode() if why else str(c.lk_setting_since(byref(read))),
                *(word.decode() for word in words[:count])]
        c.lc_arena_free(arena)
        return "\t".join(said),

    def combine(*words):
        *numbers, flags = map(int, words[:8])
        fields = "driver branch cudart nvrtc nvjitlink carries policy".split()
        question = abi.Combination(size=ctypes.sizeof(abi.Combination), **dict(zip(fields, numbers)),
                                   flags=flags, constraint=words[8].encode() if words[8:] else None)
        message = ctypes.create_string_buffer(1024)
        outcome = c.lazycuda_combine(byref(question), ctypes.cast(message, c_char_p), len(message))
        assert c.lazycuda_combine(byref(question), None, 0) == outcome
        return f"{OUTCOMES[outcome]}\t{message.value.decode()}",

    def toolkit(path):
        how = ctypes.create_string_buffer(1024)
        version = c.lazycuda_toolkit_version(os.fsencode(path), ctypes.cast(how, c_char_p), len(how))
        return f"{version}\t{os.fsdecode(how.value)}",

    def components(path):
        """The library's version, then five fields of each."""
        found = c.lazycuda_find_components(os.fsencode(path))
        made = found.contents
        said = [str(made.version)]
        for one in made.list[:made.count]:
            said += [one.name.decode(), os.fsdecode(one.path or b""), str(one.version), str(one.fits),
                     one.relation.decode()]
        c.lazycuda_components_free(found)
        return "\t".join(said),


for line in sys.stdin:
    name, *fields = line.rstrip("\n").split("\t")
    print(*getattr(Questions, name.replace("-", "_"))(*fields), flush=True)
