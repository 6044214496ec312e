# SPDX-License-Identifier: MIT
"""The versions of libraries whose numbers are their own, and a library that has nodes since one."""
import importlib.util

import pytest

import build
import library_lists
import toolkits     # which puts tools/upkeep where Python looks  # noqa: F401


@pytest.fixture
def libraries():
    """tools/upkeep/libraries.py; a folder of tests has that name, too."""
    spec = importlib.util.spec_from_file_location(
        "derive", build.ROOT / "tools" / "upkeep" / "libraries.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_versions_with_other_names_are_versions_of_their_own(monkeypatch, libraries):
    """As cuSOLVER 11.5.3 lacks what 11.5.0 has, and as cuSPARSELt's major is 0."""
    names = {"a": {"f"}, "b": {"f", "g"}, "c": {"f"}, "d": {"f"}, "e": {"f", "g", "h"}}
    monkeypatch.setattr(libraries, "exports", names.get)
    known = {"t1": (11, 4, 2), "t2": (11, 5, 0), "t3": (11, 5, 3), "t4": (11, 5, 5), "t5": (11, 6, 1)}
    found, versions, called = libraries.numbered(list(zip(known, names))[::-1], known)
    assert found == [("t1", "a"), ("t2", "b"), ("t3", "c"), ("t5", "e")]
    assert versions == {"t1": "11.4", "t2": "11.5", "t3": "11.6", "t4": "11.6", "t5": "11.7"}
    assert called == {"11.6": "11.5.3", "11.7": "11.6"}
    _, versions, called = libraries.numbered([("t", "a")], {"t": (0, 8, 1)})
    assert (versions, called) == ({"t": "1.8"}, {"1.8": "0.8"})


@pytest.mark.parametrize("name, has, lacks, since", [
    ("cusparseLt", "cusparseLtInit", "cusparseLtMatmulAlgSelectionDestroy", "cusparseLt 0.8"),
    ("cutensor", "cutensorCreate", "cutensorPlanPreferenceGetAttribute", "cutensor 2.4")])
def test_a_refusal_says_which_version_has_the_function(world, name, has, lacks, since):
    made = library_lists.read(name)
    soname = made.sonames[max(made.sonames)]
    node = made.nodes.get(max(made.sonames), [""])[0]
    script = build.text(f"{node} {{ global: *; }};\n", "map")
    world.loader(build.compile(soname, "-shared", "-fPIC", f"-Wl,-soname,{soname}",
                               f"-Wl,--version-script={script}",
                               build.text(f"int {has}(void) {{ return 0; }}\n", "c")))
    said = world.probe(f"open:{library_lists.stub(name)}", f"call:{lacks}", f"error:{name}")
    assert f"does not have this function; {since} and later do" in said[2]["message"]


@pytest.mark.parametrize("version", ["12.9", "13.0", "13.5"])
def test_a_library_that_has_version_nodes_since_a_minor(world, real, version):
    """libnvfatbin.so.13 has some since 13.5; who was linked to an older one names none."""
    file = real(version).file("nvfatbin")
    world.search(file.parent)
    major = int(version.split(".")[0])
    calls = ["nvFatbinVersion", f"nvFatbinVersion@libnvfatbin.so.{major}"]
    said = world.probe(f"open:{library_lists.stub('nvfatbin')}",
                       *(f"out:{call}:4:0:4:1" for call in calls))
    want = version.split(".")
    for one in said[1:]:
        assert (one["value"], [int.from_bytes(bytes.fromhex(each), "little")
                               for each in one["bytes"][:2]]) == (0, [int(part) for part in want])
