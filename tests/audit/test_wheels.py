# SPDX-License-Identifier: MIT
"""What is on PyPI: which of its imports other majors serve."""
import json
import platform
import subprocess
import sys

import pytest

import build

# Built for 11, 12 and 13; with the libraries of others, renamed ones, copies of
# their own, and with none.  The names are those of the whole wheels.
WHEELS = """
bitsandbytes-cuda110==0.26.0.post2 bitsandbytes-cuda117==0.26.0.post2 torchaudio==2.0.2
torchvision==0.15.2 torchaudio==2.8.0 torchvision==0.21.0 cumm-cu120==0.6.3
faiss-gpu-cu12==1.14.1.post1 torch-memory-saver==0.0.10 torchao==0.18.0 torchaudio==2.11.0
torchcodec==0.17.0 torchvision==0.29.2
""".split()
TAGS = ("manylinux1", "manylinux2014", "manylinux_2_17", "manylinux_2_24", "manylinux_2_27",
        "manylinux_2_28")


def fetch(wheel, folder):
    """None, or why it could not be had."""
    if list(folder.glob("*.whl")):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    platforms = [word for tag in TAGS for word in ("--platform", f"{tag}_x86_64")]
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
         "--disable-pip-version-check", "--only-binary=:all:", "--python-version", "3.11",
         *platforms, "--platform", "any", "--dest", folder, wheel],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return None if not pip.returncode else (pip.stderr.strip() or "pip says nothing").splitlines()[-1]


def runs_on(file, major):
    return any(version.startswith(f"{major}.") for version in file["runs_on"])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheels are for x86-64")
def test_published_files_run_on_other_majors(world):
    folders = [build.BUILD / "tests" / "wheels" / wheel for wheel in WHEELS]
    for wheel, folder in zip(WHEELS, folders):
        why = fetch(wheel, folder)
        if why:
            pytest.skip(f"{wheel} could not be fetched: {why}")
    out = json.loads(world.cli("audit", "--json", *folders, "--require", "12,13").out)
    files = [file for file in out["files"] if any(
        entry["names"] and entry["judged"] for entry in file["imports"])]
    wheels = {file["wheel"].split("/")[-2] for file in files}
    assert wheels == set(WHEELS)
    assert {entry["through"] for file in files for entry in file["imports"]} >= {"real", "renamed"}
    assert any(file["static"] for file in out["files"])
    lacking = []
    for built in build.MAJORS:
        mine = [file for file in files
                if {entry["compiled_for"] for entry in file["imports"]} == {built}]
        assert len(mine) >= 4
        for major in build.MAJORS:
            run = [file for file in mine if runs_on(file, major)]
            print(f"built for {built}: {len(run)} of {len(mine)} files run on {major}")
            lacking += [(built, major, file["verdict"]) for file in mine if file not in run]
    # What no runtime before 12.5 has, and no adaptor can make.
    assert all((built, major) == (13, 11) and "absent: cudaGetDriverEntryPointByVersion" in verdict
               for built, major, verdict in lacking), lacking
