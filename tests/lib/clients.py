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


def answers_of_nothing(done):
    """Its answers where there is no CUDA: typed errors, and nothing else printed."""
    said = answers(done)
    assert done.err == ""
    assert said["runtime"] == "303 0"
    assert said["devices"] == "35 cudaErrorInsufficientDriver"
    assert said["nvrtc"] == "11 0.0 ok"
    assert said["last"] == "303 303 0"
    assert said.get("link", "6 0") == "6 0"
    return said
