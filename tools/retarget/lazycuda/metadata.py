# SPDX-License-Identifier: MIT
"""The requirements in a wheel's METADATA, and its tags and build tag in WHEEL."""
import functools
import re
from typing import NamedTuple

from . import packages
from .packages import canonical
from .repoint import Refused

# The most bytes before the description, in which requirements are; the same as in neighbours.c.
MOST_HEADER = 1 << 20

REQUIREMENT = re.compile(rb"Requires-Dist:[ \t]*(?P<name>[A-Za-z0-9._-]+)(?P<rest>[^;\r\n]*)"
                         rb"(;(?P<marker>[^\r\n]*))?(?P<end>\r?\n?)$", re.I)
# The lowest version that a clause lets in; != and < name one that it does not.
LOWEST = re.compile(r"(?<![!<=>~])(?:={2,3}|~=|>=?)\s*(\d{1,9})(?!\d)")
# Of a line that goes on in the next one, or ends in CR alone, some readers see a part.
AMBIGUOUS = re.compile(rb"\r(?!\n)|^requires-dist:[^\n]*\n[ \t]", re.I | re.M)
# What builds programs, or is needed to build them: it works beside any CUDA.
TOOL = re.compile(r"nvidia-(?:cuda-(?!cupti|nvrtc|runtime)|nvvm|nvml)")
# A marker that holds on no Linux.
ELSEWHERE = re.compile(r"""\s*(?:sys_platform|platform_system|os_name)\s*==\s*["'](?:win32|nt|darwin|windows|cygwin)["'](?:\s+and\b.*)?$""",
                       re.I)
EXTRAS = re.compile(r"\s*\[([^\]]*)\](.*)$", re.S)


class Entry(NamedTuple):
    """A line that requires packages of CUDA's libraries unconditionally."""
    requirement: str    # as it is shown
    name: str           # as it is written
    rest: str           # what follows the name, without its extras if it is cuda-toolkit
    marker: str
    end: bytes
    extra: str          # that it becomes
    families: tuple     # that may be an extra
    freed: tuple        # of cuda-toolkit's extras, those that may be
    kept: tuple         # and those that may not

    def text(self, extras=()):
        inside = f"[{','.join(extras)}]" if extras else ""
        return f"{self.name}{inside}{self.rest}".rstrip()


def _extra_of(name, rest, own):
    """"cuda12" for nvidia-cuda-runtime-cu12.  Without a suffix the specifier tells the major of a
    package that counts as CUDA does; all else is of 13, the first without suffixes.  The package of
    `own`, a library of `lazycuda stub`, has an extra of that name, unless it is NVIDIA's."""
    found = re.search(r"-cu(\d+)$", name)
    if own and not found and name != packages.TOOLKIT and not name.startswith("nvidia-"):
        return canonical(own)
    counts = name in packages.COUNTS_CUDA or name == packages.TOOLKIT
    if found or not counts:
        return f"cuda{found[1] if found else 13}"
    return f"cuda{max(map(int, LOWEST.findall(rest)), default=13)}"


def _text(line):
    """METADATA is UTF-8; bytes that are not are kept as surrogates."""
    return line.decode(errors="surrogateescape")


def _shown(text):
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _parse(line, free):
    """The Entry of a line; None: another line, or one with nothing that is free."""
    found = REQUIREMENT.match(line)
    if not found or b"extra" in (found["marker"] or b""):
        return None
    written, rest = _text(found["name"]), _text(found["rest"])
    name = canonical(written)
    freed, kept, families = (), (), (packages.family(name),)
    extras = EXTRAS.match(rest)
    if name == packages.TOOLKIT and extras:
        parts = [each.strip() for each in extras[1].split(",") if each.strip()]
        of = {each: packages.BY_TOOLKIT.get(canonical(each)) for each in parts}
        freed = tuple(each for each in parts if of[each] and of[each].family in free)
        kept = tuple(each for each in parts if each not in freed)
        families, rest = tuple(of[each].family for each in freed), extras[2]
    if not families or not all(each in free for each in families) or (
            name in packages.SUFFIXED and not free[name]):
        return None
    return Entry(_shown(_text(line)).partition(":")[2].strip(), written, rest, _text(found["marker"] or b"").strip(), found["end"],
                 _extra_of(name, rest, free[families[0]]), families, freed, kept)


@functools.lru_cache(maxsize=2)
def _split(text):
    """Lines of the header, and what follows the first empty line."""
    found = re.search(rb"\r?\n\r?\n", text)
    end = found.start() + (2 if found[0].startswith(b"\r") else 1) if found else len(text)
    if end > MOST_HEADER:
        raise Refused("WHEEL", "has a METADATA with more than 1 MiB before the description")
    if AMBIGUOUS.search(text, 0, end):
        raise Refused("WHEEL", "has a METADATA whose lines end where not all readers see it")
    return text[:end].splitlines(True), text[end:]


