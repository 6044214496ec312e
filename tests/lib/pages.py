# SPDX-License-Identifier: MIT
"""The pages of documentation, and what they show."""
import re

import build

README = build.ROOT / "README.md"
DOCS = build.ROOT / "docs"
PAGES = [README, *sorted(DOCS.glob("*.md")), *sorted((build.ROOT / "examples").rglob("*.md"))]


def page(name):
    return (README if name == "README.md" else DOCS / name).read_text()


def name(path):
    return str(path.relative_to(build.ROOT))


def section(text, title):
    """What stands under a heading, up to the next of its rank or above."""
    rank = len(title) - len(title.lstrip("#"))
    body = re.search(rf"^{re.escape(title)}\n(.*?)(?=^#{{1,{rank}}} |\Z)", text, re.M | re.S)
    assert body, f"there is no {title}"
    return body[1]


def blocks(text):
    """The blocks of code, without their indentation: lists of lines."""
    found = []
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M):
        lines = [line[4:] for line in block.strip("\n").splitlines()]
        # A list's continuation is indented too, and is no code.
        if any(line.strip() for line in lines):
            found.append(lines)
    return found


def sessions(text):
    """[(command, what is shown that it prints)] of the lines that begin with $"""
    found = []
    for block in blocks(text):
        for line in block:
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found and block[0].startswith("$ ") and line.strip():
                found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


def commands(text, *programs):
    """Lines of code that call one of these, without the remark behind them."""
    begins = tuple(f"{program} " for program in programs)
    found = []
    for block in blocks(text):
        for line in block:
            line = line[2:] if line.startswith("$ ") else line
            if line.startswith(begins):
                found.append(re.split(r"   +|  +#", line)[0])
    return found


def first_column(text):
    """What the cells of a table's first column name: [[name, ...], ...]"""
    return [re.findall(r"`([^`]+)`", row.split("|")[1])
            for row in text.splitlines() if row.startswith("| `")]


def is_like(shown, said):
    """Whether something prints what a page shows; `...` stands for anything, and where
    lines are broken does not count."""
    words = re.split(r"(\.\.\.|\s+)", shown.strip())
    pattern = "".join(".*" if word == "..." else r"\s+" if word.isspace() else re.escape(word)
                      for word in words)
    return re.search(pattern, said, re.S) is not None
