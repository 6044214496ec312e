# SPDX-License-Identifier: MIT
"""Questions to the tables and rules about versions.

    ask("isa", 88) == "12090"
    ask_all([("isa", 88), ("isa", 90)]) == ["12090", "13000"]
"""
import functools
import pathlib

import asked
import build

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = build.room("stubs/base", "link/tables")

NONE, UNKNOWN = 0, -1
PTX, CUBIN, LTOIR = 1, 2, 3
NVRTC, NVJITLINK, DRIVER = range(3)             # enum lk_tool
ON_NVJITLINK, ON_DRIVER = 1, 2                  # enum lazycuda_backend
BEST_EFFORT, STRICT, OFF = range(3)
ACROSS_MAJORS, FORWARD_COMPATIBLE = 1, 4


def cuda(text):
    """12090 for "12.9"."""
    major, minor = text.split(".")
    return 1000 * int(major) + 10 * int(minor)


class Asked(asked.Asked):
    """A running ask.py."""

    def __init__(self):
        super().__init__(HERE / "ask.py", build.shared(
            SOURCES[0], *SOURCES[1:], "-D_GNU_SOURCE", "-ldl", name="libtables.so"))

    def ask(self, *question):
        return super().ask("\t".join(map(str, question)))


@functools.lru_cache(maxsize=None)
def running():
    """One for all tests of a run; conftest.py ends it."""
    return Asked()


def ask(*question):
    return running().ask(*question)


def ask_all(questions):
    return [ask(*question) for question in questions]


def put(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def header(path, version="12090"):
    """A cuda.h of that version."""
    return put(path, f"#define CUDA_VERSION {version}\n")
