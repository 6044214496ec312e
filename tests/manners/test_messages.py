# SPDX-License-Identifier: MIT
"""What all messages have in common, in C and in Python: what they begin with fits a line.
tests/states has whole texts of calls."""
import ast
import re

import build

STRING = r'"(?:\\.|[^"\\\n])*"'
# The help of options, pages and reports are no messages.
OTHER = {"audit_code.c", "audit_report.c", "packages.py"}


def in_c(path):
    """Literals, those beside each other joined, without the tables of options and the usage."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    text = re.sub(r"struct option \w+\[\] = \{.*?^\};|\b(?:usage|end)\[\] =.*?;\n\n", "", text, flags=re.S | re.M)
    for found in re.finditer(rf"{STRING}(?:\s*(?:[A-Z_]+\s*)?{STRING})*", text):
        yield "".join(one[1:-1] for one in re.findall(STRING, found[0]))


def text_of(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "%s" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def in_python(path):
    """Literals that are raised, printed, or put together, but docstrings and help."""
    parsed = ast.parse(path.read_text())
    left_out = {id(part) for node in ast.walk(parsed) for part in (
        ast.walk(node) if isinstance(node, ast.keyword) and node.arg == "help" else
        node.values if isinstance(node, ast.JoinedStr) else
        [node.value] if isinstance(node, ast.Expr) else ())}
    return [text_of(node) for node in ast.walk(parsed) if id(node) not in left_out]


def messages():
    paths = [path for part in ("stubs", "link", "tools", "gen/scan")
             for path in sorted((build.ROOT / part).rglob("*")) if "upkeep" not in path.parts]
    for path in paths:
        if path.suffix in (".c", ".h", ".py") and path.name not in OTHER:
            for text in (in_python if path.suffix == ".py" else in_c)(path):
                if text.count(" ") > 3:
                    yield path.relative_to(build.ROOT), text


MESSAGES = list(messages())


def test_what_a_message_begins_with_fits_a_line():
    """Behind a full stop, a semicolon or a colon comes what to do, or what was looked at."""
    long = [(str(path), first) for path, text in MESSAGES
            if len(first := re.split(r"[.;:] |\\n|\n", re.sub(r"%[-.*0-9]*(?:l*[a-z])", "12", text))[0]) > 100 and not text.startswith("Install one")]
    assert len(MESSAGES) > 500 and long == []
