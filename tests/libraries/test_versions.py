# SPDX-License-Identifier: MIT
"""The versions of libraries whose numbers are their own, and a library that has nodes since one."""
import pytest

import library_lists
import one_cuda


@pytest.mark.parametrize("name, has, lacks, since", [
    ("cusparseLt", "cusparseLtInit", "cusparseLtMatmulAlgSelectionDestroy", "cusparseLt 0.8"),
    ("cutensor", "cutensorCreate", "cutensorPlanPreferenceGetAttribute", "cutensor 2.4")])
def test_a_refusal_says_which_version_has_the_function(world, name, has, lacks, since):
    made = library_lists.read(name)
    soname = made.sonames[max(made.sonames)]
    node = made.nodes.get(max(made.sonames), [""])[0]
    world.loader(one_cuda.made(soname, f"int {has}(void) {{ return 0; }}\n", node=node))
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
