# SPDX-License-Identifier: MIT
"""A line on a terminal that says how far long work is; a log gets whole lines alone."""
import os
import sys


def size(count):
    """Bytes, as people say it."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            number = count / step
            return f"{number:.3g} {unit}" if number < 999.5 else f"{number:.0f} {unit}"
    return f"{count:.0f} bytes"


def seconds(count):
    count = round(count)
    return f"{count} s" if count < 100 else f"{count // 60} min {count % 60:02} s"


def amount(got, known, taken):
    """Bytes of so many, their rate, what is left; `taken` are seconds."""
    said = f"{size(got)} of {size(known)}"
    if not got or not taken:
        return said
    rate = got / taken
    return f"{said}, {size(rate)}/s, {seconds((known - got) / rate)} left"


def width(stream):
    """Of the terminal itself: COLUMNS may be of another, and stdout may be a file."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


class Line:
    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"

    def _write(self, text):
        self.stream.write(text)
        self.stream.flush()

    def show(self, text):
        """Until the next one; nothing in a log."""
        if self.live:
            # Not the last column: some terminals wrap there.
            self._write("\r" + text[:width(self.stream) - 1] + "\x1b[K")

    def log(self, text):
        """A line that stays, in a log alone."""
        if not self.live:
            self._write(text + "\n")

    def say(self, text):
        """A line that stays."""
        self.clear()
        self._write(text + "\n")

    def clear(self):
        if self.live:
            self._write("\r\x1b[K")
