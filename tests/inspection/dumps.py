# SPDX-License-Identifier: MIT
"""dump.c, and what it said."""
import pathlib

import pytest

import build

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = build.STUBS / "liblazycuda_link.so"


def compile_dump(library=LIBRARY, *flags):
    if not library.exists():
        pytest.fail(f"{library} is not there: run make first")
    return build.program(HERE / "dump.c", *flags, library, f"-Wl,-rpath,{library.parent}")


class Seen:
    """What dump.c said of one file."""
    def __init__(self, text):
        self.kind = self.error = self.warning = None
        self.entries = []
        for line in text.splitlines():
            word, _, rest = line.strip().partition(" ")
            if word == "entry":
                self.entries.append(dict(field.partition("=")[::2] for field in rest.split(" ")))
                self.entries[-1].update(error=None, names={})
            elif not line.startswith(" "):
                setattr(self, word, rest)
            elif word == "symbol":
                name, _, what = rest.partition(" ")
                self.entries[-1]["names"][name] = what
            else:
                self.entries[-1][word] = rest

    def column(self, name):
        return [entry[name] for entry in self.entries]