def required(text, free):
    """The Entries on these packages, {name: library of `lazycuda stub`, or None}."""
    return [entry for entry in (_parse(line, free) for line in _split(text)[0]) if entry]


def kept(text, needed):
    """Requirements on packages of CUDA's libraries that files still need: (requirement, the
    needs).  `needed` is {family: names of such libraries}"""
    return [(entry.requirement, sorted({name for family in entry.families for name in needed[family]}))
            for entry in required(text, dict.fromkeys(needed))]


def requires(text):
    """The packages that are required without an extra."""
    found = map(REQUIREMENT.match, _split(text)[0])
    return {canonical(_text(words["name"])) for words in found
            if words and b"extra" not in (words["marker"] or b"")}


def brings(text):
    """The requirements on packages of CUDA that hold without an extra."""
    found = map(REQUIREMENT.match, _split(text)[0])
    return [_shown(_text(words["name"] + words["rest"])).strip() for words in found
            if words and b"extra" not in (words["marker"] or b"") and
            not ELSEWHERE.match(_text(words["marker"] or b"")) and packages.is_cudas(_text(words["name"]))]


def majors_that_stay(text, free):
    """{major of CUDA} of packages whose names tell it and which the wheel requires still:
    nvidia-curand-cu12, and cuquantum-cu12, whose libraries need those of CUDA 12."""
    found = set()
    for line in _split(text)[0]:
        words = REQUIREMENT.match(line)
        if words and b"extra" not in (words["marker"] or b"") and not _parse(line, free):
            name = packages.canonical(_text(words["name"]))
            told = packages.OF_MAJOR.search(name)
            if told and not TOOL.match(name):
                found.add(int(told[1]))
    return found


def _condition(extra, marker):
    condition = f'extra == "{extra}"'
    if not marker:
        return condition
    return (f"({marker})" if " or " in marker else marker) + " and " + condition


def _requires(requirement, condition, end):
    line = f"Requires-Dist: {requirement}" + (f" ; {condition}" if condition else "")
    return line.encode(errors="surrogateescape") + (end or b"\n")


def _of_majors(entries, majors):
    """{extra: {(requirement, marker): True}}: packages of these majors that stand for the entries."""
    found = {}
    for major in majors:
        extra = f"cuda{major}"
        there = {family for entry in entries if entry.extra == extra for family in entry.families}
        for entry in entries:
            for family in entry.families:
                package = packages.BY_FAMILY.get(family)
                wanted = package and package.requirements.get(major)
                if wanted and family not in there:
                    found.setdefault(extra, {})[wanted, entry.marker] = True
    return found


def relax(text, free, majors=(), replaced=()):
    """METADATA in which these requirements are extras, and extras that require the same of
    these majors of CUDA, and the packages of families whose libraries came with the wheel; and
    {extra: what it requires} of these."""
    lines, body = _split(text)
    entries = [_parse(line, free) for line in lines]
    there = {canonical(_text(line).partition(":")[2].strip()) for line in lines
             if line.lower().startswith(b"provides-extra:")}
    made, last, extras = [], 0, {}

    def require(extra, requirement, marker, end):
        if extra not in there:
            there.add(extra)
            made.append(f"Provides-Extra: {extra}".encode() + (end or b"\n"))
        made.append(_requires(requirement, _condition(extra, marker), end))
        extras.setdefault(extra, []).append(_shown(requirement))
    for line, entry in zip(lines, entries):
        if entry:
            require(entry.extra, entry.text(entry.freed), entry.marker, entry.end)
            if entry.kept:
                made.append(_requires(entry.text(entry.kept), entry.marker, entry.end))
            last = len(made)
        else:
            made.append(line)
    found = [entry for entry in entries if entry]
    there_now = {family for entry in found for family in entry.families}
    found += [Entry("", family, "", "", b"\n", "", (family,), (), ()) for family in replaced
              if family not in there_now]
    last = last or len(made)
    if found:
        rest, made = made[last:], made[:last]
        for extra, wanted in _of_majors(found, majors).items():
            for requirement, marker in wanted:
                require(extra, requirement, marker, found[-1].end)
        made += rest
    return b"".join(made) + body, extras


# The end of a tag of what is installed on Linux.
LINUX = re.compile(r"[-.](any|linux_|manylinux|musllinux)")


def is_for_linux(tags, text):
    """Whether the tags of a file's name or those in WHEEL let a wheel be installed on Linux."""
    said = re.findall(rb"^tag:(.*)", text, re.I | re.M)
    return any(map(LINUX.search, [tags, *map(_text, said)]))


def set_build(text, build):
    """WHEEL with this build tag."""
    lines = [line for line in text.splitlines(True) if not line.lower().startswith(b"build:")]
    while lines and not lines[-1].strip():
        lines.pop()
    return b"".join(lines) + b"Build: " + build.encode() + b"\n"
