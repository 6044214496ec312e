# SPDX-License-Identifier: MIT
"""Where a wheel's own code asks for a package of CUDA's libraries, or opens one by its name.

DT_NEEDED does not tell this: what opens libnvrtc.so.12 gets the real one, or a stub that has
the name and is loaded or found, or none.  A name in a docstring or in a sentence does not count.
"""
import functools
import io
import re
from typing import NamedTuple

from . import names, packages

# What begins the names of libraries, which one file in a hundred has, and few lines of that.
LIBRARIES = (b"libcu", b"libnv", b"libnccl", b"libnpp", b"libcheckpoint", b"libpcsampl")
LONGEST_WORD = max(map(len, LIBRARIES))
MOST = 2 << 20          # bytes; sources are shorter
MOST_TIMES = 8          # as many bytes of those that may name anything as the wheel has
MOST_MENTIONS = 10000

# Functions by their last name, and what they do with a text.
OPENS = frozenset({"CDLL", "PyDLL", "WinDLL", "LoadLibrary", "dlopen", "load_library", "cdopen",
                   "find_library"})
ASKS = frozenset({"distribution", "version", "files", "requires", "metadata", "from_name",
                  "get_distribution", "require", "import_module", "find_spec"})
# Those of cuda.pathfinder, which take "nvrtc" for its library and raise an error without it.
FINDS = re.compile("_?load_nvidia_dynamic_lib(?:rary)?")


def _may_name(data):
    lower = data.lower()
    return b"nvidia" in lower or b"cutensor" in lower or \
        b"lib" in lower and any(word in lower for word in LIBRARIES)


DRIVER = "driver"
DRIVERS = re.compile("cuda|nvidia-ml")


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
    real = names.real(text) if len(text) < 256 and DRIVERS.search(text) else None
    return DRIVER if real and real.library in names.DRIVER else _family(text, packages.of_library)


def _family_of_text(text):
    if not _may_name(text.encode(errors="replace")):
        return None
    return _family_of_library(text) or _family(text, packages.of_text, packages.of_module)


# ---- Python and JSON ----

# A text in quotes on one line; a parser would take a hundred times as long, and need not agree with
# the Python that the file is for.
STRING = re.compile(r"""(?<![\w"'])(?P<kind>[A-Za-z]{0,2})(?P<quote>["'])(?P<text>[^"'\n\\]{2,255})(?P=quote)""")
CALL = re.compile(r"(?<!\w)(\w+)\s*\(")
IMPORT = re.compile(r"\s*(?:import\s+(nvidia\.[\w.]+)|from\s+(nvidia[\w.]*)\s+import\s+([\w, ]+))")


def _strings(line):
    """(match, the call that begins right before it, what the innermost call that is known does with it) of
    each string; each byte of the line is looked at once."""
    calls, end, verb, name = CALL.finditer(line), 0, "names", ""
    call = next(calls, None)
    for found in STRING.finditer(line):
        while call and call.end() <= found.start():
            name, call = call[1], next(calls, None)
            verb = "opens" if name in OPENS else "asks for" if name in ASKS else verb
        yield found, name if line[end:found.start()].rstrip().endswith("(") else "", verb
        end = found.end()


def _named(line, documents, family):
    """(does, name, family) of strings; `documents`: a text alone on the line describes what it is in."""
    alone = line.strip() if documents else None
    for found, call, verb in _strings(line):
        text = found["text"]
        if "b" in found["kind"].lower() or alone == found[0]:
            continue
        if "f" in found["kind"].lower():
            text = re.sub(r"\{[^{}]*\}", "{}", text)
        if FINDS.fullmatch(call):
            if text in packages.BY_STEM:
                yield "asks for", text, packages.BY_STEM[text].family
        elif family(text):
            yield verb, text, family(text)


def _documents(lines, before):
    """Whether the last of the lines that is neither empty nor a comment opens a block, whose first text may
    describe it; `before`: what was said of the lines before these."""
    for line in reversed(lines):
        code = line.strip()
        if code and not code.startswith(b"#"):
            return code.endswith(b":")
    return before


def of_text(data, family=_family_of_text):
    """(line, does, name, family) of Python's or JSON's strings and imports."""
    found, documents, seen, lines = set(), True, 0, data.split(b"\n")
    for at, raw in enumerate(lines):
        if not _may_name(raw) or raw.lstrip().startswith(b"#"):
            continue
        if len(found) > MOST_MENTIONS:
            break
        documents, seen, number = _documents(lines[seen:at], documents), at, at + 1
        line = raw.decode(errors="replace")
        imports = IMPORT.match(line)
        modules = [imports[1]] if imports and imports[1] else [
            f"{imports[2]}.{name.strip()}" for name in {*imports[3].split(",")}
        ] if imports and len(imports[2]) < 256 else []
        found.update((number, "imports", name, _family(name, packages.of_module))
                     for name in modules if _family(name, packages.of_module))
        found.update((number, *each) for each in _named(line, documents, family))
    return sorted(found)


# ---- ELF ----

# A text that is all a library's name, or a path to it.
CONSTANT = re.compile(rb"lib(?<![^\0/]lib)[^\0/]{1,200}?\.so[0-9.*?{}\[\]-]*(?=\0)")


def of_constants(image):
    """Names of libraries that stand alone among the texts of an ELF file, but those that stubs in it open."""
    inside = {names.stub(f"lib{library}_stub.so") for library, _ in image.inside}
    chosen = inside | set(packages.in_turn(inside)) | set(names.DRIVER if inside else ())
    found = set()
    for data in image.constants():
        for each in CONSTANT.findall(data):
            text = each.decode(errors="replace")
            real = names.real(text)
            if (family := _family_of_library(text)) and not (real and real.library in chosen):
                found.add((0, "names", text, family))
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


class Texts:
    """What the texts of a wheel name, and the names of those that are too much to be read."""

    def __init__(self, size):
        self.mentions, self.unread, self.left = [], [], max(MOST, MOST_TIMES * size)
        # What is packed to little is made of few texts, and one that is there again costs next to nothing.
        self.family = functools.lru_cache(maxsize=4096)(_family_of_text)

    def take(self, name, text):
        if not text.likely:
            return
        data = text.kept.getvalue()
        self.left -= len(data)
        found = of_text(data, self.family) if text.whole and self.left >= 0 else None
        if found is None or len(self.mentions) + len(found) > MOST_MENTIONS:
            self.unread.append(name)
        else:
            self.mentions += [Mention(name, *rest) for rest in found]


def of_parts(parts):
    return [Mention(part.name, *rest) for part in parts
            if part.image and not (part.library or part.is_stub or part.removed)
            for rest in of_constants(part.image)]
