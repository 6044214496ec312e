# SPDX-License-Identifier: MIT
"""Rows as a picture: each ratio, its limit, and which of them are above theirs."""
import math
from xml.sax.saxutils import escape

WIDTH, TOP, ROW, TITLE = 960, 74, 17, 28
LEFT, RIGHT, VALUE = 385, 795, 810      # the axis, and the figures beside it
FROM, TO = 0.001, 100                   # that the axis spans

# The picture is shown on pages that are light and on pages that are dark, and
# brings its own ground.  What is above its limit differs in shape, too.
KINDS = {
    ".ground": ("fill", "#ffffff", "#0d1117"), "text": ("fill", "#1f2328", "#f0f6fc"),
    ".faint": ("fill", "#59636e", "#9198a1"), ".grid": ("stroke", "#d1d9e0", "#3d444d"),
    ".one": ("stroke", "#818b98", "#9198a1"), ".limit": ("stroke", "#1a7f37", "#3fb950"),
    ".within": ("fill", "#0969da", "#4493f8"), ".above": ("fill", "#bc4c00", "#f0883e"),
    ".reach": ("stroke", "#0969da", "#4493f8"),
}


def style():
    def colours(column):
        return "".join(f"{kind}{{{row[0]}:{row[column]}}}" for kind, row in KINDS.items())
    return (f"text{{font:12px system-ui,sans-serif}}.title,text.above{{font-weight:600}}"
            f".limit{{stroke-width:2.5}}{colours(1)}"
            f"@media (prefers-color-scheme:dark){{{colours(2)}}}")


def at(ratio):
    """Where on the axis, which is logarithmic."""
    part = math.log(min(max(ratio, FROM), TO) / FROM) / math.log(TO / FROM)
    return LEFT + part * (RIGHT - LEFT)


def text(x, y, said, kind="", anchor="start"):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(said)}</text>'


def upright(x, y1, y2, kind):
    return f'<line x1="{x:.1f}" y1="{y1:g}" x2="{x:.1f}" y2="{y2:g}" class="{kind}"/>'


def mark(x, y, above):
    if above:
        return f'<path d="M{x - 4.5:.1f} {y + 4:g}h9l-4.5 -8.5z" class="above"/>'
    return f'<circle cx="{x:.1f}" cy="{y:g}" r="4" class="within"/>'


def reach(x1, x2, y):
    return f'<path d="M{x1:.1f} {y:g}H{x2:.1f}" class="reach"/>'


def legend():
    middle, base = 44, 48
    return [text(12, 24, "What it costs: A / B, on a logarithmic scale", "title"),
            mark(18, middle, False), text(28, base, "median"),
            mark(88, middle, True), text(98, base, "the same, above its limit"),
            upright(262, middle - 6, middle + 6, "limit"), text(270, base, "at most"),
            reach(330, 346, middle), text(352, base, "to the minimum")]


def axis(bottom):
    drawn = []
    for power in range(round(math.log10(FROM)), round(math.log10(TO)) + 1):
        ratio = 10.0 ** power
        drawn += [upright(at(ratio), TOP - 4, bottom, "one" if ratio == 1 else "grid"),
                  text(at(ratio), TOP - 10, f"{ratio:g}", "faint", "middle")]
    return drawn


def one_row(row, y, above):
    """`y` is the middle of the row."""
    drawn = [text(24, y + 4, row["name"])]
    if "unmeasured" in row:
        return [*drawn, text(VALUE, y + 4, "not measured", "faint")]
    limit = at(row["limit"])
    drawn += [upright(limit, y - 6, y + 6, "limit"),
              reach(at(row["min"]), at(row["median"]), y),
              mark(at(row["median"]), y, above),
              text(VALUE + 52, y + 4, f"{row['median']:.3f}", "above" if above else "", "end"),
              text(VALUE + 62, y + 4, f"≤ {row['limit']:.3g}", "faint")]
    return drawn


def draw(groups, is_above):
    """The SVG of [(title, rows)]."""
    drawn, y = [], TOP
    for title, rows in groups:
        y += TITLE
        drawn.append(text(12, y - 6, title, "title"))
        for row in rows:
            drawn += one_row(row, y + ROW / 2, "min" in row and is_above(row))
            y += ROW
    height = y + 14
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="what">',
        '<title id="what">What lazycuda costs: the ratios of the table in cost.txt</title>',
        f"<style>{style()}</style>",
        f'<rect width="{WIDTH}" height="{height}" class="ground"/>',
        *legend(), *axis(y), *drawn, "</svg>", ""])
