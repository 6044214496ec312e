# SPDX-License-Identifier: MIT
"""How a program that generates a page ends: it writes the page, or with --check compares it."""
import sys


def finish(page, text, source, usage):
    """`text` is what the page is to be, which `source` gives."""
    if sys.argv[1:] == ["--check"]:
        if not page.exists() or page.read_text() != text:
            sys.exit(f"{page} is not what {source}: make generate")
    elif sys.argv[1:]:
        sys.exit(usage)
    else:
        page.write_text(text)
