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


@pytest.mark.parametrize("library, call", [
    ("cudart", "cudaMalloc"), ("nvrtc", "nvrtcCreateProgram"), ("nvJitLink", "nvJitLinkCreate")])
def test_null_outputs_are_left_alone(world, library, call):
    assert world.probe(f"stub:{library}", f"call:{call}")[1]["value"] == MISSING[library]


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


def test_errors_that_do_not_exist_have_a_text_too(world):
    said = world.probe("stub:cudart", "stub:nvrtc", "text:cudaGetErrorName:123456",
                       "text:cudaGetErrorString:-1", "text:nvrtcGetErrorString:4711")[2:]
    assert all(line["text"] for line in said)


def explains(text, library, folder):
    """It says what was tried and what to do."""
    packages = {"cudart": "nvidia-cuda-runtime", "nvrtc": "nvidia-cuda-nvrtc",
                "nvJitLink": "nvidia-nvjitlink"}
    assert packages[library] in text
    assert f"lib{library}.so" in text
    assert str(folder) in text
    return True


def test_cudaGetErrorString_says_what_was_tried(world):
    folder = world.loader()
    said = world.probe("stub:cudart", "call:cudaMalloc", "text:cudaGetErrorString:303",
                       "text:cudaGetErrorString:2")
    assert explains(said[2]["text"], "cudart", folder)
    assert "cudaMalloc" in said[2]["text"]
    assert said[3]["text"]


def test_nvrtcGetErrorString_says_what_was_tried(world):
    folder = world.loader()
    said = world.probe("stub:nvrtc", "call:nvrtcCreateProgram", "text:nvrtcGetErrorString:11")
    assert explains(said[2]["text"], "nvrtc", folder)


def test_nvJitLinkGetErrorLog_says_what_was_tried(world):
    folder = world.loader()
    program = build.program(build.TESTS / "missing" / "log.c", build.import_library("nvJitLink", 12))
    world.search(build.STUBS)
    said = world.run(program)
    sizes, text = said.out.split("\n", 1)
    # The size counts the terminating zero, and nothing is written behind it.
    assert sizes == f"6 0 {len(text.encode())} 0 intact"
    assert explains(text, "nvJitLink", folder)


def test_a_log_is_no_longer_than_its_size(world):
    program = build.program(build.TESTS / "missing" / "sizes.c", "-pthread",
                            build.import_library("nvJitLink", 13))
    world.search(build.STUBS)
    assert world.run(program).out == ""


def test_the_strings_stay_what_they_were(world):
    program = build.program(build.TESTS / "missing" / "strings.c", build.import_library("cudart", 12))
    world.search(build.STUBS)
    assert world.run(program, fake("cudart", "12.9")).out == "same\n"


@pytest.mark.parametrize("library, call", [
    ("cudart", "cudaMalloc"), ("nvrtc", "nvrtcCreateProgram"), ("nvJitLink", "nvJitLinkCreate")])
def test_lazycuda_h_says_it_too(world, library, call):
    folder = world.loader()
    *_, error, status = world.probe(f"stub:{library}", f"call:{call}", f"error:{library}",
                                    f"status:{library}")
    assert (error["cause"], error["status"], error["library"], error["function"]) == (
        1, MISSING[library], library, call)
    assert (status["state"], status["cause"], status["path"], status["version"]) == (
        "missing", 1, None, None)
    assert explains(status["reason"], library, folder)
    assert explains(error["message"], library, folder)


# The five causes.

def test_a_symbol_that_this_version_has_not(world):
    # Only the path of the file that was loaded tells the user which CUDA lacks the name.
    folder = world.loader(fake("cudart", "12.0"))
    said = world.probe("stub:cudart", "call:cudaLibraryLoadData@libcudart.so.12", "error:cudart",
                       "text:cudaGetErrorString:302", "status:cudart")
    assert said[1]["value"] == 302
    assert (said[2]["cause"], said[2]["function"]) == (2, "cudaLibraryLoadData")
    for text in (said[2]["message"], said[3]["text"]):
        assert str(folder / "libcudart.so.12") in text and "12.0" in text
        assert "cudaLibraryLoadData" in text
    assert (said[4]["state"], said[4]["cause"]) == ("usable", 0)


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


# Compiled for 13 and called with a location of no known type, which CUDA 11
# cannot express.
DIFFERS = "call:cudaMemAdvise@libcudart.so.13"


def test_an_interface_that_differs(world):
    folder = world.loader(fake("cudart", "11.8"))
    world.record()
    said = world.probe("stub:cudart", DIFFERS, "error:cudart", "text:cudaGetErrorString:801")
    assert said[1]["value"] == 801
    assert (said[2]["cause"], said[2]["function"]) == (3, "cudaMemAdvise")
    for text in (said[2]["message"], said[3]["text"]):
        assert "cudaMemAdvise" in text
        assert str(folder / "libcudart.so.11.0") in text and "11.8" in text
    assert "cudaMemAdvise" not in {name for _, _, name, _, _ in world.log()}


def test_the_causes_have_different_texts(world):
    world.loader(fake("cudart", "11.8"))
    said = world.probe("stub:cudart", "stub:nvrtc", DIFFERS, "error:cudart",
                       "call:cudaLibraryUnload", "error:cudart",
                       "call:nvrtcDestroyProgram", "error:nvrtc")
    messages = [line["message"] for line in said if "message" in line]
    causes = [line["cause"] for line in said if "message" in line]
    assert causes == [3, 2, 1] and len(set(messages)) == len(messages)


def test_a_forwarded_call_does_not_clear_the_last_refusal(world):
    world.loader(fake("cudart", "13.5"))
    said = world.probe("stub:cudart", "call:cudaUnbindTexture", "call:cudaMalloc",
                       "error:cudart")
    assert said[3]["function"] == "cudaUnbindTexture"


def test_no_refusal_yet(world):
    world.loader(fake("cudart", "13.5"))
    assert world.probe("stub:cudart", "call:cudaMalloc", "error:cudart")[2]["cause"] == 0
