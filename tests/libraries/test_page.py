# SPDX-License-Identifier: MIT
"""The table of docs/reference/libraries.md has what libraries/ has."""
import library_lists
import pages


def test_the_table_of_libraries():
    first = pages.page("reference/libraries.md").partition("\n## ")[0]
    rows = {}
    for line in first.splitlines():
        if line.startswith("| ") and line.strip("| ")[-1].isdigit():
            names, numbers = line.strip("| ").split(" | ")
            rows |= {name: [f"lib{name}.so.{number}" for number in numbers.split(", ")] for name in names.split(", ")}
    assert rows == {name: list(library_lists.read(name).sonames.values()) for name in library_lists.NAMES}
