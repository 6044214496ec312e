# SPDX-License-Identifier: MIT
"""Two toolkits installed: each link is done by the one that fits it, and the stubs keep
theirs."""
import json
import sys

import pytest

import build
import fakes
import handles
from handles import pair


BESIDE = ("--beside", build.stub("cudart"))


@pytest.fixture
def both(world, real):
    """12.9 and 13.0 on the loader's path; the stubs take 13.0."""
    for version in ("13.0", "12.9"):
        handles.install(world, real(version), "nvrtc", "nvJitLink", "cudart")
    return world


def both_say(world, *words):
    """What plan and link say of the same words; they agree."""
    plan = json.loads(world.cli("plan", "--json", *words, check=False).out)
    done = json.loads(world.cli("link", "--json", "-o", world.root / "image", *words,
                                check=False).out)
    for key in ("decision", "code", "rule", "nvjitlink", "nvrtc", "choice"):
        assert plan[key] == done[key], (plan, done)
    return done


@pytest.mark.parametrize("words, version, kind, arch, taken", [
    (["--lto"], "12.9", "ltoir", "sm_80", "12.9"), (["--lto"], "13.0", "ltoir", "sm_80", "13.0"),
    ([], "12.9", "cubin", "sm_60", "12.9"),
    ([], "13.0", "ptx", "sm_110", "13.0"), ([], "12.9", "ptx", "sm_80", "13.0")])
def test_the_linker_that_fits(both, words, version, kind, arch, taken):
    said = both_say(both, "--arch", arch, *words, *pair(version, kind, arch))
    assert (said["code"], said["decision"], said["nvjitlink"]) == (None, "nvjitlink", taken)
    assert (said["choice"] is None) == (taken == "13.0")
    handles.check_image(both.root / "image")


@pytest.mark.parametrize("arch, taken", [("sm_60", "12.9"), ("sm_80", "13.0")])
def test_the_compiler_that_fits_here_and_in_a_process_of_its_own(both, arch, taken):
    source = both.root / "k.cu"
    source.write_text('extern "C" __global__ void kernel(int *p) { *p = 1; }\n')
    for lto in ([], ["--lto"]):
        said = both_say(both, "--arch", arch, *lto, source)
        assert (said["code"], said["nvrtc"], said["nvjitlink"]) == (None, taken, taken)
        handles.check_image(both.root / "image")
    for words in [source], pair("12.9", "ptx", arch):
        said = json.loads(both.cli("link", "--json", "--isolated", "-o", both.root / "image", "--arch", arch,
                                   *words).out)
        assert (said["code"], said["nvjitlink"]) == (None, taken)
        handles.check_image(both.root / "image")


def test_the_stubs_keep_theirs(both, real):
    """What a link opens by itself decides nothing for other callers of the process."""
    said = handles.link(both, *BESIDE, "--arch", "sm_60", *pair("12.9", "ptx", "sm_60"))
    assert (said["code"], said["versions"]) == ("OK", [[13, 0], [13, 0]])
    # Where a stub refuses what is there for the driver's sake, as a strict one, it does so after a link, too.
    both.loader(fakes.driver("12.4"))
    both.env.update(LD_LIBRARY_PATH=str(both.root / "loader"), LAZYCUDA_GUARD="strict")
    handles.install(both, real("13.0"), "nvJitLink", "cudart")
    said = handles.link(both, *BESIDE, "--offline", "--arch", "sm_110", *pair("13.0", "ptx", "sm_110"))
    assert (said["code"], said["versions"]) == ("OK", [[0, 0], [0, 0]])


