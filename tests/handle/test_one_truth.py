# SPDX-License-Identifier: MIT
"""What `plan` says of inputs, `link` says: of every source of shape_sources as each kind of
code, and of containers made by hand, whole and damaged."""
import json
import sys

import pytest

import build
import cubin_shapes
import handles
import samples
from shape_sources import SOURCES, UNDEFINED, WITHOUT_KERNEL

sys.path.append(str(build.TESTS / "inspection"))
import made_up as c  # noqa: E402

VERSIONS = ("12.9", "13.5")
KINDS = ("ptx", "cubin", "ltoir", "source")
OPTIONS = {"ptx": ["-rdc=true"], "cubin": ["-rdc=true"], "ltoir": ["-dlto"]}
# What a linker sees and no plan can: nothing else may differ.
OF_THE_LINKER = {"LINK_FAILED", "UNDEFINED_SYMBOL"}
# These need what the other has, or what cudadevrt has.
LACKING = {"calls", *UNDEFINED}
# Of these nothing stays in an image; of their variables something does.
NO_ROOT = {*WITHOUT_KERNEL, "called"} - {"constant", "variable"}


class Coded(cubin_shapes.Shape):
    """A shape as PTX or LTO-IR; Shape itself is a cubin."""
    @property
    def kind(self):
        return self.option

    @property
    def options(self):
        return [*OPTIONS[self.option], f"-arch={self.arch}"]


def both_say(world, *words):
    """The code of the plan, and of the link, and the link's message; the rest has to agree."""
    plan = json.loads(world.cli("plan", "--json", *words, check=False).out)
    link = json.loads(world.cli("link", "--json", "-o", world.root / "image", *words,
                                check=False).out)
    assert plan["rule"] == link["rule"] and plan["nvjitlink"] == link["nvjitlink"]
    if plan["code"]:
        assert (link["code"], link["decision"], link["message"]) == (
            plan["code"], "refused", plan["message"]), (plan, link)
    return plan["code"], link["code"], link["message"]


def code(world, version, kind, unit):
    if kind == "source":
        path = world.root / f"{unit}.cu"
        path.write_text('extern "C" {}\n' + SOURCES[unit])
        return path
    shape = Coded(version, "sm_80", unit, kind)
    samples.make([shape])
    return shape.path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_source_as_each_kind(world, real, version, kind):
    handles.install(world, real(version))
    for unit in SOURCES:
        planned, linked, message = both_say(world, "--arch", "sm_80",
                                            code(world, version, kind, unit))
        if unit in NO_ROOT and kind in ("ptx", "cubin"):
            assert planned == "NO_DEVICE_CODE", (unit, planned, linked)
        elif unit in NO_ROOT:       # the linker sees it, or the plan for what was compiled
            assert (planned, linked) == (
                None, "BAD_IMAGE" if kind == "ltoir" else "NO_DEVICE_CODE"), (unit, message)
        elif unit in LACKING:
            assert planned is None and linked in OF_THE_LINKER, (unit, linked, message)
        else:
            assert (planned, linked) == (None, None), (unit, message)


def made_by_hand():
    function = ".visible .func helper()\n{\n\tret;\n}\n"
    good = {"ptx": c.ptx(), "functions": c.ptx(body=function), "comment": "// ö\n".encode() + c.ptx(),
            "later ptx": c.ptx(isa="9.9"), "later target": c.ptx(target="sm_120"),
            "cubin of another": c.cubin(arch=90), "linked cubin": c.cubin(linked=True),
            "later cubin": c.cubin(toolkit=139)}
    entries = c.entry(c.PTX, c.ptx()), c.entry(c.CUBIN, c.cubin())
    containers = {"fatbin": c.fatbin(entries[0]), "two": c.fatbin(*entries),
                  "object": c.elf([(".nv_fatbin", c.fatbin(entries[0]))]),
                  "offload": c.offload(c.image(c.ptx()), c.image(c.cubin(arch=90), "sm_90")),
                  "archive": c.archive(c.member(b"k.ptx/", c.ptx())),
                  "archive with garbage": c.archive(c.member(b"k.ptx/", c.ptx()),
                                                    c.member(b"g/", b"\x7fELF" + b"x" * 99)),
                  "archive with text": c.archive(c.member(b"README/", b"to be read\n"),
                                                 c.member(b"k.ptx/", c.ptx())),
                  "nothing": b"", "words": b"some words\n", "zeros": bytes(256)}
    for name, data in {**good, **containers}.items():
        yield name, data
        yield f"{name}, cut", data[:len(data) * 2 // 3]
        yield f"{name}, changed", data[:40] + b"\xff" + data[41:]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("words", [[], ["--lto"], ["--relocatable"], ["--offline"],
                                   ["--policy", "strict"], ["--policy", "off"]], ids=" ".join)
def test_containers_made_by_hand(world, real, version, words):
    handles.install(world, real(version))
    for name, data in made_by_hand():
        path = world.root / "input"
        path.write_bytes(data)
        planned, linked, message = both_say(world, "--arch", "sm_80", *words, path)
        assert planned or linked is None or linked in OF_THE_LINKER, (name, linked, message)
