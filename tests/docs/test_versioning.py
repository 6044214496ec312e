# SPDX-License-Identifier: MIT
"""docs/reference/versioning.md: what a later release may change, and what it may not."""
import re

import pytest

import build
import elf
import pages

PAGE = pages.page("reference/versioning.md")
# What 0.1 has.
FUNCTIONS = {
    "LAZYCUDA_1": {"lazycuda_get_status", "lazycuda_load", "lazycuda_get_driver",
                   "lazycuda_get_error", "lazycuda_get_guard", "lazycuda_open_aside", "lazycuda_version",
                   "lazycuda_set_constraint", "lazycuda_set_order", "lazycuda_is_allowed", "lazycuda_stub_1"},
    "LAZYCUDA_LINK_1": {
        "lazycuda_code_name", "lazycuda_combine", "lazycuda_components_free", "lazycuda_find_components",
        "lazycuda_entry_fatbin",
        "lazycuda_entry_payload", "lazycuda_get_components", "lazycuda_get_environment", "lazycuda_get_others", "lazycuda_inspect",
        "lazycuda_inspect_file", "lazycuda_inspect_input", "lazycuda_inspection_free",
        "lazycuda_kind_name", "lazycuda_link_add", "lazycuda_link_cancel", "lazycuda_link_free", "lazycuda_link_key",
        "lazycuda_link_new", "lazycuda_link_run", "lazycuda_link_setup",
        "lazycuda_link_teardown", "lazycuda_link_worker", "lazycuda_plan", "lazycuda_plan_free",
        "lazycuda_plan_here", "lazycuda_read_driver", "lazycuda_toolkit_version"},
}
NODES = {**{build.stub(library): "LAZYCUDA_1" for library in build.STUBBED},
         build.STUBS / "liblazycuda_link.so": "LAZYCUDA_LINK_1"}


@pytest.mark.parametrize("file", NODES, ids=lambda file: file.name)
def test_a_node_has_what_it_was_released_with_and_no_more(file):
    node = NODES[file]
    assert {s.name for s in elf.exports(file) if s.node == node} == FUNCTIONS[node]
    assert f"`{node}`" in PAGE


@pytest.mark.parametrize("file", NODES, ids=lambda file: file.name)
def test_the_sonames(file):
    assert elf.dynamic(file)["SONAME"] == [file.name]
    assert f"`{build.stub_name('cudart')}`" in PAGE and "one for all libraries" in PAGE


def test_a_minor_version_counts_as_a_major_one_until_1_0():
    """tests/install looks at CMake's part of it."""
    recipe = (build.ROOT / "packaging/conda/recipe.yaml").read_text()
    assert 'upper_bound="x.x"' in recipe
    version = re.search(r"^VERSION := (\S+)", (build.ROOT / "Makefile").read_text(), re.M)[1]
    assert version.startswith("0."), "the page speaks of 0.x: write it anew"
