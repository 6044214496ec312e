# SPDX-License-Identifier: MIT
"""Where a wheel's own code asks for a package of CUDA's libraries, or opens one by its name.

DT_NEEDED does not tell this: what opens libnvrtc.so.12 gets the real one, or a stub that has
the name and is loaded or found, or none.  A name in a docstring or in a sentence does not count.
"""
import io
import re
from typing import NamedTuple

from . import names, packages

# What a file, or a line of it, has in it if it names anything: one file in a hundred.
LIKELY = (b"nvidia", b"cutensor", b"libcu", b"libnv", b"libnccl", b"libnpp")
LONGEST_WORD = max(map(len, LIKELY))
MOST = 2 << 20          # bytes; sources are shorter

# Functions by their last name, and what they do with a text.
OPENS = frozenset({"CDLL", "PyDLL", "WinDLL", "LoadLibrary", "dlopen", "load_library", "cdopen",
                   "find_library"})
ASKS = frozenset({"distribution", "version", "files", "requires", "metadata", "from_name",
                  "get_distribution", "require", "import_module", "find_spec"})
# Those of cuda.pathfinder, which take "nvrtc" for its library and raise an error without it.
FINDS = re.compile("_?load_nvidia_dynamic_lib(?:rary)?")


def _may_name(data):
    lower = data.lower()
    return any(word in lower for word in LIKELY)


DRIVER = "driver"


class Mention(NamedTuple):
    file: str
    line: int           # 0: a file without lines
    does: str           # "opens", "asks for", "imports", "names"
    name: str           # as it stands there
    family: str         # of the package, or DRIVER


def _family(text, *ways):
    """The family of the package that a text names, if it is nothing but a name."""
    found = [way(text) for way in ways] if len(text) < 256 else []
    return next((package.family for package in found if package), None)


def _family_of_library(text):
    """Libraries of the driver are in no package."""
    real = names.real(text) if len(text) < 256 else None
    return DRIVER if real and real.library in names.DRIVER else _family(text, packages.of_library)


def _family_of_text(text):
    return _family_of_library(text) or _family(text, packages.of_text, packages.of_module)


# ---- Python and JSON ----

# A text in quotes on one line; a parser would take a hundred times as long, and need not agree with
# the Python that the file is for.
STRING = re.compile(r"""(?<![\w"'])(?P<kind>[A-Za-z]{0,2})(?P<quote>["'])(?P<text>[^"'\n\\]{2,255})(?P=quote)""")
CALL = re.compile(r"(\w+)\s*\(")
IMPORT = re.compile(r"\s*(?:import\s+(nvidia\.[\w.]+)|from\s+(nvidia[\w.]*)\s+import\s+([\w, ]+))")


def _verb(before):
    """What the innermost call that is known does with what follows."""
    for name in reversed(CALL.findall(before)):
        if name in OPENS or name in ASKS:
            return "opens" if name in OPENS else "asks for"
    return "names"


def _strings(line, number, documents):
    """Of one line; `documents`: a text alone on it describes what it is in."""
    for found in STRING.finditer(line):
        text, before = found["text"], line[:found.start()]
        if "b" in found["kind"].lower() or documents and line.strip() == found[0]:
            continue
        if "f" in found["kind"].lower():
            text = re.sub(r"\{[^{}]*\}", "{}", text)
        call = CALL.findall(before)
        if call and before.rstrip().endswith("(") and FINDS.fullmatch(call[-1]):
            if text in packages.BY_STEM:
                yield number, "asks for", text, packages.BY_STEM[text].family
        elif _family_of_text(text):
            yield number, _verb(before), text, _family_of_text(text)


def of_text(data):
    """(line, does, name, family) of Python's or JSON's strings and imports."""
    found, documents = set(), True
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip() or raw.lstrip().startswith(b"#"):
            continue
        if not _may_name(raw):
            documents = raw.rstrip().endswith(b":")
            continue
        line = raw.decode(errors="replace")
        imports = IMPORT.match(line)
        modules = [imports[1]] if imports and imports[1] else [
            f"{imports[2]}.{name.strip()}" for name in imports[3].split(",")] if imports else []
        found.update((number, "imports", name, _family(name, packages.of_module))
                     for name in modules if _family(name, packages.of_module))
        found.update(_strings(line, number, documents))
        documents = line.rstrip().endswith(":")
    return sorted(found)


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
            family = _family_of_library(text) if text else None
            if family:
                found.add((0, "names", text, family))
            at = data.find(b".so", at + 3)
    return sorted(found)


# ---- files of a wheel ----

class Text:
    """Takes a file in chunks, keeps at most MOST bytes, and tells whether it may name anything."""
    SUFFIXES = ".py", ".json"

    def __init__(self):
        self.kept, self.end, self.likely, self.whole = io.BytesIO(), b"", False, True

    def write(self, chunk):
        self.likely = self.likely or _may_name(self.end + chunk)
        self.end = (self.end + chunk)[-LONGEST_WORD:]
        self.whole = self.whole and self.kept.tell() + len(chunk) <= MOST
        if self.whole:
            self.kept.write(chunk)

    def mentions(self, name):
        """What it names, as the file of that name."""
        return [Mention(name, *rest) for rest in of_text(self.kept.getvalue())]


def of_parts(parts):
    return [Mention(part.name, *rest) for part in parts
            if part.image and not (part.library or part.is_stub or part.removed)
            for rest in of_constants(part.image)]
