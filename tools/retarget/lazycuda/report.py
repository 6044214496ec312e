# SPDX-License-Identifier: MIT
"""What `lazycuda retarget` says, as JSON and as text."""
import json
import re

from . import mentions, names, repoint

# What a terminal obeys, what breaks a line or turns its direction, and the surrogates
# that Python has for bytes that are no text: the same as in stubs/base/printable.c.
HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

HEADS = {"nothing": "needs none of the real libraries: nothing to do",
         "already": "needs the stubs already: nothing to do",
         "foreign": "is not for Linux, by its tags: nothing to do"}
# A file calls the library and does not say that it needs it.
NOT_NEEDED = "not in DT_NEEDED"
LEFT_HEAD = "all that it needs of the real libraries is left as it is"
NO_STUB_HEAD = "nothing that it needs of the real libraries has a stub here: nothing to do"


def of_file(name, work=None, search_path=None, not_loaded=None):
    changes = work.changes if work else []
    return {
        "file": name, "outcome": "nothing", "output": None, "error": None, "code": None,
        "replaced": [change._asdict() for change in changes],
        "needed_added": list(work.add) if work else [],
        "needed_removed": list(work.remove) if work else [],
        "search_path": search_path, "added": [], "libraries": [],
        "loaded": not_loaded is None if work else None, "not_loaded": not_loaded,
        "notes": list(work.notes) if work else [],
    }


def of_stripped(stubs):
    """The note on stubs that had symbols; none if there is none."""
    return [f"the symbols and debug information of {repoint.some(stubs)} are not in the result"] if stubs else []


def of_libraries(looked, bundled=frozenset()):
    """What became of each library of CUDA, of (file, Elf, Work or None, {library: why it is left})
    of those that may need any.  `bundled` are the names of libraries that come with them."""
    found = {}
    for file, image, work, unserved in looked:
        imports = {change.library: change.imports for change in work.changes} if work else {}
        fates = {name: fate for name, fate in repoint.fates(image, work).items()
                 if names.base(name) not in bundled}
        # What is called and not said to be needed has no name there.
        counted_on = {(library, repoint.REPOINTED) for library in imports}
        for library, outcome in {*fates.values(), *counted_on}:
            entry = found.setdefault((library, outcome), {
                "library": library, "outcome": outcome, "needed": [], "stub": None, "files": [],
                "imports": 0, "reasons": [], "variables": [],
                "first": outcome == repoint.REPOINTED})
            entry["needed"] = sorted({*entry["needed"], *(
                name for name, fate in fates.items() if fate == (library, outcome))})
            entry["files"].append(file)
            if library in unserved:
                entry["reasons"].append(f"{file} {unserved[library]}")
                variable = getattr(unserved[library], "variable", None)
                entry["variables"] += [[file, variable]] if variable else []
            if outcome == repoint.NO_STUB:
                why = map(repoint.why_no_stub, entry["needed"])
                entry["reasons"] = list(dict.fromkeys(filter(None, why)))
            if outcome == repoint.REPOINTED:
                entry["imports"] += imports[library]
                mine = [change for change in work.changes if change.library == library]
                entry["stub"], entry["first"] = mine[0].stub, entry["first"] and all(
                    change.first for change in mine)
    return [found[key] for key in sorted(found)]


def of_wheel(path):
    return {"wheel": str(path), "outcome": "nothing", "output": None, "error": None, "code": None,
            "added": [], "removed": [], "requirements": [], "kept": [], "extras": {}, "brings": [], "mentions": [],
            "advice": {"extras": [], "compat": None}, "notes": [], "files": [], "libraries": []}


def refuse(said, refusal):
    said.update(outcome="refused", error=str(refusal), code=refusal.code)


def not_served(said):
    """Whether a real library is still needed, or opened by a name that nothing serves."""
    return any(entry["outcome"] != repoint.REPOINTED for entry in said["libraries"]) or \
        any(entry["does"] == "opens" and not entry["served"] and entry["family"] != mentions.DRIVER
            for entry in said.get("mentions", ()))


def printable(text):
    """Text from outside, fit for a line."""
    return HIDDEN.sub("?", text)


def as_json(all_said, patchelf):
    text = json.dumps({
        "patchelf": patchelf and {"path": patchelf.program, "version": patchelf.version},
        "files": [said for said in all_said if "file" in said],
        "wheels": [said for said in all_said if "wheel" in said],
    }, ensure_ascii=False)
    # JSON may not hold lone surrogates, which Python has for bytes that are no text.
    return json.dumps(json.loads(text.encode(errors="replace")), indent=2)


def _names(count):
    return f"{count} name{'' if count == 1 else 's'}" if count else "nothing imported"


