# SPDX-License-Identifier: MIT
"""Folders that are left out, for their mode or because they cannot be looked at, are named."""
import errno
import json
import os
import re
import subprocess
import time

import pytest

import build
from fakes import answer, driver, fake, nvml
from world import CALL

TREE = "work/site-packages"


def site(world):
    """A site-packages with a package that has a stub, and a real library; the stub."""
    folder = world.site_packages(fake("cudart", "12.9"), name=TREE)
    return world.put(f"{folder}/pkg.libs", build.stub("cudart")) / "libcudart_stub.so"


def status(world, stub, **env):
    return world.probe(f"open:{stub}", "load", "status:cudart", **env)[-1]


def test_a_tree_that_everybody_may_write_to_is_searched_for_what_lies_in_it(world):
    # `chmod -R a+w`, as in many a Dockerfile.  Who can change the library can change the stub.
    stub = site(world)
    subprocess.run(["chmod", "-R", "a+w", world.root / TREE], check=True)
    said = status(world, stub)
    assert (said["state"], said["found_by"], said["left_out"]) == ("usable", "site-packages", [])


@pytest.mark.parametrize("inside", ["nvidia", "nvidia/cuda_runtime", "nvidia/cuda_runtime/lib"])
def test_a_folder_of_it_alone_is_not(world, inside):
    # Here the stub is nobody else's.
    stub = site(world)
    (world.root / TREE / inside).chmod(0o777)
    said = status(world, stub)
    lib = f"{world.root}/{TREE}/nvidia/cuda_runtime/lib"
    assert said["state"] == "missing"
    assert {"path": lib, "reason": f"anybody may write to {world.root}/{TREE}/{inside}"} in (
        said["left_out"])
    assert f"{lib}: anybody may write to {world.root}/{TREE}/{inside}" in said["reason"]


def test_a_sticky_tree_proves_nothing(world):
    # Nobody else can put another stub there.
    stub = site(world)
    (world.root / TREE).chmod(0o1777)
    (world.root / TREE / "nvidia").chmod(0o777)
    assert status(world, stub)["state"] == "missing"


def test_a_link_out_of_the_tree_is_no_sibling(world):
    stub = site(world)
    lib = world.root / TREE / "nvidia/cuda_runtime/lib"
    lib.rename(world.folder("elsewhere") / "lib")
    lib.symlink_to(world.root / "elsewhere" / "lib")
    (world.root / TREE).chmod(0o777)
    assert status(world, stub)["state"] == "usable"
    for folder, where in ((world.root / "elsewhere/lib", lib), (world.root / "elsewhere",) * 2):
        folder.chmod(0o777)
        said = status(world, stub)
        assert said["state"] == "missing"
        assert f"anybody may write to {where}" in said["reason"]
        folder.chmod(0o755)


# ---- folders that a variable names in vain ----

NONE = "it has no libcudart.so.13, libcudart.so.12 or libcudart.so.11.0"
IN_VAIN = [
    ("CUDA_HOME", "{root}/gone", "it does not exist"), ("CUDA_PATH", "{root}/other", NONE),
    ("CUDA_HOME", "~/cuda", "~ means something to shells alone"),
    ("CUDA_PATH", "{root}/other ", "it begins or ends with a space"),
    ("CUDA_PATH", "'{root}/other'", "it is in quotes"),
    ("LAZYCUDA_PATH", "./lib", "it is relative: an absolute path is needed"),
    ("LAZYCUDA_PATH", "{root}/other/libnvrtc.so.12",
     "it is a file: name its folder, or the file by LAZYCUDA_CUDART"),
    ("LAZYCUDA_PATH", "{root}/open", "anybody may write to {root}/open"),
    ("LD_LIBRARY_PATH", "{root}/gone", "it does not exist"),
    ("CONDA_PREFIX", "{root}/other/libnvrtc.so.12", "it is a file"),
    ("PYTHONPATH", "src", "it is relative: an absolute path is needed"),
]


@pytest.mark.parametrize("variable, value, why", IN_VAIN)
def test_what_a_variable_names_in_vain(world, variable, value, why):
    """It is said where nothing was found, and first of all if a user named it for this."""
    world.put("other", fake("nvrtc", "12.9"))
    world.folder("open").chmod(0o777)
    path, why = (text.format(root=world.root) for text in (value, f"{variable} names it, but {why}"))
    status = world.status(**{variable: f"{world.root}/elsewhere:{path}" if variable == "LAZYCUDA_PATH" else path})
    assert {"path": path, "reason": why} in status["left_out"]
    said, remedy = status["reason"].find(f"{path}: {why}"), status["reason"].index("Install one")
    assert -1 < said < remedy if variable.startswith(("CUDA", "LAZYCUDA")) else said == -1
    status = world.status(**{variable: path}, LAZYCUDA_CUDART=fake("cudart", "12.9"))
    assert "names it" not in str(status["left_out"])


def test_the_command_names_them(world):
    folder = world.loader(fake("cudart", "12.9"))
    folder.chmod(0o777)
    done = world.cli("status", "cudart", check=False)
    assert done.out.count(f"eft out {folder}: anybody may write to {folder}") == 1
    library, = json.loads(world.cli("status", "--json", "cudart", check=False).out)["libraries"]
    assert {"path": str(folder), "reason": f"anybody may write to {folder}"} in library["left_out"]


# ---- folders that cannot be looked at ----

def failing(world, file, error, at, *commands, **env):
    """What the probe says of the commands where this fails at a file; how often it was tried."""
    library = build.shared(build.TESTS / "search" / "failing.c", "-ldl", name="libfailing.so")
    done = world.run(build.program(build.TESTS / "lib" / "probe.c"),
                     f"open:{build.stub('cudart')}", *commands, LD_PRELOAD=library, FAILING=file,
                     FAILING_WITH=getattr(errno, error), FAILING_AT=at, **env)
    return [json.loads(line) for line in done.lines], len(re.findall("^looked at ", done.err, re.M))


