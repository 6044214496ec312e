# SPDX-License-Identifier: MIT
"""tools/upkeep/truth.py and imported.py, on wheels and a CUDA that were made up."""
import shutil
import sys

import pytest

import build
import wheel_files
from fakes import fake
from importer import importer, real

# The toolkit that has each major's runtime in a folder for truth.py and imported.py.
FOLDERS = {"11.8": "nvidia/cuda_runtime/lib", "12.9": "nvidia/cuda_runtime/lib",
           "13.5": "nvidia/cu13/lib"}


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    root = tmp_path_factory.mktemp("cuda")
    for version, folder in FOLDERS.items():
        file = fake("cudart", version)
        place = root / version / "x86_64" / folder
        place.mkdir(parents=True)
        shutil.copy(file, place / file.name)
    return root


def run(world, tool, *words):
    world.run("true")       # where there is no sandbox, this skips
    done = build.run(sys.executable, build.ROOT / "tools" / "upkeep" / tool, *words)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]
    return done.returncode, [dict(zip(rows[0], row)) for row in rows[2:]] if rows else [], done.stderr


@pytest.fixture
def user(tmp_path):
    """A file that needs the runtime of CUDA 12 itself."""
    link = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    return importer(tmp_path, "cudaMalloc", link=[link], name="user.so")


def test_what_is_said_is_what_happens(world, patchelf, cuda, tmp_path, user):
    wheel = wheel_files.make(tmp_path, {"pkg/user.so": user, "pkg/a.py": b""})
    status, (row,), err = run(world, "truth.py", "--cuda", cuda, wheel)
    assert (status, err) == (0, "")
    assert (row.pop("wheel"), row.pop("files")) == ("pkg==1.0", "1")
    assert row == {"none": "0/0", "11": "0/0", "12": "1/1", "13": "0/0", "none, retargeted": "1/1",
                   "11, retargeted": "1/1", "12, retargeted": "1/1", "13, retargeted": "1/1"}


def test_a_verdict_that_is_wrong_is_said(world, patchelf, cuda, tmp_path, user):
    """Here CUDA 13 has not the function that all of 13 have."""
    wheel = wheel_files.make(tmp_path, {"pkg/user.so": user})
    odd = tmp_path / "odd"
    shutil.copytree(cuda, odd)
    file = fake("cudart", "13.5", without=["cudaMalloc"])
    shutil.copy(file, odd / "13.5" / "x86_64" / FOLDERS["13.5"] / file.name)
    status, (row,), err = run(world, "truth.py", "--cuda", odd, wheel)
    assert (status, row["12, retargeted"], row["13, retargeted"]) == (1, "1/1", "1/0")
    assert "pkg/user.so: once_retargeted 13: cudaMalloc of libcudart.so.12 reaches nothing" in err


@pytest.fixture
def imported(world, patchelf, cuda, tmp_path):
    """Runs imported.py: (status, rows, what is said of errors)"""
    def run_it(*wheels):
        (tmp_path / "beside").mkdir(exist_ok=True)
        (tmp_path / "uses").write_text("# of wheels\npkg\t\timport pkg; pkg.value\nnear import near; 1\n")
        return run(world, "imported.py", "--cuda", cuda, "--beside", tmp_path / "beside", "--work",
                   tmp_path / "work", "--uses", tmp_path / "uses", *wheels)
    return run_it


LOAD = ("import ctypes, pathlib\nhere = pathlib.Path(__file__).parent\n"
        "ctypes.CDLL(str(here / 'user.so'))\nvalue = ")


def test_what_is_imported_and_used_with_which_cuda(imported, tmp_path, user):
    good = wheel_files.make(tmp_path, {"pkg/__init__.py": f"{LOAD}7\n".encode(), "pkg/user.so": user})
    bad = wheel_files.make(tmp_path, {"bad/__init__.py": b"import nowhere_at_all\n", "bad/user.so": user},
                           name="bad")
    status, (row,), err = imported(good)
    assert (status, list(row.values())) == (0, [
        "pkg==1.0", "retargeted", "runs on 11, 12, 13", "all 2", "12: all 2", "13: all 2", "7", ""]), err
    status, (row,), err = imported(bad)
    assert status == 1 and row["none"].startswith("1 of 2: bad: ModuleNotFoundError"), err
    assert row["own"].endswith("; as published")
