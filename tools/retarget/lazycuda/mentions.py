# SPDX-License-Identifier: MIT
"""Where a wheel's own code asks for a package of CUDA's libraries, or opens one by its name.

DT_NEEDED does not tell this, and no stub intercepts it: what opens libnvrtc.so.12 gets that
one, or none.  Python and JSON are parsed; a name in a docstring or in a sentence does not
count.
"""
import ast
import io
import json
import os
import re
import resource
import sys
import warnings
from json.decoder import scanstring
from typing import NamedTuple

from . import packages

# Files that are read: one of them in a hundred names anything.
LIKELY = re.compile(rb"nvidia|cutensor|lib(?:cu|nv|nccl)", re.I)
LONGEST_WORD = len("cutensor")
MOST = 2 << 20          # bytes; sources are shorter, and a parser takes a hundred times as much

# Functions by their last name, and what they do with a text.
OPENS = frozenset({"CDLL", "PyDLL", "WinDLL", "LoadLibrary", "dlopen", "load_library", "cdopen",
                   "find_library"})
ASKS = frozenset({"distribution", "version", "files", "requires", "metadata", "from_name",
                  "get_distribution", "require", "import_module", "find_spec"})
# Those of cuda.pathfinder, which take "nvrtc" for its library and raise an error without it.
FINDS = re.compile("_?load_nvidia_dynamic_lib(?:rary)?")


class Mention(NamedTuple):
    file: str
    line: int           # 0: a file without lines
    does: str           # "opens", "asks for", "imports", "names"
    name: str           # as it stands there
    family: str         # of the package


def _family(text, *ways):
    """The family of the package that a text names, if it is nothing but a name."""
    found = [way(text) for way in ways] if len(text) < 256 else []
    return next((package.family for package in found if package), None)


def _family_of_text(text):
    return _family(text, packages.of_library, packages.of_text, packages.of_module)


# ---- Python ----

def _value(node):
    """The text of an expression, with {} for what is not known of it; None if it is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) and isinstance(part.value, str)
                       else "{}" for part in node.values)
    return None


def _last_name(node):
    return getattr(node, "attr", None) or getattr(node, "id", None)


def _imports(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def _python(tree):
    """(line, does, name, family)"""
    does, silent = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            for text in map(_value, node.args) if name and FINDS.fullmatch(name) else ():
                if text in packages.BY_STEM:
                    yield node.lineno, "asks for", text, packages.BY_STEM[text].family
            verb = "opens" if name in OPENS else "asks for" if name in ASKS else None
            for inner in ast.walk(ast.Tuple(elts=[*node.args, *[
                    word.value for word in node.keywords]], ctx=ast.Load())) if verb else ():
                does.setdefault(id(inner), verb)
        elif isinstance(node, ast.Expr):
            silent.add(id(node.value))      # a docstring
        elif isinstance(node, ast.JoinedStr):
            silent.update(map(id, node.values))
    for node in ast.walk(tree):
        for name in _imports(node):
            if _family(name, packages.of_module):
                yield node.lineno, "imports", name, _family(name, packages.of_module)
        text = None if id(node) in silent else _value(node)
        found = _family_of_text(text) if text else None
        if found:
            yield node.lineno, does.get(id(node), "names"), text, found


def _of_python(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    return sorted(set(_python(tree)))


def apart(function, argument):
    """What the function returns, as JSON has it, from a child process: that one dies alone.
    Raises ValueError if it died, or raised an exception itself."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with open(write, "w", encoding="utf-8") as out:
                json.dump(function(argument), out)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with open(read, encoding="utf-8") as said:
        text = said.read()
    if os.waitpid(child, 0)[1]:
        raise ValueError
    return json.loads(text)


# Up to 3.10, nesting without end in a file ends Python itself: `a.b.b.b`, 100,000 times.
PARSER_CRASHES = sys.version_info < (3, 11)


def of_python(text):
    """Raises one of UNREADABLE if this Python cannot parse it."""
    return apart(_of_python, text) if PARSER_CRASHES else _of_python(text)


# ---- JSON ----

def of_json(data):
    """Raises ValueError if it is not JSON."""
    text = data.decode("utf-8-sig")
    json.loads(text)
    found, at, line, counted = [], text.find('"'), 1, 0
    while at >= 0:
        line, counted = line + text.count("\n", counted, at), at
        value, end = scanstring(text, at + 1)
        family = _family_of_text(value)
        if family:
            found.append((line, "names", value, family))
        at = text.find('"', end)
    return found


# ---- ELF ----

def of_constants(image):
    """Names of libraries that stand alone among the texts of an ELF file."""
    found = set()
    for data in image.constants():
        at = data.find(b".so")
        while at >= 0:
            start = max(data.rfind(b"\0", 0, at), data.rfind(b"/", 0, at)) + 1
            end = data.find(b"\0", at)
            text = data[start:end].decode(errors="replace") if 0 < end - start < 256 else ""
            family = _family(text, packages.of_library) if text else None
            if family:
                found.add((0, "names", text, family))
            at = data.find(b".so", at + 3)
    return sorted(found)


# ---- a wheel ----

class Text:
    """Takes a file in chunks, keeps at most MOST bytes, and tells whether it may name anything."""

    def __init__(self):
        self.kept, self.end, self.likely, self.whole = io.BytesIO(), b"", False, True

    def write(self, chunk):
        self.likely = self.likely or bool(LIKELY.search(self.end + chunk))
        self.end = (self.end + chunk)[-LONGEST_WORD:]
        self.whole = self.whole and self.kept.tell() + len(chunk) <= MOST
        if self.whole:
            self.kept.write(chunk)


READERS = {".py": of_python, ".json": of_json}
# What parsers raise for text that they cannot read, or that was made to harm them.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def _reader(name):
    return READERS.get(name[name.rfind("."):].lower())


def read(wheel, parts):
    """(mentions, names of files that name something and cannot be read)"""
    found, unread = [], []
    wanted = [name for name in wheel.members if _reader(name)]
    with wheel.stage("looking into", wanted) as stage:
        for name in wanted:
            text = Text()
            wheel.unpack(name, stage, text)
            if not text.likely:
                continue
            try:
                if not text.whole:
                    raise ValueError
                found += [Mention(name, *rest) for rest in _reader(name)(text.kept.getvalue())]
            except UNREADABLE:
                unread.append(name)
    for part in parts:
        if part.image and not part.library and not part.removed:
            found += [Mention(part.name, *rest) for rest in of_constants(part.image)]
    return found, unread