# For each file whether the stub takes it, the same for another library, and its state and path.
ASIDE = """
import ctypes, sys
stub = ctypes.CDLL(sys.argv[1])
stub.lazycuda_open_aside.restype = ctypes.c_void_p
stub.lazycuda_get_status.restype = ctypes.POINTER(ctypes.c_size_t * 6)
said = [stub.lazycuda_open_aside(b"nvJitLink", file.encode()) for file in sys.argv[2:]]
print(*[int(handle is not None) for handle in said], stub.lazycuda_open_aside(b"cufft", sys.argv[2].encode()))
stub.lazycuda_load(b"nvJitLink")
status = stub.lazycuda_get_status(b"nvJitLink").contents
print(status[2] & 0xffffffff, status[5])
"""


def test_what_is_opened_aside(world, real):
    """A real library of this kind alone is, and is not taken for what the process uses."""
    linker = real("12.9").file("nvJitLink")
    stub = world.folder("stub") / "libnvJitLink.so.12"
    stub.write_bytes(build.stub("nvJitLink").read_bytes())
    done = world.run(sys.executable, "-c", ASIDE, build.stub("nvJitLink"), linker, linker, stub,
                     real("12.9").file("nvrtc"), world.root / "none", linker.name)
    assert done.lines == ["1 1 0 0 0 0 None", "2 0"]     # LAZYCUDA_STATE_MISSING


@pytest.mark.parametrize("words, kind, init", [
    (["--offline", "--lto"], "ltoir", 0), (["--forward-compatible", "--lto"], "ltoir", 0),
    (["--offline"], "ptx", 0), ([], "ptx", 100), (["--lto"], "ltoir", 100)])
def test_an_nvjitlink_newer_than_the_driver(world, real, words, kind, init):
    """Where the driver need not load the image, or has no device to do so."""
    world.loader(fakes.driver("12.4", init=init))
    handles.install(world, real("13.0"))
    said = both_say(world, "--arch", "sm_110", *words, *pair("13.0", kind, "sm_110"))
    assert (said["code"], said["rule"], said["nvjitlink"]) == (None, "B9o", "13.0")
    handles.check_image(world.root / "image")


@pytest.mark.parametrize("words", [[], ["--isolated"]])
def test_a_driver_without_a_device_links_nothing(world, real, words):
    world.loader(fakes.driver("13.0"))
    command = "link", "--json", "-o", world.root / "image", "--arch", "sm_80", *words, *pair("12.9", "ptx")
    said = json.loads(world.cli(*command, check=False).out)
    assert (said["code"], said["need"][:22]) == ("DRIVER_FAILED", "nvJitLink 12.3 or late")
    handles.install(world, real("12.9"), "nvJitLink")
    said = json.loads(world.cli(*command).out)
    assert (said["code"], said["decision"], said["rule"]) == (None, "nvjitlink", "B9o")
    handles.check_image(world.root / "image")


def test_a_named_file_is_the_only_one(both, real):
    both.env["LAZYCUDA_NVJITLINK"] = str(real("13.0").file("nvJitLink"))
    said = both_say(both, "--arch", "sm_60", *pair("12.9", "ptx", "sm_60"))
    assert said["code"] == "ARCH_UNSUPPORTED" and said["environment"]["nvjitlinks"] == []


@pytest.mark.parametrize("variable, value, code_of, arch, taken", [
    ("LAZYCUDA_MAJOR", "13", "ARCH_UNSUPPORTED", "sm_60", None),
    ("LAZYCUDA_CONSTRAINT", "!=13.0", None, "sm_80", "12.9")])
def test_what_a_user_says_is_for_all(both, variable, value, code_of, arch, taken):
    both.env[variable] = value
    said = both_say(both, "--arch", arch, *pair("12.9", "ptx", arch))
    assert said["code"] == code_of
    assert code_of or said["nvjitlink"] == taken


def test_the_command_names_a_version(both):
    """--nvjitlink plans for one, and the link takes that one where it is here."""
    said = both_say(both, "--nvjitlink", "12.9", "--arch", "sm_80", *pair("12.9", "ptx"))
    assert said["nvjitlink"] == "12.9"
    image = (both.root / "image").read_bytes()
    assert image[8] == 7        # nvJitLink 13 writes ABI 8


# ---- one guard ----

