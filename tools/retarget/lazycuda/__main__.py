# SPDX-License-Identifier: MIT
"""`python -m lazycuda`, and `python FOLDER` as the command in C calls it."""
import pathlib
import sys

if not __package__:
    # Called by its folder: that is not where its modules are looked for.
    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from lazycuda.command import main  # noqa: E402

sys.exit(main())
