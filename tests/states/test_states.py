# SPDX-License-Identifier: MIT
"""docs/reference/states.md: each state is made here, and the page shows what is said in it.

The fakes lie where real libraries would, so that paths are those of the page.  Only the list
of folders that were looked into is the machine's own; the page has `...` in its place.
"""
import json
import re
import shutil
import textwrap

import pytest

import build
import fakes
import pages
from fakes import answer, driver, fake
from world import CALL, chowned, probe

PAGE = pages.where("reference/states.md")
STATES = {}


def state(title):
    """The function below makes it; its result is what the page's section has in a block."""
    def note(function):
        assert title not in STATES
        STATES[title] = function
        return function
    return note


def cuda(world, *files, version="12.9"):
    """Files where NVIDIA's packages put them."""
    world.system(f"/usr/local/cuda-{version}/lib64", *files)


def system_driver(world, version):
    world.loader(driver(version), folder="driver")


def tell(value, status, error):
    """One call: what it returned, why, the state after it, and the text."""
    text = re.sub(r"Looked in [^ ]+(, [^ ]+)*\.(?= |$)", "Looked in ...", error["message"])
    return (f"{error['function']} returned {value}, cause {error['cause']}, "
            f"state {status['state']}\n"
            + textwrap.fill(" ".join(text.split()), 94, initial_indent="  ",
                            subsequent_indent="  ", break_long_words=False,
                            break_on_hyphens=False))


def refused(world, *calls, first=(), **env):
    """What each of these calls says, after those in `first`: "cudart", or ("cudart", "name")"""
    said = []
    for call in calls:
        library, name = (call, CALL[call]) if isinstance(call, str) else call
        *_, done, error, status = world.probe(
            *first, f"stub:{library}", f"call:{name}", f"error:{library}", f"status:{library}",
            **env)
        assert error["status"] == done["value"]
        said.append(tell(done["value"], status, error))
    return "\n\n".join(said)


@state("Nothing has been called yet")
def nothing_yet(world):
    cuda(world, fake("cudart", "12.9"))
    _, status, error = world.probe("stub:cudart", "status:cudart", "error:cudart")
    assert error["cause"] == 0
    return (f"state {status['state']}, cause {status['cause']}: {status['reason']}\n"
            f"last error: {error['message']}")


@state("No library is installed")
def no_library(world):
    return refused(world, *build.LIBRARIES)


def questions(world, what, **env):
    """What those two answer by which a program finds out whether there is a GPU."""
    said = world.probe("stub:cudart", "out:cudaGetDeviceCount:4:0",
                       "out:cudaDriverGetVersion:4:0", **env)[1:]
    assert [line["bytes"] for line in said] == [["00000000"]] * 2
    return f"{what}: cudaGetDeviceCount {said[0]['value']}, cudaDriverGetVersion {said[1]['value']}"


@state("There is no driver either, and somebody asks for a GPU")
def no_gpu(world):
    count = refused(world, ("cudart", "cudaGetDeviceCount"))
    version = world.probe("stub:cudart", "out:cudaDriverGetVersion:4:0")[1]
    strict = questions(world, "LAZYCUDA_GUARD=strict", LAZYCUDA_GUARD="strict")
    fakes.truncated(world.folder("bad") / "libcudart.so.12", fake("cudart", "12.9"))
    bad = questions(world, "a library that was cut off",
                    LD_LIBRARY_PATH=world.folder("bad"))
    system_driver(world, "12.9")
    return (f"{count}\n\ncudaDriverGetVersion: {version['value']}, "
            f"version {int.from_bytes(bytes.fromhex(version['bytes'][0]), 'little')}\n\n"
            f"{questions(world, 'a driver is there')}\n{strict}\n{bad}")


@state("The library lacks the function")
def no_function(world):
    cuda(world, fake("cudart", "12.0"), fake("nvrtc", "12.0"), fake("nvJitLink", "12.0"),
         version="12.0")
    return refused(world, ("cudart", "cudaLibraryLoadData@libcudart.so.12"),
                   ("nvrtc", "nvrtcGetPCHHeapSize"),
                   ("nvJitLink", "nvJitLinkGetLinkedLTOIRSize"))


