# SPDX-License-Identifier: MIT
"""Programs linked against real libraries, as others build them."""
import build

SOURCE = build.TESTS / "retarget" / "client.c"


def linked(toolkit):
    """A program linked against the real libraries of a toolkit."""
    files = [toolkit.file(library) for library in build.LIBRARIES if toolkit.file(library)]
    suffix = [f"-DSUFFIX=_{toolkit.major}_{toolkit.minor}"] if len(files) == 3 else []
    return build.program(SOURCE, *suffix, *files, "-Wl,--no-as-needed",
                         "-Wl,--allow-shlib-undefined", name=f"client-{toolkit.version}")


def answers(said):
    """What such a program says of each thing that it does."""
    return dict(line.split(" ", 1) for line in said.lines)
