# SPDX-License-Identifier: MIT
"""The C sources of the tree, tests aside, and the rooms that they lie in."""
import build


def sources():
    return [path for part in ("include", "stubs", "link", "gen", "tools")
            for path in sorted((build.ROOT / part).rglob("*.[ch]"))]


def room(path):
    return path.parent.relative_to(build.ROOT).as_posix()
