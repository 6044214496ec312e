# SPDX-License-Identifier: MIT
"""The requirements in a wheel's METADATA, and its build tag in WHEEL."""
import re
from typing import NamedTuple

REQUIREMENT = re.compile(rb"Requires-Dist:[ \t]*(?P<name>[A-Za-z0-9._-]+)(?P<rest>[^;\r\n]*)"
                         rb"(;(?P<marker>[^\r\n]*))?(?P<end>\r?\n?)$", re.I)


class Relaxed(NamedTuple):
    requirement: str
    extra: str


def canonical(name):
    """A package's or extra's name as all its spellings are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def without_cuda(name):
    """The name without the -cu12 of a package for one CUDA."""
    return re.sub(r"-cu\d+$", "", canonical(name))


def _extra_of(name, rest, own):
    """"cuda12" for nvidia-cuda-runtime-cu12; without a suffix the specifier says
    it, and what says nothing is 13, the first without a suffix.  Of `own`, a library
    of `lazycuda stub`, the numbers are not CUDA's."""
    found = re.search(r"-cu(\d+)$", name)
    if own and not found and not name.startswith("nvidia-"):
        return canonical(own)
    if not own and not found:
        found = re.search(r"[=~>]=*\s*(\d+)", rest)
    return f"cuda{found[1] if found else 13}"


def _text(line):
    """METADATA is UTF-8; what is not is kept, and shown as what it is not."""
    return line.decode(errors="replace")


def _parse(line, packages):
    """The match of a line that requires one of the packages unconditionally, with
    its extra; None: another line."""
    found = REQUIREMENT.match(line)
    if not found or b"extra" in (found["marker"] or b""):
        return None
    name = canonical(found["name"].decode())
    if without_cuda(name) not in packages:
        return None
    return found, _extra_of(name, _text(found["rest"]), packages[without_cuda(name)])


def _split(text):
    """Lines of the header, and what follows the first empty line."""
    found = re.search(rb"\r?\n\r?\n", text)
    end = found.start() + (2 if found[0].startswith(b"\r") else 1) if found else len(text)
    return text[:end].splitlines(True), text[end:]


def required(text, packages):
    """Requirements on these packages, {name: library of `lazycuda stub`, or None}."""
    return [Relaxed(_text(line).partition(":")[2].strip(), _parse(line, packages)[1])
            for line in _split(text)[0] if _parse(line, packages)]


def relax(text, packages):
    """METADATA in which these requirements are extras."""
    lines, body = _split(text)
    extras = {line.partition(b":")[2].strip() for line in lines
              if line.lower().startswith(b"provides-extra:")}
    made = []
    for line in lines:
        parsed = _parse(line, packages)
        if parsed:
            found, extra = parsed
            if extra.encode() not in extras:
                extras.add(extra.encode())
                made.append(b"Provides-Extra: " + extra.encode() + (found["end"] or b"\n"))
            condition = b'extra == "' + extra.encode() + b'"'
            marker = (found["marker"] or b"").strip()
            if marker:
                condition = (b"(" + marker + b")" if b" or " in marker else marker) + \
                    b" and " + condition
            line = (b"Requires-Dist: " + found["name"] + found["rest"].rstrip() + b" ; " +
                    condition + (found["end"] or b"\n"))
        made.append(line)
    return b"".join(made) + body


def set_build(text, build):
    """WHEEL with this build tag."""
    lines = [line for line in text.splitlines(True) if not line.lower().startswith(b"build:")]
    while lines and not lines[-1].strip():
        lines.pop()
    return b"".join(lines) + b"Build: " + build.encode() + b"\n"
