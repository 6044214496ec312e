# SPDX-License-Identifier: MIT
"""`lazycuda audit` of what needs the driver's libraries, whose names have no versions."""
import json

import pytest

import build
import symbols
from importer import SONAMES, importer, needing, real

driver_libraries = pytest.mark.parametrize("library", build.DRIVER)
NAMES = {"cuda": ("cuInit", "cuCtxCreate_v2"), "nvml": ("nvmlInit_v2", "nvmlShutdown")}
# Of a kind that the list has, and not in it.
LATER = {"cuda": "cuOfTomorrow", "nvml": "nvmlOfTomorrow"}
EVERY = {"direct": 2, "renamed": 0, "adapted": 0, "refused": [], "absent": []}


def since(library, version):
    """A name of a library that came with this version."""
    return next(f.name for f in symbols.read().libraries[library].functions
                if f.range.text == f"{version}-")


@driver_libraries
def test_names_of_the_driver_are_judged(said, tmp_path, library):
    file = said(needing(tmp_path, library, *NAMES[library]))
    assert file["imports"] == [{
        "library": library, "needed": SONAMES[library], "version_need": None, "through": "real",
        "compiled_for": None, "names": 2, "versioned": False, "judged": True, "served_by": None, "served_since": None}]
    assert file["targets"] == {version: EVERY for version in ("11.8", "12.9", "13.5")}
    assert file["driver"] == "11.7"
    assert file["verdict"] == "runs on 11.7 and later, on 12 and on 13"


@driver_libraries
def test_what_is_linked_to_the_stub_already(said, tmp_path, library):
    by_stub = importer(tmp_path, *NAMES[library], link=[build.stub(library)], name="one.so")
    by_import_library = importer(tmp_path, *NAMES[library], library=library, name="two.so")
    for file in (by_stub, by_import_library):
        out = said(file)
        entry, = out["imports"]
        assert (entry["needed"], entry["through"], entry["names"], entry["judged"]) == (
            build.stub_name(library), "stub", 2, True)
        assert out["targets"]["13.5"] == EVERY


def test_the_runtime_and_the_driver_in_one_file(said, tmp_path):
    file = said("--all-versions", importer(
        tmp_path, "cuInit", "cudaMalloc", "cudaGetKernel", link=[
            real(tmp_path, "libcuda.so.1", "cuInit"), build.import_library("cudart", 12)]))
    assert {(entry["library"], entry["compiled_for"], entry["names"])
            for entry in file["imports"]} == {("cuda", None, 1), ("cudart", 12, 2)}
    assert file["targets"]["12.9"]["direct"] == 3
    assert file["targets"]["11.8"]["absent"] == ["cudaGetKernel"]


# The driver is not of the toolkit's version.

@driver_libraries
def test_a_later_function_runs_on_every_cuda_with_a_driver_that_has_it(said, audit, tmp_path,
                                                                       library):
    name = since(library, "12.4")
    file = needing(tmp_path, library, NAMES[library][0], name)
    out = said(file)
    assert out["driver"] == "12.4" and out["targets"]["11.8"] == EVERY
    assert out["verdict"] == ("runs on 11.7 and later, on 12 and on 13, with a driver of CUDA 12.4 "
                              "or later")
    audit("--require", "11,12,13", file)


def test_for_a_driver_that_lacks_one(said, audit, tmp_path):
    name = since("cuda", "12.4")
    file = needing(tmp_path, "cuda", "cuInit", name)
    out = said("--driver", "12.2", file)
    assert out["targets"]["13.5"]["absent"] == [name] and out["runs_on"] == []
    assert out["verdict"] == f"runs on none: a driver of CUDA 12.2 does not have {name}"
    assert "1 not in the driver" in audit("--driver=12.2", file).out
    assert audit("--driver", "12.2", "--require", "11", file, status=1).err
    audit("--driver=12.4", "--require=11", file)


