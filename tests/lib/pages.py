# SPDX-License-Identifier: MIT
"""The pages of documentation, and what they show.

How a page shows something is a convention, which these readers rely on:

    $ make dist                 a command begins with $, a remark is behind two blanks and #
    build/lazycuda-...          what it prints; `...` stands for any text, and where lines
                                are broken does not count

    # CMakeLists.txt            a file begins with a comment that is its name
    project(app C)

and a block that is neither is something else: a table of files, a diagram.
"""
import re
from dataclasses import dataclass

import build

README = build.ROOT / "README.md"
DOCS = build.ROOT / "docs"
TASKS = sorted(DOCS.glob("*.md"))
REFERENCE = sorted(DOCS.glob("reference/*.md"))
PAGES = [*sorted(build.ROOT.glob("*.md")), *TASKS, *REFERENCE,
         *sorted((build.ROOT / "examples").rglob("*.md"))]
MANUALS = [*sorted(DOCS.glob("*.[1-8]")), *sorted((build.ROOT / "build/man").glob("*.[1-8]"))]


def where(name):
    """The page of that name: the README, one in docs, or one in a folder of it that is named."""
    return README if name == "README.md" else DOCS / name


def page(name):
    return where(name).read_text()


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
        if any(line.strip() for line in lines) and not lines[0].startswith(" "):
            found.append(lines)
    return found


def examples(text):
    """The same of a manual page."""
    text = re.sub(r"\\&|\\f.", "", text).replace(r"\-", "-").replace(r"\e", "\\")
    return [block.splitlines() for block in re.findall(r"^\.EX\n(.*?)^\.EE$", text, re.M | re.S)]


# ---- what a block is ----

@dataclass
class Command:
    line: str
    output: str     # that is shown; "" if none is


@dataclass
class File:
    name: str
    text: str


@dataclass
class Other:
    lines: list


def steps(path):
    """What a page shows, in order: [Command, File or Other]"""
    text = path.read_text()
    return [step for block in (blocks(text) if path.suffix == ".md" else examples(text))
            for step in steps_of(block)]


def steps_of(block):
    first = next((i for i, line in enumerate(block) if line.startswith("$ ")), len(block))
    return [*_files_or_other(block[:first]), *_session(block[first:])]


def _files_or_other(lines):
    found = []
    for before, line in zip(["", *lines], lines):
        named = not before and re.fullmatch(r"(?:# |/\* )([\w./-]+\.\w+)(?: \*/)?", line)
        if named:
            found.append(File(named[1], ""))
        elif not found:
            found.append(Other([]))
        if isinstance(found[-1], File):
            found[-1].text += line + "\n"
        else:
            found[-1].lines.append(line)
    return found


def _session(lines):
    found, continued = [], False
    for line in lines:
        if continued:
            found[-1].line += "\n" + line
        elif line.startswith("$ "):
            found.append(Command(re.split(r"  +#", line[2:])[0].rstrip(), ""))
        elif line.strip():
            found[-1].output += line + "\n"
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return found


def commands(path, *programs):
    """Those that a page shows; of these programs, if any is named."""
    begins = tuple(f"{program} " for program in programs)
    return [step.line for step in steps(path)
            if isinstance(step, Command) and f"{step.line} ".startswith(begins or "")]


def shown(path, begin):
    """The command of a page that begins so, with its output."""
    found, = [step for step in steps(path)
              if isinstance(step, Command) and step.line.startswith(begin)]
    return found


# ---- tables, outputs ----

def first_column(text):
    """What the cells of a table's first column name: [[name, ...], ...]"""
    return [re.findall(r"`([^`]+)`", row.split("|")[1])
            for row in text.splitlines() if row.startswith("| `")]


def is_like(shown, said):
    """Whether something prints what a page shows, and nothing after it; what Python says
    before it names an exception may be left out."""
    words = re.split(r"(\.\.\.|\s+)", shown.strip())
    pattern = "".join(".*" if word == "..." else r"\s+" if word.isspace() else re.escape(word)
                      for word in words)
    before = r"(?:Traceback .*\n)?" if said.startswith("Traceback ") else ""
    return re.fullmatch(before + pattern, said.strip(), re.S) is not None
