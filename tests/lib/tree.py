# SPDX-License-Identifier: MIT
"""The C sources of the tree, tests aside, and the rooms that they lie in."""
import functools
import os
import re

import build

# A comment, a string, a character: nothing in them is defined or called.
APART = re.compile(r"""/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def sources():
    return [path for part in ("include", "stubs", "link", "gen", "tools")
            for path in sorted((build.ROOT / part).rglob("*.[ch]"))]


def room(path):
    return path.parent.relative_to(build.ROOT).as_posix()


def code(path):
    return APART.sub("", path.read_text())


@functools.lru_cache(maxsize=None)
def included(path):
    """What a file includes of the tree; what gen writes is in none."""
    files = []
    for name in re.findall(r'^\s*#\s*include\s+"(?!generated/)([^"]+)"', path.read_text(), re.M):
        found = [place for place in (path.parent / name, build.ROOT / "stubs" / name)
                 if place.is_file()]
        assert found, f"{path}: there is no {name}"
        files.append(build.ROOT / os.path.relpath(found[0], build.ROOT))
    return files
