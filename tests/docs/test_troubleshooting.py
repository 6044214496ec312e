# SPDX-License-Identifier: MIT
"""docs/reference/codes.md has every code that can be given, and docs/troubleshooting.md quotes
what is printed; docs/cpu-only.md says what happens where there is no CUDA."""
import json
import re
import shutil

import pytest

import build
import pages
from fakes import driver, fake
from world import CALL, MISSING

PAGE = pages.page("troubleshooting.md")
CODES = pages.page("reference/codes.md")
CPU_ONLY = pages.page("cpu-only.md")


def first_column(title, page=CODES):
    """What the rows of a section's table begin with."""
    return [cell for row in re.findall(r"^\| (.*?) \|", pages.section(page, title), re.M)
            for cell in re.findall(r"`([^`]+)`", row) or re.findall(r"^\d+$", row)]


# ---- codes ----

def test_every_refusal_of_retarget_has_an_entry():
    sources = "".join(path.read_text() for path in
                      (build.PYTHON / "lazycuda").glob("*.py") if not path.name.startswith("toolkit"))
    given = set(re.findall(r'Refused\("([A-Z_0-9]+)"', sources)) | set(
        re.findall(r'"(CUDA_[A-Z_0-9]+)"', sources))
    assert len(given) > 10
    assert sorted(first_column("## Refusals of `lazycuda retarget`")) == sorted(given)


def test_every_refusal_of_a_link_has_an_entry():
    listed = re.findall(r"LAZYCUDA_CODE_(\w+) = \d+",
                        (build.ROOT / "include/lazycuda_link.h").read_text())
    assert first_column("## Refusals of `lazycuda plan` and `lazycuda link`") == listed[1:]


def test_every_verdict_of_an_audit_has_an_entry(world):
    program = build.program(build.TESTS / "missing" / "twice.c", build.import_library("cudart", 12))
    said = json.loads(world.cli("audit", "--json", program).out)
    verdicts = set().union(*(target for file in said["files"]
                             for target in file["targets"].values())) - {"untold"}
    assert {"direct", "absent"} <= verdicts
    assert set(first_column("## Verdicts of `lazycuda audit`")) == {
        name for name in verdicts if name in ("direct", "renamed", "adapted", "refused", "absent")}


def test_every_status_of_a_stub_has_an_entry():
    listed = (build.ROOT / "symbols.txt").read_text()
    given = re.findall(r"^    error \w+ (\d+)$", listed, re.M)
    assert len(given) > 15
    assert {cell for cell in first_column("## When a call fails") if cell.isdigit()} == set(given)


# ---- messages ----

def headline(part):
    """The message in bold that has this part in it."""
    found, = [text for text in re.findall(r"^\*\*`+([^*]+?)`+\.?\*\*", PAGE, re.M) if part in text]
    return found


def test_the_stub_is_not_found(world):
    said = world.run(build.program(build.TESTS / "missing" / "twice.c",
                                   build.import_library("cudart", 12)), check=False)
    assert headline("libcudart_stub.so: cannot") in said.err


def test_the_real_library_is_not_found(world):
    said = world.run(build.program(build.TESTS / "missing" / "twice.c", fake("cudart", "12.9"),
                                   name="real"), check=False)
    assert headline("libcudart.so.12: cannot") in said.err


def test_something_else_lies_under_the_name_of_the_stub(world):
    world.search(world.folder("wrong"))
    shutil.copy(fake("cudart", "11.8"), world.folder("wrong") / "libcudart_stub.so")
    said = world.run(build.program(build.TESTS / "missing" / "twice.c",
                                   build.import_library("cudart", 12)), check=False)
    assert headline("libcudart.so.12' not") in said.err


def test_a_name_that_differs_between_majors(tmp_path):
    (tmp_path / "app.c").write_text("int cudaMemAdvise(); int main(void) { return cudaMemAdvise(); }")
    said = build.run(*build.CC, "-w", "-std=gnu11", tmp_path / "app.c", build.stub("cudart"), "-o",
                     tmp_path / "app")
    assert said.returncode and headline("undefined reference") in said.stderr


def incoherent(world):
    world.loader(fake("cudart", "13.5"), fake("nvrtc", "12.9"))
    return world.probe("stub:nvrtc", "load:nvrtc", "stub:cudart", "status:cudart", "load:cudart",
                       "status:cudart", LAZYCUDA_GUARD="strict")[-1]["reason"]


def old_driver(world):
    world.loader(fake("cudart", "12.9"), driver("11.2"))
    return world.status(LAZYCUDA_GUARD="strict")["reason"]


def excluded(world):
    world.loader(fake("cudart", "12.9"))
    return world.status(LAZYCUDA_CONSTRAINT="<12")["reason"]


def no_gpu(world):
    return world.probe("stub:cudart", "call:cudaGetDeviceCount", "error:cudart")[-1]["message"]


def status(**env):
    return lambda world: world.status(**env)["reason"]


TEXTS = {"no usable": status(), "neither": no_gpu, "the installed driver": old_driver,
         "does not go with": incoherent, "satisfies the constraint": excluded}
# What the texts are that the page of the task shows.
TABLE = re.findall(r"^\| `(.+?)`", pages.section(PAGE, "## A call fails"), re.M)


@pytest.mark.parametrize("part", TEXTS)
def test_a_text_is_what_is_said(world, part):
    text, = [cell for cell in TABLE if part in cell]
    assert pages.is_like(f"...{text}...", TEXTS[part](world))


def test_every_text_is_compared():
    assert len([cell for cell in TABLE if not cell.startswith("...")]) == len(TEXTS)


# ---- without a GPU ----

def test_what_calls_answer(world):
    rows = {cells[0]: cells[1:] for cells in (
        [cell.strip() for cell in row.split("|")[1:-1]] for row in
        re.findall(r"^\|.*\|$", pages.section(CPU_ONLY, "## What happens there"), re.M))}
    said = world.probe("stub:cudart", "out:cudaGetDeviceCount:4:0", "out:cudaDriverGetVersion:4:0")
    zero = ["00" * 4]
    assert [line["bytes"] for line in said[1:]] == [zero, zero]
    assert rows["is there a GPU: `cudaGetDeviceCount`"][0] == f"{said[1]['value']}, 0 devices"
    assert rows["is there a driver: `cudaDriverGetVersion`"][0] == f"{said[2]['value']}, version 0"
    for library, value in zip(build.STUBBED, rows["every other call"]):
        said = world.probe(f"stub:{library}", f"call:{CALL[library]}")[1]["value"]
        assert said == MISSING[library] == int(value)


def test_what_status_says_of_it(world):
    world.loader(fake("cudart", "12.9"), fake("nvrtc", "12.9"))
    step = pages.shown(pages.where("cpu-only.md"), "LAZYCUDA_MAJOR=none lazycuda")
    variable, _, *words = step.line.split()
    done = world.cli(*words, check=False, **dict([variable.split("=")]))
    assert (done.status, done.out.rstrip("\n")) == (1, step.output.rstrip("\n"))
