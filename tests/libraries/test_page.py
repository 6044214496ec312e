# SPDX-License-Identifier: MIT
"""The table of docs/reference/libraries.md has what libraries/ has."""
import re

import library_lists
import pages


def test_the_table_of_libraries():
    first = pages.page("reference/libraries.md").partition("\n## ")[0]
    rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in first.splitlines()
            if line.startswith("| ") and ".so." in line]
    wanted = []
    for name in library_lists.NAMES:
        made = library_lists.read(name)
        undeclared = {one for (one, _), row in made.rows.items() if row.undeclared}
        wanted.append([name, ", ".join(made.sonames[of] for of in made.sonames),
                       str(len({one for one, _ in made.rows})), str(len(undeclared))])
    assert rows == wanted