@state("The library has the function with another interface")
def other_interface(world):
    cuda(world, fake("cudart", "11.8"), fake("nvrtc", "11.8"), version="11.8")
    cuda(world, fake("nvJitLink", "12.9"))
    return refused(world, ("cudart", "cudaMemAdvise@libcudart.so.13"),
                   ("nvrtc", "__nvrtcCPEx@libnvrtc.so.13"),
                   ("nvJitLink", "__nvJitLinkAPI@libnvJitLink.so.13"))


@state("LAZYCUDA_GUARD=strict, and the driver is too old")
def old_driver(world):
    cuda(world, *[fake(library, "12.9") for library in build.LIBRARIES])
    system_driver(world, "11.2")
    return refused(world, *build.LIBRARIES, LAZYCUDA_GUARD="strict")


def used(*libraries):
    """Commands: these were used before."""
    return [word for library in libraries
            for word in (f"stub:{library}", f"call:{CALL[library]}")]


@state("What is installed does not go together")
def incoherent(world):
    cuda(world, fake("nvrtc", "13.0"), version="13.0")
    cuda(world, fake("nvJitLink", "12.9"))
    return "\n\n".join([refused(world, "nvJitLink", first=used("nvrtc")),
                        refused(world, "nvrtc", first=used("nvJitLink"))])


@state("LAZYCUDA_GUARD=strict, and the majors differ")
def strict(world):
    cuda(world, fake("cudart", "13.0"), version="13.0")
    cuda(world, fake("nvrtc", "12.9"), fake("nvJitLink", "12.9"))
    return "\n\n".join([
        refused(world, "cudart", first=used("nvrtc"), LAZYCUDA_GUARD="strict"),
        refused(world, "nvrtc", "nvJitLink", first=used("cudart"), LAZYCUDA_GUARD="strict")])


@state("LAZYCUDA_CUDART names a file that cannot be used")
def broken_override(world):
    cuda(world, *[fake(library, "12.9") for library in build.LIBRARIES])
    return "\n\n".join([
        refused(world, "cudart", LAZYCUDA_CUDART="/opt/cuda/libcudart.so.12"),
        refused(world, "cudart", LAZYCUDA_CUDART="libcudart.so.12"),
        refused(world, "cudart", LAZYCUDA_CUDART="/usr/local/cuda-12.9/lib64/libnvrtc.so.12"),
        refused(world, "nvrtc", LAZYCUDA_NVRTC="/opt/cuda/libnvrtc.so.12"),
        refused(world, "nvJitLink", LAZYCUDA_NVJITLINK="/opt/cuda/libnvJitLink.so.12")])


@state("Only a library for another CPU, or a damaged one, is there")
def unusable_file(world):
    folder = world.folder("bad")
    for library, damage in zip(build.LIBRARIES, (fakes.wrong_machine, fakes.truncated,
                                                 fakes.text)):
        damage(folder / f"lib{library}.so.12", fake(library, "12.9"))
    world.bind(folder, "/usr/local/cuda-12.9/lib64")
    return refused(world, *build.LIBRARIES)


@state("Only a CUDA that lazycuda does not know is there")
def unknown_major(world):
    made = [fake(library, "13.5", own=f"lib{library}.so.14") for library in build.LIBRARIES]
    world.system("/opt/torch/lib", *made)
    loaded = refused(world, "cudart", first=["open:/opt/torch/lib/libcudart.so.14"])
    cuda(world, *made, version="14.0")
    return f"{refused(world, *build.LIBRARIES)}\n\n{loaded}"


@state("A later minor version is there than lazycuda knows")
def unknown_minor(world):
    cuda(world, *[fake(library, "13.9", without=["cudaInitDevice"])
                  for library in build.LIBRARIES], version="13.9")
    lines = []
    for library in build.LIBRARIES:
        name = CALL[library]
        call, status = world.probe(f"stub:{library}", f"call:{name}", f"status:{library}")[1:]
        assert call["value"] == answer(library, name, "13.9")
        lines.append(f"{name} was forwarded, state {status['state']}, version {status['version']}")
    return "\n".join(lines) + "\n\n" + refused(world, ("cudart", "cudaInitDevice"))


