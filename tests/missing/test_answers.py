# SPDX-License-Identifier: MIT
"""With no library every function answers: a typed error, defined outputs, a text."""
import pytest

import build
import elf
import symbols
from fakes import answer, fake
from world import MISSING, probe

libraries = pytest.mark.parametrize("library", build.STUBBED)


def at(name, node):
    return f"{name}@{node}" if node else name


@libraries
def test_every_function_returns_its_typed_error(world, library):
    # Every name under every node; and the program is still there at the end.
    listed = symbols.read().libraries[library]
    result = {f.name: f.result for f in listed.functions}
    hooks = {f.name for f in listed.functions if f.hook}
    calls = [s for s in elf.exports(build.stub(library)) if s.node not in ("LAZYCUDA_1", None)
             and result[s.name] not in listed.structs]
    done = world.run(probe(), f"open:{build.stub(library)}",
                     *[f"call:{at(s.name, s.node)}" for s in calls])
    assert done.err == ""
    wrong = []
    for symbol, line in zip(calls, done.lines[1:]):
        name = symbol.name
        if name in hooks:
            continue
        wanted = MISSING[library] if result[name] == "i32" else 0
        if line != f'{{"call": "{name}", "value": {wanted}}}':
            wrong.append((symbol.node, line))
    assert wrong == []
    assert len(done.lines) == len(calls) + 1


SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
         "f32": 4, "f64": 8, "ptr": 8}


def size_of(listed, type_name, major):
    """The size a caller of this major knows; None if not all its versions agree."""
    if type_name in SIZES:
        return SIZES[type_name]
    sizes = {size for size, span, _ in listed.structs[type_name] if major in listed.majors(span)}
    return sizes.pop() if len(sizes) == 1 else None


def pointers(listed, function, major):
    """{argument register: bytes that a failing call zeroes} of a function's pointers; None
    where the order of registers is beyond this."""
    place, found = 0, {}
    for parameter in function.parameters:
        direction, _, type_name = parameter.rpartition(" ")
        if type_name == "?":
            return None
        size = size_of(listed, type_name, major) if direction in ("", "out") else 0
        if direction or type_name in SIZES:
            if size is None or (direction == "out" and place > 5):
                return None
            if (direction or type_name == "ptr") and place <= 5:
                found[place] = size if direction == "out" else 0
            place += bool(direction) or not type_name.startswith("f")
        elif size is None:
            return None
        else:
            place += (size + 7) // 8 if size <= 16 else 0
    return found


