# SPDX-License-Identifier: MIT
"""How a program that generates tables of a page, or all of it, ends: it writes them, or with --check
compares them."""
import re
import sys


def fill(page, tables):
    """The page with {name: a table}, each between `<!-- table: NAME -->` and `<!-- end -->`."""
    places = re.compile(r"(<!-- table: (\w+) -->\n).*?(?=<!-- end -->)", re.S)
    text = page.read_text()
    there = {found[2] for found in places.finditer(text)}
    assert there == {*tables}, f"{page} has places for {there}, and there are the tables {[*tables]}"
    return places.sub(lambda found: f"{found[1]}{tables[found[2]]}\n", text)


def markdown(head, lines):
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head),
                      *(f"| {' | '.join(line)} |" for line in lines)])


def finish(page, text, source, usage):
    """`text` is what the page is to be, which `source` gives."""
    if sys.argv[1:] == ["--check"]:
        if not page.exists() or page.read_text() != text:
            sys.exit(f"{page} is not what {source}: make generate")
    elif sys.argv[1:]:
        sys.exit(usage)
    else:
        page.write_text(text)
