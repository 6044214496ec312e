# SPDX-License-Identifier: MIT
"""A variable that is "none" hides a library, LAZYCUDA_MAJOR=none every one.

A state of its own, not a mistake: calls fail as where no library is installed, and nothing
is looked for, nor opened.
"""
import pytest

import build
from fakes import driver, fake
from syscalls import between, files_opened, system_calls
from world import CALL, MISSING, variable

libraries = pytest.mark.parametrize("library", build.STUBBED)


@pytest.fixture
def installed(world):
    """A machine that has everything."""
    world.loader(*[fake(library, "12.9") for library in build.LIBRARIES],
                 *[fake(library, "12.9") for library in build.DRIVER])
    return world


def call(library):
    return [f"stub:{library}", f"call:{CALL[library]}"]


def is_hidden(said, library, variable):
    call, error, status = said
    assert call["value"] == MISSING[library]
    assert (status["state"], status["cause"], status["path"], status["candidates"]) == (
        "hidden", 1, None, [])
    assert status["reason"] == (f"{library} is hidden by {variable}=none, and was not looked for;"
                                " unset it to use what is installed")
    assert (error["cause"], error["status"]) == (1, MISSING[library])
    assert error["message"] == f"{CALL[library]}: {status['reason']}"
    return True


def asked(world, library, *first, **env):
    return world.probe(*first, *call(library), f"error:{library}", f"status:{library}", **env)[-3:]


@libraries
def test_one_that_is_hidden_by_its_own_variable(installed, library):
    hides = {variable(library): "none"}
    assert is_hidden(asked(installed, library, **hides), library, variable(library))
    # And no other.
    for other in set(build.STUBBED) - {library}:
        assert installed.status(other, **hides)["state"] == "usable"


@libraries
def test_all_of_them_at_once(installed, library):
    assert is_hidden(asked(installed, library, LAZYCUDA_MAJOR="none"), library, "LAZYCUDA_MAJOR")


def test_what_the_process_has_is_hidden_too(installed):
    real = installed.root / "loader" / "libcudart.so.12"
    for variable in ("LAZYCUDA_CUDART", "LAZYCUDA_MAJOR"):
        assert is_hidden(asked(installed, "cudart", f"open:{real}", **{variable: "none"}),
                         "cudart", variable)


def test_a_guard_that_is_none_is_told_of_all_the_same(installed):
    status = installed.status(LAZYCUDA_MAJOR="none", LAZYCUDA_GUARD="STRICT")
    assert status["state"] == "broken" and "LAZYCUDA_GUARD=STRICT" in status["reason"]


@pytest.mark.parametrize("value", ["None", "NONE", "none ", "0", "-12"])
def test_only_that_word_hides(installed, value):
    assert installed.status(LAZYCUDA_CUDART=value)["state"] == "broken"
    said = installed.status(LAZYCUDA_MAJOR=value)
    assert said["state"] == "broken" and "use 13, 12 or 11, or none, or unset it" in said["reason"]


@pytest.mark.parametrize("stubs, flags", [(build.LIBRARIES, []), (build.DRIVER, ["-DDRIVER"])])
def test_no_file_is_looked_for(installed, stubs, flags):
    program = build.program(build.TESTS / "missing" / "twice.c", *flags,
                            *[build.import_library(library, 12) for library in stubs])
    installed.search(build.STUBS)
    installed.env["LAZYCUDA_MAJOR"] = "none"
    calls = between(system_calls(installed, program), "first", "second")
    assert files_opened(calls) == []
    assert "libcu" not in calls and "libnv" not in calls and "/usr" not in calls


def test_nor_for_the_driver(installed):
    # Whoever asks which there is, and whoever checks what it can run.
    said = installed.probe("stub:cudart", "driver", "maps:libcuda.so", LAZYCUDA_MAJOR="none")
    assert said[1]["version"] == 0 and said[2]["maps"] is None
    installed.loader(driver("11.2"), folder="loader")
    installed.env["LAZYCUDA_GUARD"] = "strict"
    assert installed.status()["state"] == "refused"
    assert installed.status(LAZYCUDA_CUDA="none")["version"] == "12.9"


def test_a_driver_that_is_shown_again_is_looked_at(installed):
    said = installed.probe("stub:cudart", "driver", "setenv:LAZYCUDA_CUDA=", "driver",
                           LAZYCUDA_CUDA="none")
    assert [line["version"] for line in said if "branch" in line] == [0, 12090]


def test_a_hidden_library_binds_no_other(world):
    world.loader(fake("cudart", "13.5"), fake("cudart", "12.9"), fake("nvJitLink", "12.9"))
    assert world.status("cudart", "nvJitLink")["version"] == "12.9"
    said = world.statuses("cudart", "nvJitLink", LAZYCUDA_NVJITLINK="none")
    assert said["cudart"]["version"] == "13.5" and said["nvJitLink"]["state"] == "hidden"


# ---- the command ----

def test_status_has_a_word_for_it(installed):
    done = installed.cli("status", LAZYCUDA_CUDART="none", status=1)
    assert ("cudart      hidden: cudart is hidden by LAZYCUDA_CUDART=none, and was not looked for\n"
            "            unset it to use what is installed\n") in done.out
