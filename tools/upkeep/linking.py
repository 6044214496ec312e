#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the tables of docs/reference/linking.md from those of link/tables and stubs/base.

    tools/upkeep/linking.py            write them
    tools/upkeep/linking.py --check    exit 1 if the page does not have them

What stands between `<!-- table: NAME -->` and `<!-- end -->` is generated; the
prose around it is not touched.  Run by `make generate` and `make
check-generated`.
"""
import pathlib
import re

import generated_page
from generated_page import markdown

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/linking.md"
LINK = ROOT / "link/tables"
BASE = ROOT / "stubs/base"


def rows(file, table, room=LINK):
    """The rows of a table in C, each as its text between the outermost braces."""
    text = (room / file).read_text()
    found = re.search(rf"\b{table}\[\] = \{{\n(.*?)^\}};", text, re.M | re.S)
    assert found, f"{file} has no table {table}"
    body = re.sub(r"/\*.*?\*/", "", found[1], flags=re.S)
    lines = [" ".join(row.split()) for row in re.findall(r"^\t\{(.*?)\},$", body, re.M | re.S)]
    assert len(lines) == len(re.findall(r"^\t\{", body, re.M)), f"{file}: {table} has another form"
    return lines


def fields(row):
    """The fields of a row, those in braces or parentheses in one piece."""
    parts = re.findall(r'(?:"(?:[^"\\]|\\.)*"|\([^()]*(?:\([^()]*\)[^()]*)*\)|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|[^,])+',
                       row)
    return [part.strip() for part in parts]


def number(field):
    """A version as a number, LC_CUDA(12, 9) or 12090."""
    cuda = re.fullmatch(r"LC_CUDA\((\d+), (\d+)\)", field)
    return 1000 * int(cuda[1]) + 10 * int(cuda[2]) if cuda else int(field)


def version(field):
    """"12.9"; "" for 0."""
    value = number(field)
    return f"{value // 1000}.{value % 1000 // 10}" if value else ""


def point(field, digits):
    """8.8 for 88 with one digit behind the point; "" for 0."""
    value = int(field)
    return f"{value // 10**digits}.{value % 10**digits}" if value else ""


# ---- the tables ----

def toolkits():
    lines = []
    for row in rows("versions.c", "toolkits"):
        cuda, isa, branch, container, ir = fields(row)
        lines.append((version(cuda), point(isa, 1), "" if branch == "0" else branch,
                      point(container, 3), point(ir, 3)))
    return markdown(("toolkit", "PTX", "driver branch", "LTO-IR container", "NVVM-IR"), lines)


def compatibilities():
    return markdown(("CUDA", "branch from"),
                    [fields(row)
                     for row in rows("cuda_version.c", "compatibilities", BASE)])


def merged(lines):
    """Rows that follow each other and say the same share a line."""
    found = []
    for line in lines:
        if found and found[-1][1:] == line[1:]:
            found[-1] = (f"{found[-1][0]}, {line[0]}", *line[1:])
        else:
            found.append(line)
    return found


def span(field):
    """"12.8-12.9", "12.8-"; "-" for none."""
    since, until = fields(field.strip("{} "))
    return f"{version(since)}-{version(until)}" if number(since) else "-"


def architectures():
    lines = []
    for row in rows("arch.c", "archs"):
        sm, suffix, tools = fields(row)
        nvrtc, nvjitlink, driver = re.findall(r"\{[^{}]*\}", tools)
        name = f"sm_{sm}" + ("" if suffix == "0" else suffix.strip("'"))
        lines.append((name, span(nvrtc), span(nvjitlink), span(driver)))
    return markdown(("target", "nvrtc", "nvJitLink", "driver"), merged(lines))


def cubins():
    targets = {}
    for row in rows("arch.c", "relations"):
        code, target, since, broken = fields(row)
        who = f"from {version(since)} on" if number(since) else "all that know the target"
        who += f", but {version(broken)}" if number(broken) else ""
        targets.setdefault((f"sm_{code}", who), []).append(f"sm_{target}")
    return markdown(("cubin of", "for", "by nvJitLink"),
                    [(code, ", ".join(those), who) for (code, who), those in targets.items()])


VALUES = {"NO_VALUE": "", "BINARY": "0 or 1", "THREADS": "N", "REGISTERS": "N",
          "PERCENTAGE": "0 to 101", "ANY_TEXT": "TEXT", "FILE_OR_NOTHING": "or `=` FILE"}


def options():
    text = (LINK / "options.c").read_text()
    reasons = dict(re.findall(r'^#define (\w+) "(.*)"$', text, re.M))
    names = dict(re.findall(r'^\t\[(\w+)\] = "(CU_JIT_\w+)",$', text, re.M))

    def phrase(field):
        return reasons.get(field, field.strip('"'))

    lines = []
    for row in rows("options.c", "rows"):
        name, value, since, broken, _, driver = fields(row)
        who = ("none" if since == "NEVER" else
               f"{version(since) or '12.0'}-" + (f", but {version(broken)}" if number(broken) else ""))
        what, arguments = re.fullmatch(r"(\w+)\((.*)\)", driver).groups()
        if what == "JIT":
            option, number_ = arguments.split(", ")
            given = number_ if value == "NO_VALUE" else "N"
            on_driver = f"`{names[option]}` {given}"
        else:
            on_driver = what.lower()
        lines.append((f"`{phrase(name)}` {VALUES[value]}".rstrip(), who, on_driver))
    return markdown(("option", "nvJitLink", "driver"), merged(lines))


SETTING_VALUES = {"ON": "", "YES_OR_NO": "0 or 1", "LEVEL": "0 to 4", "COUNT": "N",
                  "PARALLEL": "N", "EFFORT": "0, min, mid or max"}


def settings():
    """Each with its value, its words for each tool, and since which nvrtc."""
    text = (LINK / "setting_words.c").read_text()
    found = re.findall(r'\[LAZYCUDA_SETTING_(\w+)\] = \{\s*"([^"]*)", (\w+), (NULL|"[^"]*"), '
                       r'(LC_CUDA\(\d+, \d+\)|0), (LC_CUDA\(\d+, \d+\)|0),\s*\{([^}]*)\}'
                       r'(?:,\s*\{[^}]*\}(?:,\s*\{([^}]*)\})?)? \}', text)
    assert len(found) == text.count("[LAZYCUDA_SETTING_"), "setting_words.c: a row has another form"
    lines = []
    for _, name, value, nvrtc, since, between, nvjitlink, nvvm in found:
        who = "" if nvrtc == "NULL" else "`{}`".format(nvrtc.strip('"'))
        if number(since):
            who += f", {version(since)}-"
        if number(between) != number(since):
            who += f"; min and mid {version(between)}-"
        words = (" ".join(f"`{word}`" for word in re.findall(r'"([^"]*)"', tool))
                 for tool in (nvvm, nvjitlink))
        lines.append((name, SETTING_VALUES[value], who, *words))
    return markdown(("setting", "value", "nvrtc", "libnvvm", "nvJitLink, driver"), lines)


def reserved():
    lines = [("`{}`".format(*parts), parts[1]) for parts in
             ([part.strip('"') for part in fields(row)] for row in rows("options.c", "reserved"))]
    return markdown(("option", "instead"), merged(lines))


RELATIONS = {"NONE_USABLE": "none, below 12.3", "COMPARABLE": "same major, not comparable",
             "OTHER_MAJOR": "earlier major, later major", "ANY & ~LK_ABSENT": "any",
             "LK_ABSENT": "none", "LK_TOO_OLD": "below 12.3", "LK_SAME_MAJOR": "same major",
             "LK_DRIVER_NEWER": "earlier major", "LK_DRIVER_OLDER": "later major",
             "LK_UNCOMPARED": "not comparable"}
OUTCOMES = {"LK_USE_NVJITLINK": "**nvJitLink**", "LK_USE_DRIVER": "**driver**",
            "LK_REFUSE_AS_NVJITLINK": "what nvJitLink objects to",
            "LK_REFUSE_AS_DRIVER": "what the driver objects to"}


def policy(table):
    words = {"YES": "yes", "NO": "no", "ANYWAY": ""}
    lines = []
    for row in rows("policy.c", table):
        name, driver, relation, *conditions, decision, code, _ = fields(row)
        outcome = OUTCOMES.get(decision) or f"`{code.replace('LAZYCUDA_CODE_', '')}`"
        lines.append((name.strip('"'), {"YES": "known", "NO": "unknown", "ANYWAY": ""}[driver],
                      RELATIONS[relation], *(words[condition] for condition in conditions), outcome))
    return markdown(("row", "driver", "nvJitLink", "needs nvJitLink", "nvJitLink takes all",
                     "driver takes all", "elsewhere", "outcome"), lines)


if __name__ == "__main__":
    tables = (toolkits, compatibilities, architectures, cubins, options, settings, reserved)
    page = generated_page.fill(PAGE, {
        **{name: policy(name) for name in ("strict", "best_effort", "off")},
        **{table.__name__: table() for table in tables}})
    generated_page.finish(PAGE, page, "the tables in link/tables give", __doc__)
