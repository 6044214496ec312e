# SPDX-License-Identifier: MIT
"""`lazycuda audit` with more stubs than torch needs."""
import json

import pytest

import build
import own_stubs
from importer import importer, real


@pytest.fixture(scope="module")
def many_stubs(tmp_path_factory):
    """Sixty stubs of one make, which differ in their names alone, and the libraries."""
    folder = tmp_path_factory.mktemp("many")
    found = own_stubs.library(folder / "real", "libqqzz00.so.1", "int barA(void) { return 1; }\n")
    stub = own_stubs.stub(folder / "stub", "--from", found, "--missing", "7").file
    made = []
    for i in range(60):
        pair = []
        for file in (found, stub):
            copy = folder / file.name.replace("00", f"{i:02}")
            copy.write_bytes(file.read_bytes().replace(b"qqzz00", b"qqzz%02d" % i))
            pair.append(copy)
        made.append(pair)
    return made


@pytest.fixture
def audit(world):
    def run(stubs, *arguments, status=0):
        words = [word for _, stub in stubs for word in ("--stub", stub)]
        done = world.cli("audit", *words, *arguments, check=False)
        assert done.status == status, done.out + done.err
        return done
    return run


def test_more_stubs_than_torch_has_libraries(audit, tmp_path, many_stubs):
    # glibc keeps 1,664 bytes for the threads' variables of what is opened later.
    stubs = many_stubs[:20]
    link = [build.import_library("cudart", 12)]
    for i, (library, _) in enumerate(stubs):
        folder = tmp_path / str(i)
        folder.mkdir()
        link.append(real(folder, library.name, f"bar{i}", node=library.name))
    module = importer(tmp_path, "cudaMalloc", *[f"bar{i}" for i in range(20)], link=link)
    file, = json.loads(audit(stubs, "--json", module).out)["files"]
    assert sorted((entry["library"], entry["names"]) for entry in file["imports"]) == [
        ("cudart", 1), *[(f"qqzz{i:02}", 1) for i in range(20)]]


def test_more_stubs_than_there_is_room_for(audit, tmp_path, many_stubs):
    file = importer(tmp_path, "cudaMalloc")
    assert "room for 64" in audit(many_stubs, file, status=2).err
