# SPDX-License-Identifier: MIT
"""What `lazycuda retarget` says, as JSON and as text."""
import json
import re

# What a terminal obeys, what breaks a line or turns its direction, and bytes that
# are no text, as Python has them: the same as in stubs/base/printable.c.
HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

HEADS = {"nothing": "needs none of the real libraries: nothing to do",
         "already": "needs the stubs already: nothing to do"}


def of_file(name, work=None, search_path=None, not_loaded=None):
    changes = work.changes if work else []
    return {
        "file": name, "outcome": "nothing", "output": None, "error": None, "code": None,
        "replaced": [change._asdict() for change in changes],
        "needed_added": list(work.add) if work else [],
        "needed_removed": list(work.remove) if work else [],
        "search_path": search_path, "added": [],
        "loaded": not_loaded is None if work else None, "not_loaded": not_loaded,
        "notes": list(work.notes) if work else [],
    }


def of_wheel(path):
    return {"wheel": str(path), "outcome": "nothing", "output": None, "error": None, "code": None,
            "added": [], "removed": [], "requirements": [], "notes": [], "files": []}


def refused(said, refusal):
    said.update(outcome="refused", error=str(refusal), code=refusal.code)
    return said


def printable(text):
    """Text from outside, fit for a line."""
    return HIDDEN.sub("?", text)


def _whole(value):
    """The same without the halves of characters, which JSON may not hold."""
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return re.sub("[\ud800-\udfff]", "\ufffd", value) if isinstance(value, str) else value


def as_json(all_said, patchelf):
    return json.dumps(_whole({
        "patchelf": patchelf and {"path": patchelf.program, "version": patchelf.version},
        "files": [said for said in all_said if "file" in said],
        "wheels": [said for said in all_said if "wheel" in said],
    }), indent=2)


def _names(count):
    return f"{count} name{'' if count == 1 else 's'}" if count else "nothing imported"


def _file_lines(said):
    for change in said["replaced"]:
        yield f"{change['needed']} -> {change['stub']} ({_names(change['imports'])})"
    if said["replaced"]:
        yield f"looks in {said['search_path'] or 'no folder of its own'}"
        yield ("loaded, every symbol bound" if said["loaded"]
               else f"not loaded: {said['not_loaded']}")
    yield from said["notes"]


def _requirement_line(entry):
    if entry["relaxed"]:
        return f"requirement {entry['requirement']}: now the extra {entry['extra']}"
    return (f"still requires {entry['requirement']}: --relax-requirements makes it the extra "
            f"{entry['extra']}")


def _wheel_lines(said):
    for file in said["files"]:
        yield file["file"]
        yield from (f"    {line}" for line in _file_lines(file))
    yield from (f"{name}: added" for name in said["added"])
    yield from (f"{name}: removed, nothing needs it now" for name in said["removed"])
    yield from map(_requirement_line, said["requirements"])
    yield from said["notes"]


def as_text(said):
    name = said.get("wheel") or said["file"]
    if said["outcome"] == "refused":
        return printable(f"{name}: refused: {said['error']}")
    lines = _wheel_lines(said) if "wheel" in said else _file_lines(said)
    head = HEADS.get(said["outcome"]) or f"written to {said['output']}"
    if said["outcome"] == "retargeted" and not said["output"]:
        head = "not written, since something else was refused"
    return "\n".join(map(printable, [f"{name}: {head}", *(f"    {line}" for line in lines)]))