@state("A setting cannot be read")
def bad_setting(world):
    cuda(world, *[fake(library, "12.9") for library in build.LIBRARIES])
    return "\n\n".join([refused(world, "cudart", LAZYCUDA_GUARD="careful"),
                        refused(world, "nvrtc", LAZYCUDA_MAJOR="14"),
                        refused(world, "nvJitLink", LAZYCUDA_MAJOR="12.9")])


@state("The pinned major is not installed")
def pinned(world):
    cuda(world, *[fake(library, "12.9") for library in build.LIBRARIES])
    return refused(world, *build.LIBRARIES, LAZYCUDA_MAJOR="13")


@state("The constraint excludes what is installed")
def excluded(world):
    cuda(world, *[fake(library, "12.9") for library in build.LIBRARIES])
    return refused(world, *build.LIBRARIES, LAZYCUDA_CONSTRAINT=">=13.2,<14")


@state("A variable hides it")
def hidden(world):
    cuda(world, *[fake(library, "12.9") for library in build.LIBRARIES])
    system_driver(world, "12.9")
    return "\n\n".join([refused(world, "cudart", LAZYCUDA_MAJOR="none"),
                        refused(world, "nvrtc", LAZYCUDA_NVRTC="none"),
                        refused(world, "nvJitLink", "cuda", LAZYCUDA_MAJOR="none"),
                        refused(world, "nvml", LAZYCUDA_NVML="none")])


def without(world, library, others):
    """One library where only the others are."""
    assert {status["state"] for status in world.statuses(*others).values()} == {"usable"}
    return refused(world, library, first=used(*others))


@state("There is no nvJitLink")
def no_nvjitlink(world):
    # As in every CUDA 11.
    cuda(world, fake("cudart", "11.8"), fake("nvrtc", "11.8"), version="11.8")
    return without(world, "nvJitLink", ("cudart", "nvrtc"))


@state("There is no nvrtc")
def no_nvrtc(world):
    cuda(world, fake("cudart", "12.9"), fake("nvJitLink", "12.9"))
    return without(world, "nvrtc", ("cudart", "nvJitLink"))


@state("There is no driver")
def no_driver(world):
    return refused(world, *build.DRIVER)


@state("The driver lacks the function")
def no_function_of_the_driver(world):
    for library in build.DRIVER:
        world.system("/usr/lib/wsl/lib", fake(library, "12.2"))
    return refused(world, ("cuda", "cuCtxCreate_v4"), ("nvml", "nvmlDeviceGetDramEncryptionMode"))


@state("The library appears later")
def later(world):
    lines = []
    for library in build.LIBRARIES:
        name, file = CALL[library], fake(library, "12.9")
        path = world.put("torch", file) / file.name
        said = world.probe(f"stub:{library}", f"call:{name}", f"status:{library}", f"open:{path}",
                           f"stub:{library}", f"call:{name}", f"status:{library}",
                           f"error:{library}")
        assert said[5]["value"] == answer(library, name, "12.9")
        before, after, error = said[2], said[6], said[7]
        lines += [f"{name} returned {said[1]['value']}, cause {error['cause']}, "
                  f"state {before['state']}",
                  f"{name} was forwarded, cause {after['cause']}, state {after['state']}, "
                  f"found by {after['found_by']}"]
    return "\n".join(lines)


# A function that gives nothing back.
WORKS = {"cudart": "cudaDeviceSynchronize", "nvrtc": "nvrtcCompileProgram",
         "nvJitLink": "nvJitLinkComplete", "cuda": "cuCtxSynchronize", "nvml": "nvmlInit_v2"}
# And one that does.
RELEASES = {"cudart": "cudaFree", "nvrtc": "nvrtcDestroyProgram", "nvJitLink": "nvJitLinkDestroy",
            "cuda": "cuStreamDestroy_v2", "nvml": "nvmlShutdown"}


