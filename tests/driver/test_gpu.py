# SPDX-License-Identifier: MIT
"""The driver's API on a real GPU, through the stub.  Not in the sandbox, which hides drivers."""
import subprocess

import pytest

import build


def test_a_program_of_the_drivers_api_runs():
    program = build.program(build.TESTS / "driver" / "gpu.c", *[
        build.import_library(library, 13) for library in build.DRIVER],
        f"-Wl,-rpath,{build.STUBS}")
    done = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    print(done.stderr)
    assert done.stdout.splitlines() == [
        "values right", "time measured", "cuGetProcAddress right", "NVML right"], done.stdout
