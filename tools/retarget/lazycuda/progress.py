# SPDX-License-Identifier: MIT
"""A progress line on a terminal; nothing in a log."""
import contextlib
import os
import sys
import time

# Seconds: work shorter than SOON needs no line, and nobody reads updates faster than AGAIN.
SOON = 0.3
AGAIN = 0.1


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


def cut(text, columns):
    """What fits into so many columns; a character beyond ASCII may be two columns wide."""
    used = 0
    for place, character in enumerate(text):
        used += 1 if character < "\x7f" else 2
        if used > columns:
            return text[:place]
    return text


def width(stream):
    """Of the terminal itself: COLUMNS is not kept up to date by every shell."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


class Line:
    """Written again and again on a terminal; on anything else nothing is written."""

    def __init__(self, stream=None, wanted=True):
        self.stream = stream or sys.stderr
        self.live = wanted and self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.shown = False
        self.next = time.monotonic() + SOON

    def show(self, text):
        if self.live:
            # Not the last column: some terminals wrap there.
            # An interrupt may come as soon as it is written.
            self.shown = True
            self._write(f"\r{cut(text, width(self.stream) - 1)}\x1b[K")

    def is_due(self, now):
        """Whether it is time to write it again."""
        due = now >= self.next
        if due:
            self.next = now + AGAIN
        return due

    def clear(self):
        if self.shown:
            self._write("\r\x1b[K")
            self.shown = False

    def _write(self, text):
        # A terminal that went away is no reason to stop.
        with contextlib.suppress(OSError):
            self.stream.write(text)
            self.stream.flush()


class Stage:
    """A part of the work, of so many bytes."""

    def __init__(self, line, what, total, now=time.monotonic):
        self.line = line
        self.what = what        # is read last, and may be cut
        self.total = total
        self.done = 0
        self.now = now
        self.began = now()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.line.clear()       # however it ends

    def add(self, count):
        self.done += count
        now = self.now()
        if self.line.is_due(now):
            self.line.show(self.text(now - self.began))

    def text(self, seconds):
        return f"{amount(min(self.done, self.total), self.total, seconds)}: {self.what}"


NO_LINE = Line(wanted=False)
