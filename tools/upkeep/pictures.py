#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw the pictures of docs/pictures from the texts beside them.

    tools/upkeep/pictures.py            write them
    tools/upkeep/pictures.py --check    exit 1 if one is not what its text gives

A text begins with what it is: a sequence of calls,

    sequence A | B | C                  who takes part, from left to right
    A -> C: text                        an arrow
    C: text                             what C does
    -- text                             a line across: what follows is another time

or a choice, each line a case, what to do, and where that is described:

    choice question
    case | what to do | where

Lines that begin with # are remarks.  Run by `make generate` and `make check-generated`.
"""
import html
import pathlib
import re
import sys

import generated_page

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs/pictures"
WIDTH, SIZE, STEP = 700, 14, 20     # of a picture, of letters, from line to line
WIDE = 0.56 * SIZE                  # a letter, about: what is longer than its place is refused
STYLE = """\
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.b { font-weight: 600 }
.q { fill: #59636e }
.o { paint-order: stroke; stroke: #ffffff; stroke-width: 5px }
rect { fill: #f6f8fa; stroke: #818b98 }
path { fill: none; stroke: #59636e; stroke-width: 1.5 }
.d { stroke-dasharray: 4 4; stroke-width: 1 }
.h { fill: #59636e; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .q { fill: #9198a1 }
  .o { stroke: #0d1117 }
  rect { fill: #151b23; stroke: #656c76 }
  path { stroke: #9198a1 }
  .h { fill: #9198a1 }
}"""


class Picture:
    def __init__(self, title):
        self.title, self.parts, self.height = title, [], 0

    def text(self, x, y, words, room, kind="", anchor="middle"):
        if len(words) * WIDE * (1.15 if "b" in kind.split() else 1) > room:
            sys.exit(f"{self.title}: no room for {words!r}")
        kind = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>'
                          f"{html.escape(words)}</text>")

    def box(self, x, y, width, height):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>')

    def line(self, way, kind=""):
        kind = f' class="{kind}"' if kind else ""
        self.parts.append(f'<path d="{way}"{kind}/>')

    def arrow(self, x, y, to_x, to_y):
        self.line(f"M{x:g} {y:g}L{to_x:g} {to_y:g}")
        if y == to_y:
            back = 8 if to_x < x else -8
            self.line(f"M{to_x:g} {to_y:g}l{back} -4v8z", "h")
        else:
            self.line(f"M{to_x:g} {to_y:g}l-4 -8h8z", "h")

    def drawn(self):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height:g}" '
            f'width="{WIDTH}" height="{self.height:g}" role="img" aria-labelledby="t">',
            f'<title id="t">{html.escape(self.title)}</title>', f"<style>\n{STYLE}\n</style>",
            *self.parts, "</svg>"]) + "\n"


def sequence(title, head, lines):
    names = [name.strip() for name in head.split("|")]
    picture, each = Picture(title), WIDTH / len(names)
    at = {name: each * (i + 0.5) for i, name in enumerate(names)}
    for name in names:
        picture.box(at[name] - each / 2 + 6, 4, each - 12, 32)
        picture.text(at[name], 25, name, each - 20, "b")
    y = 36
    for line in lines:
        arrow = re.fullmatch(r"(.+?) -> (.+?): (.+)", line)
        own = re.fullmatch(r"(.+?): (.+)", line)
        if line.startswith("-- "):
            y += 36
            picture.line(f"M6 {y - 14}H{WIDTH - 6}", "d")
            picture.text(WIDTH / 2, y + 6, line[3:], WIDTH, "q o")
            y += 6
        elif arrow:
            one, other = at[arrow[1]], at[arrow[2]]
            y += 42
            left = min(one, other)
            picture.text(left + 8, y - 6, arrow[3], WIDTH - left - 8, "o", "start")
            picture.arrow(one, y, other, y)
        else:
            y += 28
            middle = min(max(at[own[1]], len(own[2]) * WIDE / 2 + 10), WIDTH - len(own[2]) * WIDE / 2 - 10)
            picture.text(middle, y, own[2], WIDTH - 20, "q o")
    picture.height = y + 16
    lives = [f'<path class="d" d="M{x:g} 36V{picture.height:g}"/>' for x in at.values()]
    picture.parts[:0] = lives
    return picture


def choice(title, head, lines):
    picture, y, left, right = Picture(title), 0, 280, 372
    picture.text(8, 20, head, WIDTH - 16, "b", "start")
    y = 36
    for number, line in enumerate(lines):
        case, what, where = (cell.strip() for cell in line.split("|"))
        picture.box(8, y, left, 52)
        picture.text(8 + left / 2, y + 31, case, left - 12)
        picture.arrow(8 + left, y + 26, WIDTH - right - 8, y + 26)
        picture.box(WIDTH - right - 8, y, right, 52)
        picture.text(WIDTH - right + 6, y + 21, what, right - 16, "b", "start")
        picture.text(WIDTH - right + 6, y + 21 + STEP, where, right - 16, "q", "start")
        y += 52
        if number + 1 < len(lines):
            picture.arrow(8 + left / 2, y, 8 + left / 2, y + 26)
            picture.text(8 + left / 2 + 10, y + 18, "else", 60, "q", "start")
            y += 26
    picture.height = y + 8
    return picture


def draw(path):
    first, *lines = [line for line in path.read_text().splitlines()
                     if line.strip() and not line.startswith("#")]
    kind, _, head = first.partition(" ")
    title = path.stem.replace("-", " ")
    return {"sequence": sequence, "choice": choice}[kind](title, head, lines).drawn()


if __name__ == "__main__":
    for text in sorted(FOLDER.glob("*.txt")):
        generated_page.finish(text.with_suffix(".svg"), draw(text), f"{text.name} gives", __doc__)