def test_a_driver_runs_no_later_major(audit, said, tmp_path):
    file = importer(tmp_path, "cudaMalloc")
    audit("--driver", "12.2", "--require", "12.9", file)
    audit("--driver", "12.2", "--require", "13", file, status=1)
    assert said("--driver", "12.2", file)["verdict"].endswith("; on 13: it needs a driver of that CUDA")
    # The driver's own library is there in either case.
    audit("--driver", "12.2", "--require", "13", needing(tmp_path, "cuda", "cuInit", name="own.so"))


def test_all_of_several_files(audit, tmp_path):
    older = needing(tmp_path, "cuda", "cuInit", name="one.so")
    newer = needing(tmp_path, "nvml", since("nvml", "12.8"), name="two.so")
    out = json.loads(audit("--json", older, newer).out)
    assert out["all"]["driver"] == "12.8"
    assert audit(older, newer).lines[-1] == (
        "all of it: runs on 11.7 and later, on 12 and on 13, with a driver of CUDA 12.8 or later")


def test_a_name_that_headers_have_no_more_is_looked_for_all_the_same(said, tmp_path):
    gone = next(f.name for f in symbols.read().libraries["nvml"].functions
                if f.range.text == "12.0-12.1")
    file = said(needing(tmp_path, "nvml", gone))
    assert file["targets"]["13.5"]["absent"] == [] and file["driver"] == "12.0"


# Names that say themselves whose they are, or nothing does.


@driver_libraries
def test_a_name_that_no_list_has(said, audit, tmp_path, library):
    file = needing(tmp_path, library, NAMES[library][0], LATER[library])
    out = said(file)
    assert out["imports"][0]["names"] == 2
    assert out["targets"]["11.8"]["absent"] == out["targets"]["13.5"]["absent"] == [LATER[library]]
    assert out["verdict"] == f"runs on none: a driver of CUDA 13.5 does not have {LATER[library]}"
    assert audit("--require", "12", file, status=1).err


@pytest.mark.parametrize("name", ["cublasCreate_v2", "cunning", "cu_helper", "nvmlike"])
def test_what_only_begins_alike_is_not_the_drivers(said, tmp_path, name):
    both = [real(tmp_path, "libcuda.so.1", "cuInit"),
            real(tmp_path, "libnvidia-ml.so.1", "nvmlInit_v2")]
    file = said(importer(tmp_path, "cuInit", name, link=both))
    assert [entry["names"] for entry in file["imports"] if entry["library"] in ("cuda", "nvml")] == [1, 0]
    assert file["targets"]["13.5"]["absent"] == []


def test_a_name_of_another_library_that_is_needed(said, tmp_path):
    # Names of libcufile are like the driver's, and it is older than none of these.
    driver = real(tmp_path, "libcuda.so.1", "cuInit")
    other = real(tmp_path, "libcufile.so.0", "cuFileRead")
    file = importer(tmp_path, "cuInit", "cuFileRead", link=[driver, other])
    assert said(file)["targets"]["13.5"]["absent"] == []
    alone = importer(tmp_path, "cuInit", "cuFileRead", link=[driver])
    assert said(alone)["targets"]["13.5"]["absent"] == ["cuFileRead"]


@driver_libraries
def test_names_that_something_unknown_may_bring_are_told_and_not_judged(said, audit, tmp_path, library):
    file = importer(tmp_path, *NAMES[library], LATER[library], link=[real(tmp_path, "libother.so.1", "other")])
    out = said(file)
    entry, = out["imports"]
    assert (entry["judged"], entry["names"], entry["needed"]) == (False, 2, None)
    assert out["driver"] is None and "whatever is in the process answers" in audit(file).out


# What a file is, and opens.

@driver_libraries
def test_the_real_library_is_recognised(said, debian, library):
    out = said(debian(library))
    assert out["is"] == "real" and out["verdict"] == f"is the real {library} itself"


def test_a_stub_that_is_not_ours_is_not_ours(said, tmp_path):
    # Others make stubs for the driver as well.
    file = real(tmp_path, "libcuda_stub.so", "cuInit", "cuDriverGetVersion")
    assert said(file)["is"] is None
