# SPDX-License-Identifier: MIT
"""Outputs that appear whole and together, or not at all."""
import contextlib
import os
import pathlib
import shutil
import tempfile


def _keep_owner(path, final):
    """A file that root replaces keeps its owner."""
    if os.geteuid() == 0 and final.exists():
        status = final.stat()
        os.chown(path, status.st_uid, status.st_gid)


class Staging:
    """Hands out paths beside the places of files, and moves what was written there
    in one go.  Whatever was not moved is gone at the end."""

    def __init__(self):
        self._folders = {}
        self._made = []
        self._moves = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for folder in self._folders.values():
            shutil.rmtree(folder, ignore_errors=True)
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):     # it has outputs: stays
                folder.rmdir()

    def _make(self, folder):
        if not folder.exists():
            self._make(folder.parent)
            folder.mkdir()
            self._made.append(folder)

    def _folder(self, parent):
        if parent not in self._folders:
            self._make(parent)
            self._folders[parent] = pathlib.Path(tempfile.mkdtemp(prefix=".lazycuda-", dir=parent))
        return self._folders[parent]

    def output(self, final):
        """Where to write what is to become `final`."""
        final = pathlib.Path(final)
        folder = self._folder(final.parent) / str(len(self._moves))
        folder.mkdir(exist_ok=True)
        self._moves[final] = folder / final.name
        return self._moves[final]

    def commit(self):
        for final, path in self._moves.items():
            _keep_owner(path, final)
            os.replace(path, final)
        self._moves.clear()
