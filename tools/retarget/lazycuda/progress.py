# SPDX-License-Identifier: MIT
"""A progress line on a terminal; nothing in a log."""
import contextlib
import os
import sys
import time

# Seconds: work shorter than SOON needs no line, and nobody reads updates faster than AGAIN.
SOON = 0.3
AGAIN = 0.1
CLEARED = "\r\x1b[K"


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
        self.shown = self.ever = False
        self.next = time.monotonic() + SOON

    def show(self, text):
        if self.live:
            # Not the last column: some terminals wrap there.  What is not ASCII may be two columns wide.
            text = text.encode("ascii", "replace").decode()[:width(self.stream) - 1]
            # An interrupt may come as soon as it is written.
            self.shown = self.ever = True
            self._write(f"\r{text}\x1b[K")

    def share(self, what, done, total):
        """Says what is done, and how much of it, unless that was said just now."""
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + AGAIN
            self.show(f"{what}: {100 * done // total} %")

    def clear(self):
        if self.shown:
            self._write(CLEARED)
            self.shown = False

    def interrupted(self):
        """Clears it once more: a terminal that is sent ^C drops what it has not shown yet.  A signal may come
        amid a write of the stream, which takes no other then."""
        if self.ever:
            with contextlib.suppress(OSError):
                os.write(self.stream.fileno(), CLEARED.encode())

    def _write(self, text):
        # A terminal that went away is no reason to stop.
        with contextlib.suppress(OSError):
            self.stream.write(text)
            self.stream.flush()


class Stage:
    """A part of the work, of so many bytes."""

    def __init__(self, line, what, total):
        self.line, self.what, self.total, self.done = line, what, total, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.line.clear()       # however it ends

    def add(self, count):
        self.done += count
        self.line.share(self.what, min(self.done, self.total), self.total or 1)


NO_LINE = Line(wanted=False)