@state("The process ends")
def process_ends(world):
    said = []
    for library in build.STUBBED:
        real = fake(library, "12.9", constructor="atexit((void (*)(void))getpid);")
        world.system("/usr/lib/wsl/lib" if library in build.DRIVER else "/usr/local/cuda/lib64",
                     real)
        *_, gives_back, done, error, status = world.probe(
            f"stub:{library}", f"call:{WORKS[library]}", "exit", f"call:{RELEASES[library]}",
            f"call:{WORKS[library]}", f"error:{library}", f"status:{library}")
        said += [tell(done["value"], status, error),
                 f"{RELEASES[library]}: {gives_back['value']}"]
    return "\n\n".join(said)


@state("The program runs setuid")
def setuid(world):
    shared = world.put("shared", build.stub("cudart"), fake("cudart", "12.9"))
    for program, name in ((probe(), "plain"), (probe(), "secure"), (shutil.which("id"), "id")):
        shutil.copy(program, shared / name)
    for name in ("secure", "id"):
        chowned(shared / name, 65534)
        (shared / name).chmod(0o4755)
    world.bind(shared, "/opt/shared")
    if world.run("/opt/shared/id", "-u").out == "0\n":
        pytest.skip("the kernel ignores set-user-ID here")
    said = [json.loads(world.run(
        f"/opt/shared/{how}", "open:/opt/shared/libcudart_stub.so", "load", "status:cudart",
        LAZYCUDA_CUDART="/opt/shared/libcudart.so.12").lines[-1])["state"]
            for how in ("plain", "secure")]
    return (f"LAZYCUDA_CUDART=/opt/shared/libcudart.so.12\n"
            f"any other program: state {said[0]}\nset-user-ID: state {said[1]}")


# ---- the page ----

def sections():
    """{heading: text below it}"""
    parts = re.split(r"^## (.*)\n", PAGE.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


# The rows of the table of what calls return, by cause: no library and an excluded one have one row.
ROWS = (0, 0, 1, 2, 3, 4, 0, 5)
# Its columns, by what names of functions begin with.
COLUMNS = ("cuda", "nvrtc", "nvJitLink", "cu[A-Z]", "nvml")


def returned():
    """The numbers in that table, row by row."""
    table = pages.section(pages.page("reference/how-it-works.md"), "## What calls return")
    return [numbers for line in table.splitlines() if (numbers := re.findall(r"\| (\d+)", line))]


def is_as_in_the_table(name, value, cause):
    column, = {COLUMNS.index(start) for start in COLUMNS if re.match(f"(__)?{start}", name)}
    # Two questions have the real runtime's answer where there is no driver either.
    return (name, value) == ("cudaGetDeviceCount", "35") or value == returned()[ROWS[int(cause)]][column]


@pytest.mark.parametrize("title", STATES)
def test_the_page_shows_what_is_said(world, title):
    said = STATES[title](world)
    shown = [textwrap.dedent(part) for part in
             re.findall(r"(?:^    .*\n)+", sections()[title], re.M)]
    assert shown
    for part in shown:
        assert any(pages.is_like(part, text) for text in said.split("\n\n")), f"{part}\n{said}"
    for call in re.findall(r"^ *(\w+) returned (\d+), cause (\d)", said, re.M):
        assert is_as_in_the_table(*call), call
    # Each text begins with what and where, without paths; what to do follows, and then what was
    # looked at.
    for text in re.findall(r"^  \w+: (.*(?:\n  .*)*)", said, re.M):
        first = re.split(r"(?<=[a-z0-9])[.;] ", re.sub(r" \(/\S+\)|/\S+", "", " ".join(text.split())))[0]
        assert len(first) <= 100, first


def test_the_page_has_every_state_and_no_other():
    assert list(sections()) == [*STATES]


def test_page_and_manual_have_the_same_codes():
    manual = re.findall(r"^[^\t\n]*\t(\d+)\t(\d+)\t(\d+)$",
                        (build.ROOT / "docs" / "lazycuda.7").read_text(), re.M)
    assert {tuple(row[:3]) for row in returned()} == set(manual)
