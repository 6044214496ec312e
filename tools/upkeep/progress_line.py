# SPDX-License-Identifier: MIT
"""The progress line of `lazycuda retarget`; a log gets whole lines."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "retarget"))

from lazycuda import progress  # noqa: E402
from lazycuda.progress import AGAIN, amount, duration, size  # noqa: E402

__all__ = ["AGAIN", "Line", "amount", "duration", "size"]


class Line(progress.Line):
    def log(self, text):
        """A line that stays, in a log alone."""
        if not self.live:
            self._write(text + "\n")

    def say(self, text):
        """A line that stays."""
        self.clear()
        self._write(text + "\n")
