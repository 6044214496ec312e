# SPDX-License-Identifier: MIT
"""What calls of the driver's libraries come to, with a driver and without."""
import pytest

import build
import symbols
from fakes import answer, fake
from world import CALL, MISSING, probe

ABSENT = {"cuda": 500, "nvml": 13}
# Fakes do something of their own on these.
SPECIAL = {"cuDriverGetVersion", "nvmlSystemGetNVMLVersion", "cuGetProcAddress",
           "cuGetProcAddress_v2"}
driver_libraries = pytest.mark.parametrize("library", build.DRIVER)


def names(library):
    """Of all functions that return a status and are not answered by the stub."""
    return [f.name for f in symbols.read().libraries[library].functions
            if f.result == "i32" and not f.hook and f.name not in SPECIAL]


@driver_libraries
@pytest.mark.parametrize("version", ["11.7", "13.5"])
def test_every_function_is_forwarded_whatever_its_version(world, library, version):
    # Drivers keep what headers drop, and may have what these do not declare yet.
    every = {f.name for f in symbols.read().libraries[library].functions}
    world.loader(fake(library, version, names=every))
    said = world.probe(f"stub:{library}", *[f"call:{name}" for name in names(library)])[1:]
    wrong = [(name, line["value"]) for name, line in zip(names(library), said)
             if line["value"] != answer(library, name, version)]
    assert wrong == [] and len(said) > 400


@driver_libraries
def test_a_function_that_this_driver_has_not(world, library):
    folder = world.loader(fake(library, "12.0", without=[CALL[library]]))
    said = world.probe(f"stub:{library}", f"call:{CALL[library]}", f"error:{library}")
    assert said[1]["value"] == ABSENT[library]
    assert (said[2]["cause"], said[2]["function"]) == (2, CALL[library])
    assert str(folder) in said[2]["message"] and "a newer driver does" in said[2]["message"]


def text_of(world, function, value, *before, **options):
    program = build.program(build.TESTS / "driver" / "texts.c", build.import_library("cuda", 12))
    world.search(build.STUBS)
    return world.run(program, function, value, *before, **options).out.rstrip("\n")


def test_every_error_has_its_name_without_a_driver(world):
    listed = symbols.read().libraries["cuda"]
    found = {}
    for name, value, _ in listed.enumerators:
        found.setdefault(str(value), set()).add(name)
    assert len(found) > 90
    lines = text_of(world, "names", ",".join(found)).splitlines()
    assert not [(value, line) for value, line in zip(found, lines)
                if line not in {f"0 {name}" for name in found[value]}]


def test_an_error_that_does_not_exist_is_an_invalid_value(world):
    assert text_of(world, "names", "123456") == "1 NULL"
    assert text_of(world, "strings", "123456") == "1 NULL"


def test_the_text_of_34_says_what_was_tried(world):
    folder = world.loader()
    text = text_of(world, "strings", "34", "fail")
    assert text.startswith("0 cuInit: no usable libcuda.so.1 was found.")
    assert str(folder) in text and "NVIDIA driver" in text and "LAZYCUDA_CUDA=" in text


def test_with_a_driver_it_answers_itself(world):
    world.loader(fake("cuda", "12.4"))
    assert text_of(world, "names", "700") == "0 fake 12.4 says 700"
    assert text_of(world, "strings", "700") == "0 fake 12.4 says 700"


def test_nvmlErrorString_answers_without_a_driver(world):
    listed = symbols.read().libraries["nvml"]
    said = world.probe("stub:nvml", *[f"text:nvmlErrorString:{value}"
                                      for _, value, _ in listed.enumerators],
                       "text:nvmlErrorString:123456", "call:nvmlInit_v2",
                       "text:nvmlErrorString:12")[1:]
    assert not [(name, line["text"]) for (name, value, _), line in zip(listed.enumerators, said)
                if line["text"] != name and value != MISSING["nvml"]]
    assert said[-3]["text"] and "libnvidia-ml.so.1" in said[-1]["text"]


@pytest.mark.parametrize("call", ["out:cuGetProcAddress:8:1", "out:cuGetProcAddress_v2:8:1:4",
                                  "out:cuGetExportTable:8:0"])
def test_without_a_driver_there_are_no_functions_of_it(world, call):
    said = world.probe("stub:cuda", call)[1]
    assert said["value"] == 34 and said["bytes"][0] == "00" * 8


@pytest.mark.parametrize("name", ["cuGetProcAddress", "cuGetProcAddress_v2"])
def test_cuGetProcAddress_gives_the_drivers_own_functions(world, name):
    world.loader(fake("cuda", "12.4"))
    said = world.probe("stub:cuda", f"out:{name}:8:1")[1]
    assert said["value"] == 0 and said["bytes"][0] != "00" * 8


def test_what_a_nvml_struct_says_of_itself_is_left_alone(world):
    # Its first word is its version, which the caller fills in.
    said = world.probe("stub:nvml", "out:nvmlDeviceGetMemoryInfo_v2:64:1",
                       "out:nvmlDeviceGetMemoryInfo:64:1")[1:]
    assert [(line["value"], line["bytes"]) for line in said] == [
        (12, ["a5" * 64]), (12, ["00" * 24 + "a5" * 40])]


@driver_libraries
def test_nothing_is_printed(world, library):
    assert world.run(probe(), f"open:{build.stub(library)}", f"call:{CALL[library]}").err == ""
