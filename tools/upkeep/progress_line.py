# SPDX-License-Identifier: MIT
"""The progress line of `lazycuda retarget`, for what is fetched; a log gets whole lines."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "retarget"))

from lazycuda import progress  # noqa: E402
from lazycuda.progress import AGAIN  # noqa: E402

__all__ = ["AGAIN", "Line", "amount", "duration", "size"]


def size(count):
    """A number of bytes in words."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count:.0f} bytes"


def duration(seconds):
    seconds = round(seconds)
    return f"{seconds} s" if seconds < 100 else f"{seconds // 60} min {seconds % 60:02} s"


def amount(done, total, seconds):
    """12.0 MB of 48.0 MB, 6.0 MB/s, 6 s left"""
    rate = done / seconds if seconds else 0
    left = f", {size(rate)}/s, {duration((total - done) / rate)} left" if rate else ""
    return f"{size(done)} of {size(total)}{left}"


class Line(progress.Line):
    def log(self, text):
        """A line that stays, in a log alone."""
        if not self.live:
            self._write(text + "\n")

    def say(self, text):
        """A line that stays."""
        self.clear()
        self._write(text + "\n")
