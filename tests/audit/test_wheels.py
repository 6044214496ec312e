# SPDX-License-Identifier: MIT
"""What is on PyPI: which of its imports other majors serve."""
import json
import platform

import pytest

import build
from published import WHEELS, fetch, folder


def runs_on(file, major):
    return any(version.startswith(f"{major}.") for version in file["once_retargeted"])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheels are for x86-64")
def test_published_files_run_on_other_majors(audit):
    for wheel in WHEELS:
        why = fetch(wheel)
        if why:
            pytest.skip(f"{wheel} could not be fetched: {why}")
    out = json.loads(audit("--json", *map(folder, WHEELS)).out)
    files = [file for file in out["files"] if any(
        entry["names"] and entry["judged"] for entry in file["imports"])]
    wheels = {file["wheel"].split("/")[-2] for file in files}
    assert wheels == set(WHEELS)
    assert {entry["through"] for file in files for entry in file["imports"]} >= {"real", "renamed"}
    assert any(file["static"] for file in out["files"])
    lacking = []
    for built in build.MAJORS:
        mine = [file for file in files
                if {entry["compiled_for"] for entry in file["imports"]
                    if entry["library"] in build.STUBBED} == {built}]
        assert len(mine) >= 4
        for major in build.MAJORS:
            run = [file for file in mine if runs_on(file, major)]
            print(f"built for {built}: {len(run)} of {len(mine)} files run on {major}")
            lacking += [(built, major, file["verdict"]) for file in mine if file not in run]
    assert lacking == []
