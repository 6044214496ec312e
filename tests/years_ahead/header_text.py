# SPDX-License-Identifier: MIT
"""A toolkit's headers, made from symbols.txt: C that declares what the list says.

Parameters have no names in the list.  Where gen/hints.txt speaks of one by name, the parameter
that it means gets that name, so that the scanner comes to what the list says.
"""
import collections
import functools
import re
from dataclasses import dataclass

import build
import symbols
from layouts import SIZES

C_TYPES = {"i8": "char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short",
           "i32": "int", "u32": "unsigned", "i64": "long long", "u64": "unsigned long long",
           "f32": "float", "f64": "double", "ptr": "void *", "void": "void"}


# ---- hints ----

@functools.lru_cache(maxsize=None)
def hints(library):
    """[words] of what gen/hints.txt says of a library."""
    found, inside = [], False
    for line in (build.ROOT / "gen" / "hints.txt").read_text().splitlines():
        words = line.split("#")[0].split() if not line.lstrip().startswith("hook") else []
        if words and not line[0].isspace():
            inside = words[1] == library
        elif words and inside:
            found.append(words)
    return found


def applies(pattern, function):
    expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\#", r"\d+")
    return any(re.fullmatch(expression, name)
               for name in (function, re.sub("_pts[dz]$", "", function)))


def directions(library, function):
    """{parameter: (direction, type or None)} of the hints for a function, those for it alone
    first."""
    found = [[*words[:2], name, *words[3:]] for words in hints(library)
             if words[0] == "direction" and applies(words[1], function)
             for name in words[2].split(",")]
    said = {words[2]: (words[3], *words[4:5], None)[:2] for words in found}
    return {words[2]: said[words[2]] for words in sorted(found, key=lambda w: "*" in w[1])}


def renamed(library, version, function, struct):
    """(what the headers of the toolkit call a struct of the list in this function, whether
    they lay it out so)"""
    for words in hints(library):
        if words[0] == "layout" and words[5] == struct and applies(words[1], function) and \
                version in symbols.Range(words[2]):
            return words[3], words[4] == "same"
    return struct, True


def tag(library):
    """The field by which a struct tells what it is, or None: a pointer to one is `ptr`."""
    return next((words[1] for words in hints(library) if words[0] == "tag"), None)


# ---- structs ----

@dataclass
class Member:
    name: str
    offset: int
    size: int
    align: int
    text: str       # its declaration


def leaf(name, kind, offset, sizes):
    base, _, count = kind.rstrip("]").partition("[")
    count = int(count) if count else 0
    if base.startswith("*"):
        size, align, text = 8, 8, f"struct {base[1:]} *{name}"
    elif base in SIZES:
        size = align = SIZES[base]
        text = f"{C_TYPES[base]} {name}"
    else:
        size, align = sizes[base]
        text = f"struct {base} {name}"
    text += f"[{count}];" if count else ";"
    return Member(name, offset, size * max(count, 1), align, text)


