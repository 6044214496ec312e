# SPDX-License-Identifier: MIT
"""The table of docs/reference/libraries.md has what libraries/ has."""
import re

import build
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


def rules():
    """What gen/libraries.txt says of each: {library: {word: [values]}}"""
    found, names = {}, []
    for line in (build.ROOT / "gen" / "libraries.txt").read_text().splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if not line.startswith(" "):
            names = words[1:]
        for name in names:
            found.setdefault(name, {}).setdefault(words[0], []).append(
                " ".join(words[1:]).replace("NAME", name))
    return found


def test_the_lists_have_what_the_rules_say_of_cuda_and_of_what_is_opened():
    for name, rule in rules().items():
        text = (library_lists.FOLDER / f"{name}.txt").read_text()
        for word in ("cuda", "opens"):
            assert re.findall(rf"^    {word} (.*)", text, re.M) == rule.get(word, []), name


def test_the_page_names_each_that_opens_something():
    section = pages.page("reference/libraries.md").partition("## What a library opens by name")[2]
    for name, rule in rules().items():
        assert "opens" not in rule or re.search(rf"\b{name}\b", section), name
