# SPDX-License-Identifier: MIT
"""Files made by hand: those that fuzzing begins with."""
import build
import made_up

CALLER = (build.TESTS / "fuzz" / "corpus" / "object" / "caller").read_bytes()


def archive_of(name):
    """A static library with a member of that name."""
    return made_up.archive(made_up.member(b"//", name + b"/\n"),
                           made_up.member(b"/0", made_up.ptx()))