BOGUS = "LAZYCUDA_GUARD=bogus is not a guard: use strict, best_effort or off; the default is best_effort"


def test_a_guard_that_is_none_is_an_error_everywhere(both):
    files = pair("12.9", "ptx")
    both.env["LAZYCUDA_GUARD"] = "bogus"
    for command in (["plan"], ["link", "-o", both.root / "image"]):
        done = both.cli(*command, "--arch", "sm_80", *files, check=False)
        assert (done.status, done.err) == (2, f"lazycuda {command[0]}: {BOGUS}\n")
        assert not (both.root / "image").exists()
    assert BOGUS.partition(";")[0] in both.cli("status", check=False).out
    assert handles.link(both, *files)["code"] == "BAD_REQUEST"
    del both.env["LAZYCUDA_GUARD"]
    done = both.cli("plan", "--policy", "bogus", "--arch", "sm_80", *files, check=False)
    assert done.status == 2 and "give strict, best_effort or off" in done.err


def test_the_guard_is_the_policy(world, real):
    """LAZYCUDA_GUARD and --policy say the same, of what is loaded and of what is planned."""
    world.loader(fakes.driver("12.4", init=0))
    handles.install(world, real("13.0"), "nvrtc", "nvJitLink", "cudart")
    files = pair("13.0", "ptx", "sm_110")
    assert handles.link(world, "--arch", "sm_110", *files)["code"] == "ARCH_UNSUPPORTED"
    said = both_say(world, "--policy", "off", "--arch", "sm_110", *files)
    assert (said["code"], said["rule"], said["policy"]) == (None, "O1", "off")
    world.env["LAZYCUDA_GUARD"] = "off"
    assert both_say(world, "--arch", "sm_110", *files) == said
    assert both_say(world, "--policy", "best_effort", "--arch", "sm_110", *files)["code"]
    # The stub loads it then, too.
    loaded = handles.link(world, *BESIDE, "--arch", "sm_110", *files)
    assert (loaded["code"], loaded["versions"]) == ("OK", [[13, 0], [13, 0]])


def test_forward_compatibility_is_a_variable_as_well(world, real):
    world.loader(fakes.driver("12.4", init=0))
    handles.install(world, real("13.0"), "nvrtc", "nvJitLink", "cudart")
    files = pair("13.0", "ptx", "sm_110")
    words = ["--arch", "sm_110", *files]
    assert both_say(world, *words)["code"]
    said = both_say(world, "--forward-compatible", *words)
    world.env["LAZYCUDA_FORWARD_COMPATIBLE"] = "1"
    again = both_say(world, *words)
    assert (again["code"], again["nvjitlink"]) == (said["code"], said["nvjitlink"]) == (None, "13.0")
    loaded = handles.link(world, *BESIDE, *words)
    assert (loaded["code"], loaded["versions"][0]) == ("OK", [13, 0])
    world.env["LAZYCUDA_FORWARD_COMPATIBLE"] = "perhaps"
    for command in (["plan"], ["link", "-o", world.root / "image"]):
        done = world.cli(*command, *words, status=2)
        assert "LAZYCUDA_FORWARD_COMPATIBLE=perhaps is not a switch: use 1 or 0" in done.err
    assert handles.link(world, *words)["code"] == "BAD_REQUEST"


ALONE = """
import pathlib, sys
from lazycuda.link import Input, Linker
linker = Linker("sm_80")
linker.add(*map(Input.from_path, sys.argv[1:]))
linker.link()
print(linker.result.plan.nvrtc, "libnvrtc.so" in pathlib.Path("/proc/self/maps").read_text())
"""


def test_no_compiler_is_loaded_for_what_is_compiled_already(both):
    done = both.run(sys.executable, "-c", ALONE, *pair("13.0", "ptx"), PYTHONPATH=build.PYTHON,
                    LAZYCUDA_LINK_LIBRARY=build.STUBS / "liblazycuda_link.so")
    assert done.out == "None False\n"
