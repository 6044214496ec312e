# SPDX-License-Identifier: MIT
"""What calls of the driver's libraries come to, with a driver and without."""
import sys

import pytest

import build
import symbols
from fakes import answer, fake
from world import CALL, MISSING

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


@pytest.mark.parametrize("name", ["cuMemcpyHtoD_v2_ptds", "cuLaunchKernel_ptsz"])
def test_the_default_stream_of_a_thread_has_names_of_its_own(world, name):
    plain = name.rpartition("_")[0]
    world.loader(fake("cuda", "12.9"))
    said = world.probe("stub:cuda", f"call:{name}", f"call:{plain}")[1:]
    assert [line["value"] for line in said] == [
        answer("cuda", function, "12.9") for function in (name, plain)]


def test_the_drivers_own_tables_are_handed_on(world):
    world.loader(fake("cuda", "12.9"))
    said = world.probe("stub:cuda", "call:cuGetExportTable")[1]
    assert said["value"] == answer("cuda", "cuGetExportTable", "12.9")


@driver_libraries
def test_a_function_that_this_driver_has_not(world, library):
    folder = world.loader(fake(library, "12.0", without=[CALL[library]]))
    said = world.probe(f"stub:{library}", f"call:{CALL[library]}", f"error:{library}")
    assert said[1]["value"] == ABSENT[library]
    assert (said[2]["cause"], said[2]["function"]) == (2, CALL[library])
    assert str(folder) in said[2]["message"] and "a newer driver does" in said[2]["message"]


# What the driver's stub calls its results, one a line; with more words a call fails first.
TEXTS = """
import ctypes, sys
stub, function, values, *fails = sys.argv[1:]
library = ctypes.CDLL(stub)
if fails:
    library.cuInit(0)
for value in map(int, values.split(",")):
    text = ctypes.c_char_p(b"untouched")
    print(library[function](value, ctypes.byref(text)), (text.value or b"NULL").decode())
"""


def text_of(world, function, *words):
    return world.run(sys.executable, "-c", TEXTS, build.stub("cuda"), function, *words).out.rstrip("\n")


def test_every_error_has_its_name_without_a_driver(world):
    listed = symbols.read().libraries["cuda"]
    found = {}
    for name, value, _ in listed.enumerators:
        found.setdefault(str(value), set()).add(name)
    assert len(found) > 90
    lines = text_of(world, "cuGetErrorName", ",".join(found)).splitlines()
    assert not [(value, line) for value, line in zip(found, lines)
                if line not in {f"0 {name}" for name in found[value]}]


def test_the_text_of_34_says_what_was_tried(world):
    folder = world.loader()
    text = text_of(world, "cuGetErrorString", "34", "fail")
    assert text.startswith("0 cuInit: no usable libcuda.so.1 was found.")
    assert str(folder) in text and "NVIDIA driver" in text and "LAZYCUDA_CUDA=" in text


def test_with_a_driver_it_answers_itself(world):
    world.loader(fake("cuda", "12.4"))
    assert text_of(world, "cuGetErrorName", "700") == "0 fake 12.4 says 700"
    assert text_of(world, "cuGetErrorString", "700") == "0 fake 12.4 says 700"


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


# What headers and their comments say of single parameters, without symbols.txt between.

@pytest.mark.parametrize("call, zeroed", [
    # Asked with no array, a count is an output alone.
    ("cuGraphGetNodes:16:2", 8), ("cuDevSmResourceSplitByCount:16:1", 4),
    ("cuCoredumpGetAttribute:16:2", 8),
    # And these are inputs.
    ("cuCoredumpSetAttribute:16:2", 0), ("cuMemBatchDecompressAsync:16:0", 0),
    ("cuLaunchKernelEx:16:2:3", 0), ("cuPointerGetAttributes:16:1:2", 0),
])
def test_outputs_and_inputs_of_the_driver(world, call, zeroed):
    said = world.probe("stub:cuda", f"out:{call}")[1]
    assert (said["value"], set(said["bytes"])) == (34, {"00" * zeroed + "a5" * (16 - zeroed)})


@pytest.mark.parametrize("call, zeroed", [
    ("nvmlDeviceGetGpuInstances:16:3", 4), ("nvmlDeviceGetSamples:16:3:4", 4),
    ("nvmlDeviceGetThermalSettings:72:2", 64), ("nvmlDeviceGetMemoryInfo:32:1", 24),
    # The size of an array that the caller has.
    ("nvmlDeviceGetComputeRunningProcesses_v3:16:1", 0), ("nvmlUnitGetDevices:16:1", 0),
    # Requests: which process, which field, which number it is to be mixed with.
    ("nvmlDeviceGetAccountingStats_v2:64:1", 0), ("nvmlDeviceGetFieldValues:64:2", 0),
    # Callers of these names may be older than what their structs have grown to.
    ("nvmlDeviceGetPciInfo:68:1", 0), ("nvmlDeviceGetPciInfo_v3:76:1", 68),
])
def test_outputs_and_inputs_of_nvml(world, call, zeroed):
    size = int(call.split(":")[1])
    said = world.probe("stub:nvml", f"out:{call}")[1]
    assert (said["value"], set(said["bytes"])) == (12, {"00" * zeroed + "a5" * (size - zeroed)})