@pytest.mark.skipif(build.ARCH != "x86_64", reason="knows x86-64's registers")
@libraries
def test_every_output_is_zeroed_and_nothing_else(world, library):
    # A struct is zeroed to the size that the caller's major gives it, and no byte more: the
    # caller's memory may end there.  Inputs, and outputs whose size only the caller knows, are
    # left as they were.
    listed = symbols.read().libraries[library]
    calls = []
    for function in listed.functions:
        for node, major in listed.nodes():
            rows = {f.parameters for f in listed.functions
                    if f.name == function.name and major in listed.majors(f.range)}
            if major not in listed.majors(function.range) or function.hook or len(rows) != 1:
                continue
            wanted = pointers(listed, function, major)
            if wanted:
                calls.append((function.name, node, wanted))
    sizes = [size for _, _, wanted in calls for size in wanted.values()]
    zeroed, left = {"cudart": (600, 1800), "nvrtc": (50, 140), "nvJitLink": (80, 320),
                    "cuda": (350, 900), "nvml": (250, 560)}[library]
    assert sum(map(bool, sizes)) >= zeroed and sizes.count(0) >= left
    words = []
    for name, node, wanted in calls:
        words.append(f"out:{at(name, node)}:{max(wanted.values()) + 16}:"
                     + ":".join(map(str, sorted(wanted))))
    said = world.probe(f"stub:{library}", *words)[1:]
    wrong = []
    for (name, node, wanted), line in zip(calls, said):
        for place, text in zip(sorted(wanted), line["bytes"]):
            if text != "00" * wanted[place] + "a5" * (len(text) // 2 - wanted[place]):
                wrong.append((name, node, place, wanted[place], text[:64]))
    assert wrong == []
    assert len(said) == len(calls)


def test_the_outputs_that_programs_rely_on(world):
    # The few that real programs were broken by, without symbols.txt between.
    said = world.probe("stub:cudart", "stub:nvrtc", "stub:nvJitLink",
                       "out:cudaGetDeviceCount:4:0", "out:cudaMalloc:8:0",
                       "out:cudaGetDeviceProperties@libcudart.so.12:1040:0",
                       "out:cudaGetDeviceProperties_v2@libcudart.so.12:1040:0",
                       "out:cudaGetDeviceProperties@libcudart.so.13:1040:0",
                       "out:cudaPointerGetAttributes@libcudart.so.13:96:0",
                       "out:cudaPointerGetAttributes@libcudart.so.12:96:0",
                       "out:nvrtcVersion:4:0:1", "out:nvJitLinkCreate:8:0")[3:]
    assert [(line["value"], line["bytes"]) for line in said] == [
        (35, ["00" * 4]), (303, ["00" * 8]),
        (303, ["00" * 728 + "a5" * 312]), (303, ["00" * 1032 + "a5" * 8]),
        (303, ["00" * 1008 + "a5" * 32]),
        (303, ["00" * 88 + "a5" * 8]), (303, ["00" * 24 + "a5" * 72]),
        (11, ["00" * 4, "00" * 4]), (6, ["00" * 8])]


# Texts.

def test_every_error_of_every_version_has_its_name(world):
    listed = symbols.read().libraries["cudart"]
    names = {}
    for name, value, _ in listed.enumerators:
        names.setdefault(value, set()).add(name)
    assert len(names) > 100
    said = world.probe("stub:cudart", *[f"text:cudaGetErrorName:{value}" for value in names])[1:]
    assert not [(value, line["text"]) for value, line in zip(names, said)
                if line["text"] not in names[value]]


def test_every_error_of_nvrtc_has_a_text(world):
    listed = symbols.read().libraries["nvrtc"]
    said = world.probe("stub:nvrtc", *[f"text:nvrtcGetErrorString:{value}"
                                       for _, value, _ in listed.enumerators])[1:]
    assert all(line["text"] for line in said)
    assert not [(name, line["text"]) for (name, value, _), line in zip(listed.enumerators, said)
                if value != 11 and name not in line["text"]]


def test_nvJitLinkGetErrorLog_says_what_was_tried(world):
    folder = world.loader()
    said = world.probe("stub:nvJitLink", "call:nvJitLinkCreate", "out:nvJitLinkGetErrorLogSize:8:1",
                       "out:nvJitLinkGetErrorLog:8192:1", "status:nvJitLink")
    size = int.from_bytes(bytes.fromhex(said[2]["bytes"][0]), "little")
    log = bytes.fromhex(said[3]["bytes"][0])
    # The size counts the terminating zero, and nothing is written behind it.
    assert log.index(0) == size - 1 and set(log[size:]) == {0xa5}
    # It is the same for every call: somebody else may ask for the size.
    assert log[:size - 1].decode() == said[4]["reason"]
    assert str(folder) in said[4]["reason"]


# The five causes.

def test_nvjitlinks_newer_suffix_is_served_by_the_plain_name(world):
    # The symbol lookup error of __nvJitLinkComplete_12_4 on a library of 12.3 (pytorch#134929).
    world.loader(fake("nvJitLink", "12.3"))
    said = world.probe("stub:nvJitLink", "call:__nvJitLinkComplete_12_4",
                       "call:__nvJitLinkGetErrorLog_12_6")
    assert said[1]["value"] == answer("nvJitLink", "nvJitLinkComplete", "12.3")


def test_nvjitlink_12_0_has_only_suffixed_names(world):
    world.loader(fake("nvJitLink", "12.1"))
    said = world.probe("stub:nvJitLink", "call:nvJitLinkComplete@libnvJitLink.so.12",
                       "call:__nvJitLinkComplete_12_9", "call:__nvJitLinkComplete_12_0")
    highest = answer("nvJitLink", "__nvJitLinkComplete_12_1", "12.1")
    assert [line["value"] for line in said[1:3]] == [highest, highest]
    assert said[3]["value"] in (highest, answer("nvJitLink", "__nvJitLinkComplete_12_0", "12.1"))


def test_a_forwarded_call_does_not_clear_the_last_refusal(world):
    world.loader(fake("cudart", "13.5"))
    said = world.probe("stub:cudart", "call:cudaUnbindTexture", "call:cudaMalloc",
                       "error:cudart")
    assert said[3]["function"] == "cudaUnbindTexture"