@pytest.mark.parametrize("error", ["ESTALE", "EACCES", "ELOOP"])
def test_a_folder_that_answers_an_error(world, error):
    dead = world.folder("dead")
    said, _ = failing(world, dead, error, "look", "load", "status:cudart",
                      LD_LIBRARY_PATH=f"{dead}:{dead}/lib:{world.put('safe', fake('cudart', '12.9'))}")
    # What is elsewhere is found, the driver or not; and the folder is named.
    assert said[-1]["state"] == "usable"
    assert {"path": str(dead), "reason": f"it cannot be looked at: {os.strerror(getattr(errno, error))}"} in (
        said[-1]["left_out"])


# ---- files that cannot be read, and what the process runs out of ----

LASTING = ["EIO", "EACCES", "ELOOP"]
SHORTAGES = ["ENFILE", "EMFILE", "ENOMEM"]
TRIES_A_SECOND = 8


@pytest.mark.parametrize("at", ["look", "open", "read", "load"])
@pytest.mark.parametrize("error", LASTING)
def test_a_file_that_answers_an_error_is_left_out_and_said_to_be(world, error, at):
    if at == "load":
        world.loader(driver("13.5"), folder="driver")
    dead = world.put("dead", fake("cudart", "13.5")) / "libcudart.so.13"
    safe = world.put("safe", fake("cudart", "12.9"))
    world.search(f"{dead.parent}:{safe}")
    said, _ = failing(world, dead, error, at, "load", "status:cudart")
    assert said[-1]["path"] == str(safe / "libcudart.so.12"), said[-1]["reason"]
    if at == "look":
        assert {"path": str(dead.parent), "reason": "what is in it cannot be looked at: "
                + os.strerror(getattr(errno, error))} in said[-1]["left_out"]
        return
    other, = [candidate for candidate in said[-1]["candidates"] if not candidate["taken"]]
    assert other["path"] == str(dead)
    word = {"open": "cannot be opened: ", "read": "cannot be read: ", "load": "cannot be loaded: "}
    if (at, error) == ("open", "EACCES"):
        assert other["reason"] == "is not readable"
    elif at == "load":
        assert other["reason"].startswith(word[at])
    else:
        assert other["reason"] == word[at] + os.strerror(getattr(errno, error))


@pytest.mark.parametrize("what, at", [("folder", "look"), *[
    ("file", at) for at in ("look", "open", "read", "load")]])
def test_a_search_that_met_a_bad_file_is_remembered(world, what, at):
    """Or a folder, which is named."""
    dead = world.loader(fake("cudart", "13.5"))
    dead = dead if what == "folder" else dead / "libcudart.so.13"
    tried = []
    for calls in (1, 50):
        said, times = failing(world, dead, "EIO", at, *[f"call:{CALL['cudart']}"] * calls,
                              "status:cudart")
        assert {line["value"] for line in said[1:-1]} == {303}
        assert said[-1]["state"] != "unknown"
        assert what == "file" or said[-1]["state"] == "missing" and (
            f"Left out {dead}: it cannot be looked at: Input/output error. " in said[-1]["reason"])
        tried.append(times)
    assert tried[0] == tried[1] > 0


@pytest.mark.parametrize("at", ["look", "open", "read", "load"])
@pytest.mark.parametrize("error", SHORTAGES)
def test_what_the_process_ran_out_of_is_tried_again_a_few_times_a_second(world, error, at):
    dead = world.loader(fake("cudart", "13.5")) / "libcudart.so.13"
    _, once = failing(world, dead, error, at, f"call:{CALL['cudart']}")
    began = time.monotonic()
    said, times = failing(world, dead, error, at, *[f"call:{CALL['cudart']}"] * 200,
                          "status:cudart", "error:cudart")
    seconds = int(time.monotonic() - began) + 2
    assert {line["value"] for line in said[1:201]} == {303}
    assert said[201]["state"] == "unknown" and "a later call searches again" in said[202]["message"]
    assert once < times <= once * TRIES_A_SECOND * seconds


def test_who_asks_is_not_kept_waiting(world):
    dead = world.loader(fake("cudart", "13.5")) / "libcudart.so.13"
    _, once = failing(world, dead, "ENOMEM", "open", "load")
    _, times = failing(world, dead, "ENOMEM", "open", *["load"] * 50)
    assert times == 50 * once > 0


@pytest.mark.parametrize("guard, chosen", [("best_effort", "13.5"), ("strict", None)])
def test_a_driver_that_can_never_be_looked_at_vetoes_nothing(world, guard, chosen):
    world.loader(fake("cudart", "13.5"))
    file = world.loader(driver("13.5"), nvml("590.10"), folder="driver") / "libcuda.so.1"
    said, _ = failing(world, file, "ENOMEM", "load", *["load"] * 20, "status:cudart",
                      LAZYCUDA_GUARD=guard)
    assert said[1]["load"] == 1     # the choice is for life: not at once
    assert said[-1].get("version") == chosen


@pytest.mark.parametrize("error", LASTING)
@pytest.mark.parametrize("at", ["look", "open", "read", "load"])
def test_a_driver_that_cannot_be_read_is_no_driver(world, error, at):
    world.loader(fake("cudart", "13.5"))
    file = world.loader(driver("12.4"), nvml("550.54"), folder="driver") / "libcuda.so.1"
    said, _ = failing(world, file, error, at, f"call:{CALL['cudart']}", "status:cudart")
    assert said[1]["value"] == answer("cudart", CALL["cudart"], "13.5")