def align_up(offset, align):
    return -(-offset // align) * align


def extent(members, start):
    """(size, alignment) of members one after or over the other."""
    align = max(m.align for m in members)
    return align_up(max(m.offset + m.size for m in members) - start, align), align


def anonymous(kind, members, start, text):
    size, align = extent(members, start)
    return Member("", start, size, align, f"{kind} {{ {text} }};")


def lanes(members):
    """Members that overlap, as a union of structs."""
    start, found = members[0].offset, []
    for member in members:
        lane = next((lane for lane in found if lane[-1].offset + lane[-1].size <= member.offset),
                    None)
        if lane is None:
            assert member.offset == start, f"{member.name} lies where nothing can be put"
            found.append(lane := [])
        lane.append(member)
    parts = [lane[0] if len(lane) == 1 else
             anonymous("struct", lane, start, sequence(lane, start)) for lane in found]
    return anonymous("union", parts, start, " ".join(part.text for part in parts))


def sequence(members, start):
    """Members at their offsets, those that overlap in unions."""
    text, end, cluster = [], start, []

    def close():
        nonlocal end
        if not cluster:
            return
        member = cluster[0] if len(cluster) == 1 else lanes(cluster)
        assert align_up(end, member.align) == member.offset, f"a gap before {member}"
        text.append(member.text)
        end = member.offset + member.size

    for member in sorted(members, key=lambda m: m.offset):
        if cluster and member.offset >= max(m.offset + m.size for m in cluster):
            close()
            cluster = []
        cluster.append(member)
    close()
    return " ".join(text)


def nested(fields, sizes):
    """Members from flat fields: a.b and a.c are in a struct or union called a."""
    groups = {}
    for name, kind, offset in fields:
        head, _, rest = name.partition(".")
        groups.setdefault(head, []).append((rest, kind, offset))
    found = []
    for head, inner in groups.items():
        if inner[0][0] == "":
            (_, kind, offset), = inner
            found.append(leaf(head, kind, offset, sizes))
            continue
        members = nested(inner, sizes)
        start = min(m.offset for m in members)
        made = anonymous("struct", members, start, sequence(members, start))
        made.name, made.text = head, made.text[:-1] + f" {head};"
        found.append(made)
    return found


def structs_text(structs):
    """Definitions of {name: (size, fields)}, each behind those that it holds."""
    text, sizes, waiting = [f"struct {name};\n" for name in structs], {}, dict(structs)
    while waiting:
        for name, (size, fields) in list(waiting.items()):
            held = {kind.partition("[")[0] for _, kind, _ in fields} - set(SIZES)
            if any(kind in waiting for kind in held):
                continue
            members = nested(fields, sizes)
            made, align = extent(members, 0)
            assert made == size, f"struct {name} would have {made} bytes, not {size}"
            sizes[name] = size, align
            text.append(f"struct {name} {{ {sequence(members, 0)} }};\n")
            del waiting[name]
    return "".join(text)


# ---- functions ----

# {name that hints are meant for: how many parameters got it}
given = collections.Counter()


def hinted(said, way, base):
    """The name of a parameter that hints are meant for, and what they say a `void *` points
    to; it is taken from what they say.  None where no hint is.  Where several would do, each
    has its turn: a hint must not be left without a parameter."""
    fit = [name for name, (direction, target) in said.items()
           if direction == way and target in (None, base)]
    if not fit:
        return None
    name = min(fit, key=given.__getitem__)
    given[name] += 1
    return name, said.pop(name)[1]


def parameter(library, version, function, said, kind):
    """A parameter as C."""
    direction, _, base = kind.rpartition(" ")
    text = "struct tagged *" if base == "ptr" and tag(library) else C_TYPES.get(base) or f"struct {renamed(library, version, function, base)[0]} "
    found = hinted(said, direction or base, base)
    if not found:
        assert direction in ("", "in", "out") or (direction, base) == ("buf", "i8"), function
        return f"{text} {'const' if direction == 'in' else ''} {'*' if direction else ''}"
    name, target = found
    if target:
        return f"void *{name}"
    return f"{text} *{name}"


def declaration(library, version, part, function):
    said = directions(library, function.name)
    parameters = [parameter(library, version, function.name, said, kind)
                  for kind in function.parameters]
    result = f"enum {part.status}"
    if function.result != "i32":
        result = C_TYPES.get(function.result, f"struct {function.result}")
    return f"{result} {function.name}({', '.join(parameters) or 'void'});\n"


def structs_of(library, version, part):
    """{name: (size, fields)} as the headers name them."""
    found = dict(part.structs)
    for function in part.functions.values():
        for kind in function.parameters:
            listed = kind.rpartition(" ")[2]
            name, own = renamed(library, version, function.name, listed)
            if name == listed:
                continue
            if own:
                found[name] = part.structs[listed]
            elif name != listed:
                found.pop(listed, None)
    return found


def text(library, version, part):
    """The header of one library of a toolkit."""
    enumerators = ", ".join(f"{name} = {value}" for name, value in part.enumerators.items())
    lines = ["#pragma once\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
             f"enum {part.status} {{ {enumerators} }};\n",
             f"struct tagged {{ unsigned {tag(library)}; }};\n" if tag(library) else "",
             structs_text(structs_of(library, version, part))]
    # What no header declares, though the parameters may be known.
    hidden = {name for words in hints(library) if words[0] == "exported" for name in words[2:]}
    lines += [declaration(library, version, part, function)
              for name, function in sorted(part.functions.items())
              if not function.undeclared and name not in hidden]
    return "".join([*lines, "#ifdef __cplusplus\n}\n#endif\n"])
