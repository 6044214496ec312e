# SPDX-License-Identifier: MIT
"""LAZYCUDA_CUDART and its like name a file.  A bad one is an error, never ignored."""
import json

import pytest

import build
import fakes
from fakes import fake
from syscalls import between, system_calls
from world import probe, variable


@pytest.mark.parametrize("library, name", [*((one, None) for one in build.LIBRARIES), ("cudart", "my-cuda"),
                                           *((one, "my-driver") for one in build.DRIVER)])
def test_the_named_file_is_used_whatever_it_is_called(installed, library, name):
    installed.loader(fake(library, "13.5"))
    named = installed.folder("named") / (name or fake(library, "12.9").name)
    named.write_bytes(fake(library, "12.9").read_bytes())
    status = installed.status(library, **{variable(library): named})
    assert (status["state"], status["version"], status["path"], status["found_by"]) == (
        "usable", "12.9", str(named), "override")


# The stub would call itself forever.
@pytest.mark.parametrize("damage", [fakes.truncated, fakes.folder, lambda path, _: path.write_bytes(
    build.stub("cudart").read_bytes())], ids=["truncated", "folder", "stub"])
def test_a_damaged_file_is_an_error(installed, damage):
    path = installed.folder("named") / "libcudart.so.12"
    damage(path, fake("cudart", "12.9"))
    status = installed.status("cudart", LAZYCUDA_CUDART=path)
    assert (status["state"], status["cause"], status["path"]) == ("broken", 1, None)
    assert "LAZYCUDA_CUDART names a file that" in status["reason"] and str(path) in status["reason"]


def test_an_empty_variable_counts_as_unset(installed):
    assert installed.status("cudart", LAZYCUDA_CUDART="")["version"] == "13.5"


def test_the_guard_in_force_can_be_asked_for(installed):
    for guard in ("strict", "best_effort", "off"):
        assert installed.probe("stub:cudart", "guard", LAZYCUDA_GUARD=guard)[1] == {"guard": guard}
    assert installed.probe("stub:cudart", "guard")[1] == {"guard": "best_effort"}


def test_the_trace_is_silent_unless_asked_for(installed):
    silent = installed.run(probe(), f"open:{build.stub('cudart')}", "load")
    assert silent.err == ""
    loud = installed.run(probe(), f"open:{build.stub('cudart')}", "load", LAZYCUDA_DEBUG="1")
    assert "libcudart.so.13" in loud.err
    assert loud.out == silent.out


def test_a_wrong_variable_is_the_reason_against_every_candidate(world):
    world.loader(fake("cudart", "12.9"))
    said = world.cli("status", "--json", "cudart", check=False, LAZYCUDA_MAJOR="twelve",
                     LAZYCUDA_DEBUG="1")
    library, = json.loads(said.out)["libraries"]
    assert library["state"] == "broken"
    reason, = [one["reason"] for one in library["candidates"]]
    assert reason.startswith("LAZYCUDA_MAJOR=twelve is not a CUDA major")
    assert reason in said.err and "(null)" not in said.err


NOT_TO_BE_SEEN = ("LAZYCUDA_PATH", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "PYTHONPATH")


# Where there is a file of 12, what cannot be taken then, what the environment has besides, and what the
# status says.
CERTAIN = {
    "named": ("there", NOT_TO_BE_SEEN, {}, "all"),
    "in the process": ("there", NOT_TO_BE_SEEN, {}, "all"),
    "near": ("there", NOT_TO_BE_SEEN[1:], {}, "the process's and the machine's"),
    "the process's": ("PYTHONPATH", NOT_TO_BE_SEEN[1:4], {}, "the machine's"),
    "the first of the major": ("CONDA_PREFIX", NOT_TO_BE_SEEN[1:3], {"LAZYCUDA_MAJOR": "12"}, "the machine's"),
}


@pytest.mark.parametrize("how, there, unseen, env, said", [(how, *row) for how, row in CERTAIN.items()], ids=CERTAIN)
def test_nothing_is_looked_at_that_cannot_be_taken(world, how, there, unseen, env, said):
    """It may be on a server that does not answer.  `lazycuda status` looks."""
    for place in unseen:
        world.put(f"{place}/lib64", fake("cudart", "13.5"))
        world.env[place] = world.root / place
    below = {"PYTHONPATH": "/nvidia/cuda_runtime/lib", "CONDA_PREFIX": "/lib"}.get(there, "")
    file = world.put(there + below, fake("cudart", "12.9")) / "libcudart.so.12"
    world.env.update({there: world.root / there} if below else {}, **env)
    first = [f"open:{file}"] if how == "in the process" else []
    if how == "named":
        world.env["LAZYCUDA_CUDART"] = file
    if how == "near":
        world.search(file.parent)
    calls = system_calls(world, probe(), *first, f"open:{build.stub('cudart')}", "mark:begin", "load",
                         "mark:end")
    calls = between(calls, "begin", "end")
    assert not [place for place in unseen if str(world.root / place) in calls]
    assert "/usr/local" not in calls
    assert ("ld.so.cache" in calls) == (how not in ("named", "in the process"))     # where the driver may be
    status = world.probe(*first, "stub:cudart", "load", "status:cudart")[-1]
    assert status["path"] == str(file) and len(status["candidates"]) == 1 and status["not_asked"] == said
    if how != "in the process":
        assert "CUDA_HOME/lib64" in world.cli("status", "cudart").out
