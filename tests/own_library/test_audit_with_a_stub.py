# SPDX-License-Identifier: MIT
"""`lazycuda audit --stub`: imports of a library that somebody made a stub of."""
import functools
import json

import pytest

import own_stubs
from importer import importer
from own_stubs import bar, stub_of

SERVED = {"direct": 2, "renamed": 0, "adapted": 0, "refused": [], "absent": []}


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    """As cuFFT: a number of its own for each major of CUDA; and nothing of CUDA 13."""
    folder = tmp_path_factory.mktemp("cuda")
    found = [bar(folder, number) for number in (10, 11)]
    return found, stub_of(folder, *[f"{real}={cuda}" for real, cuda in zip(found, (11, 12))])


@pytest.fixture
def audit(world):
    return lambda stub, *arguments, **more: world.cli("audit", "--stub", stub.file, *arguments, **more)


@pytest.fixture
def said(audit):
    """What it says of one file, as JSON."""
    return lambda *arguments: json.loads(audit(*arguments, "--json").out)["files"][0]


def test_cudas_majors_are_judged_on_each_cuda(said, cuda, tmp_path):
    found, stub = cuda
    for link, needed, way in ((found[1], "libbar.so.11", "real"),
                              (stub.abi(12), "libbar_stub.so", "stub")):
        file = said(stub, importer(tmp_path, "barA", "barB11", link=[link]))
        assert file["imports"] == [{
            "library": "bar", "needed": needed, "version_need": needed, "through": way,
            "compiled_for": 12, "names": 2, "versioned": True, "judged": True, "served_by": None, "served_since": None}]
        assert file["targets"]["12.9"] == SERVED
        assert file["targets"]["11.8"] == {**SERVED, "direct": 0, "refused": ["barA"],
                                           "absent": ["barB11"]}
        assert set(version.split(".")[0] for version in file["runs_on"]) == {"12"}


def test_require_counts_them(audit, cuda, tmp_path):
    file = importer(tmp_path, "barA", link=[cuda[0][1]])
    audit(cuda[1], "--require", "12", file)
    done = audit(cuda[1], "--require", "12,13", file, status=1)
    assert "no version of CUDA 13 that all of it runs on" in done.err


def test_a_name_that_came_with_a_later_version_of_a_cuda(audit, said, tmp_path):
    """As cublasDgemmGroupedBatched, which came with CUDA 12.4."""
    files = [own_stubs.library(tmp_path / f"real{number}", "libbar.so.12", own_stubs.BAR.format(number))
             for number in (1, 2)]
    both = own_stubs.library(tmp_path / "both", "libbar.so.12", own_stubs.BAR.format(1) + "int barB2(void);\n"
                             "int barB2(void) { return 2; }\n")
    stub = stub_of(tmp_path, f"{files[0]}=12.1", f"{both}=12.4")
    file = importer(tmp_path, "barA", "barB2", link=[both])
    assert {version for version in said(stub, file)["runs_on"]} == {"12.4", "12.5", "12.6", "12.8", "12.9"}
    audit(stub, "--require", "12.4", file)
    assert "not all of it runs on CUDA 12.1" in audit(stub, "--require", "12.1", file, status=1).err


LIST = """toolkits 11.8 12.0 12.1 12.3 13.0

library bar
    stub libbar_stub.so
    soname libbar.so.11 11.8
    soname libbar.so.12 12.0-12.3
    soname libbar.so.13 13.0-
    variable LAZYCUDA_BAR
    advice Ask for it.
    error missing 7
    error absent 7
    error refused 7
    error driver 7
    error incoherent 7

functions
    barHidden                                            11.8-12.0      (i32)
    barHidden                                            12.1-          (i64)
    barNew                                               12.3-          ()
    barShown                                             11.8-12.1      (i32)
    barShown                                             12.3-          (i64)
"""


def test_an_interface_that_changed_within_a_major(said, tmp_path):
    """What tells 12.3 is barNew; nothing tells 12.1 from 12.0, so a call by another major's caller
    could meet either barHidden."""
    (tmp_path / "bar.txt").write_text(LIST)
    done = own_stubs.run("--list", tmp_path / "bar.txt", "-o", tmp_path / "bar")
    assert done.returncode == 0, done.stderr
    own_stubs.make(tmp_path / "bar")
    stub = own_stubs.Stub(tmp_path / "bar", "")
    said = functools.partial(said, stub, "--all-versions")
    old = said(importer(tmp_path, "barHidden", "barShown", link=[stub.abi(11)]))["targets"]
    assert [sorted(old[version]["refused"]) for version in ("11.8", "12.0", "12.1", "12.3", "13.0")] == [
        [], ["barHidden"], ["barHidden"], ["barHidden", "barShown"], ["barHidden", "barShown"]]
    # It says that it is of 12, and not of which: on 12 all is as without a stub.
    mine = said(importer(tmp_path, "barHidden", "barShown", link=[stub.abi(12)]))["targets"]
    assert [mine[version]["direct"] for version in ("12.0", "12.3", "13.0")] == [2, 2, 0]


def test_majors_of_its_own_are_told_whichever_cuda_is_there(audit, said, own, tmp_path):
    found, stub = own
    module = importer(tmp_path, "barA", "barB10", link=[found[0]])
    file = said(stub, module)
    assert file["imports"][0]["served_by"] == [10] and file["imports"][0]["compiled_for"] == 10
    assert file["targets"] == {version: SERVED for version in ("11.8", "12.9", "13.5")}
    assert ("  bar        2 names of major 10 through libbar.so.10, not yet the stub; served by its"
            " major 10\n") in audit(stub, module).out


def test_names_without_versions(said, plain, tmp_path):
    found, stub = plain
    for link, way in ((found, "real"), (stub.abi(2), "stub"), (stub.file, "stub")):
        file = said(stub, importer(tmp_path, "barA", "barB2", link=[link]))
        entry, = file["imports"]
        assert (entry["through"], entry["names"], entry["judged"], entry["served_by"]) == (
            way, 2, True, [2])
        assert file["targets"]["12.9"] == SERVED
    newer = own_stubs.library(tmp_path / "newer", "libbar.so.2", "int barNew(void) { return 3; }",
                              script="")
    file = said(stub, importer(tmp_path, "barNew", link=[newer]))
    assert file["targets"]["12.9"]["absent"] == ["barNew"]


def test_what_is_no_stub_is_refused(world, cuda, tmp_path):
    found, stub = cuda
    file = importer(tmp_path, "barA", link=[found[1]])
    for words, message in (
            ((found[1],), f"{found[1]} is not a stub of lazycuda"),
            ((tmp_path / "none.so",), "none.so does not exist"),
            (("/bin/true",), "audit: /bin/true cannot be loaded as a stub: cannot "),
            ((stub.file, "--stub", stub.file), "there is another stub of that library")):
        done = world.cli("audit", "--stub", *words, file, check=False)
        assert done.status == 2 and message in done.err and not done.out