def _way(needed, stub, first):
    if stub not in (needed or "").split(", "):
        return f"{needed or NOT_NEEDED} -> {stub}"
    return f"{needed}: a stub serves {'in its place' if first else 'where it is missing'}"


def _file_lines(said):
    for change in said["replaced"]:
        yield f"{_way(change['needed'], change['stub'], change['first'])} ({_names(change['imports'])})"
    if said["replaced"]:
        yield f"looks in {said['search_path'] or 'no folder of its own'}"
        yield ("loaded, every symbol bound" if said["loaded"]
               else f"not loaded: {said['not_loaded']}")
    yield from (_library_line(entry) for entry in said["libraries"]
                if entry["outcome"] != repoint.REPOINTED)
    yield from said["notes"]


def _library_line(entry):
    needed, files = ", ".join(entry["needed"]), len(entry["files"])
    files = f"{files} file{'' if files == 1 else 's'}"
    if entry["outcome"] == repoint.REPOINTED:
        return (f"{entry['library']}: {_way(needed, entry['stub'], entry['first'])} in {files} "
                f"({_names(entry['imports'])})")
    why = "left as it is" if entry["outcome"] == repoint.LEFT else "there is no stub of it here"
    because = f", since {'; '.join(entry['reasons'])}" if entry["reasons"] else ""
    return f"{entry['library']}: {why}{because}: {needed} is still needed, by {files}"


def _requirement_line(entry):
    if entry["relaxed"]:
        return f"requirement {entry['requirement']}: now the extra {entry['extra']}"
    return (f"still requires {entry['requirement']}: --relax-requirements makes it the extra "
            f"{entry['extra']}")


def _kept_line(entry):
    return f"still requires {entry['requirement']}, for {', '.join(entry['needed'])}"


def _mention_line(entry):
    place = f"{entry['file']}:{entry['line']}" if entry["line"] else entry["file"]
    if entry["served"]:
        return (f"{place} {entry['does']} {entry['name']}: where it is missing that is the stub, once a "
                "file that needs it is loaded")
    why = "comes with the driver" if entry["family"] == mentions.DRIVER else "need not be there"
    return f"{place} {entry['does']} {entry['name']}, which {why}"


def _advice_line(said):
    """What helps where something that is mentioned is missing."""
    name, advice = names.base(said["wheel"]).partition("-")[0], said["advice"]
    ways = [f"install {name}[{extra}]" for extra in advice["extras"]]
    if advice["compat"]:
        ways.append(f"set LD_LIBRARY_PATH=$(python -m lazycuda --compatdir {advice['compat']}), where a "
                    "stub of that name finds any CUDA")
    return f"where such a one is missing: {', or '.join([*ways, 'see that it goes on without'])}"


def _wheel_lines(said):
    for file in said["files"]:
        yield file["file"]
        yield from (f"    {line}" for line in _file_lines(file))
    yield from map(_library_line, said["libraries"])
    yield from (f"{name}: added" for name in said["added"])
    yield from (f"{name}: removed, nothing needs it now" for name in said["removed"])
    yield from map(_requirement_line, said["requirements"])
    yield from map(_kept_line, said["kept"])
    for extra, required in said["extras"].items():
        yield f"extra {extra} requires {', '.join(required)}"
    yield from map(_mention_line, said["mentions"])
    if not all(entry["served"] for entry in said["mentions"]):
        yield _advice_line(said)
    yield from said["notes"]
    if said["outcome"] == "retargeted":
        yield ("an installation brings, also where there is no CUDA: "
               f"{', '.join(said['brings']) or 'no package of CUDA'}")
    for entry in said["libraries"]:
        yield from (f"{file} cannot be imported without {', '.join(entry['needed'])}: variable {name}"
                    for file, name in entry["variables"])


def as_text(said):
    name = said.get("wheel") or said["file"]
    if said["outcome"] == "refused":
        happened, _, advice = f"{name}: {said['error']}".partition("; ")
        return "\n    ".join(map(printable, filter(None, (
            f"lazycuda retarget: refused ({said['code']}): {happened}", advice))))
    lines = _wheel_lines(said) if "wheel" in said else _file_lines(said)
    head = HEADS.get(said["outcome"]) or f"written to {said['output']}"
    if said["outcome"] == "nothing" and said["libraries"]:
        left = any(entry["outcome"] == repoint.LEFT for entry in said["libraries"])
        head = LEFT_HEAD if left else NO_STUB_HEAD
    if said["outcome"] == "retargeted" and not said["output"]:
        head = "not written, since something else was refused"
    return "\n".join(map(printable, [f"{name}: {head}", *(f"    {line}" for line in lines)]))
