# SPDX-License-Identifier: MIT
"""Files made by hand: those that fuzzing begins with."""
import sys

import build

sys.path[:0] = [str(build.TESTS / "fuzz"), str(build.TESTS / "inspection")]
import loadable  # noqa: E402,F401
import made_up  # noqa: E402

CALLER = (build.TESTS / "fuzz" / "corpus" / "object" / "caller").read_bytes()


def archive_of(name):
    """A static library with a member of that name."""
    return made_up.archive(made_up.member(b"//", name + b"/\n"),
                           made_up.member(b"/0", made_up.ptx()))
