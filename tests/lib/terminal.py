# SPDX-License-Identifier: MIT
"""Runs a program on a terminal of its own and keeps what it writes there."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from dataclasses import dataclass

import pytest

INTERRUPT = b"\x03"     # what Ctrl-C sends
SHOWN = re.compile(r"\r([^\r\n\x1b]+)\x1b\[K")


@dataclass
class Said:
    status: int         # minus the number of the signal that ended it
    text: str

    @property
    def progress(self):
        """Each text that the line had."""
        return SHOWN.findall(self.text)

    @property
    def screen(self):
        """What is to be read there at the end."""
        rows = []
        for row in self.text.replace("\r\n", "\n").split("\n"):
            kept = ""
            for piece in row.split("\r"):
                written, erased, rest = piece.partition("\x1b[K")
                kept = written + rest if erased else written + kept[len(written):]
            rows.append(kept)
        return "\n".join(rows)


def pair():
    """Both ends of a terminal; skips where the machine has none."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"there is no pseudo-terminal here: {error}")


def start(command, columns, env):
    for end in pair():
        os.close(end)
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)    # what runs in the background ignores it
        time.sleep(0.05)        # until the terminal has its size
        os.execvpe(command[0], command, env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return pid, terminal


def read(terminal, seconds):
    """What is written there in that time; None once nobody can write any more."""
    if not select.select([terminal], [], [], seconds)[0]:
        return b""
    try:
        return os.read(terminal, 1 << 16) or None
    except OSError:
        return None


def run(*command, columns=80, interrupt=False, **env):
    """`interrupt`: once it shows how far it is.  Until then it is stopped again and again, so that
    whoever watches it is not too late."""
    pid, terminal = start([str(word) for word in command], columns, {**os.environ, **env})
    text, piece = b"", b""
    while piece is not None:
        if interrupt:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.03)
            os.kill(pid, signal.SIGCONT)
        piece = read(terminal, 0.002 if interrupt else 1)
        text += piece or b""
        if interrupt and SHOWN.search(text.decode(errors="replace")):
            os.write(terminal, INTERRUPT)
            interrupt = False
    status = os.waitpid(pid, 0)[1]
    os.close(terminal)
    return Said(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
                text.decode())
