# SPDX-License-Identifier: MIT
"""Outputs that appear whole and together, or not at all; nothing temporary is left."""
import contextlib
import errno
import itertools
import os
import pathlib
import shutil
import signal
import stat
import tempfile

from .command import die_of

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
MOST_LINKS = 40         # as Linux follows
ACL, CAPABILITY = "system.posix_acl_access", "security.capability"


def output_path(path):
    """The absolute path without links, also of what is not there.  Somebody else's link is not
    followed: the rule is that of tools/output.c."""
    real, links = "/", 0
    rest = os.path.join(os.getcwd(), path).split("/")[::-1]
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        here = os.path.dirname(real) if name == ".." else os.path.join(real, name)
        if not os.path.islink(here):
            real = here
            continue
        if os.lstat(here).st_uid not in (0, os.geteuid()) and os.stat(real).st_mode & stat.S_IWOTH:
            raise OSError(None, "is a symbolic link of somebody else's in a folder that everybody may write to: "
                                "not followed", here)
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = os.readlink(here)
        real = "/" if target.startswith("/") else real
        rest += target.split("/")[::-1]
    return pathlib.Path(real)


@contextlib.contextmanager
def _about(shown):
    """Has an error name what the user knows."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(shown)) from None


def _attributes(path):
    """{name: value} of those that are rights, where the file system has any."""
    try:
        return {name: os.getxattr(path, name) for name in {ACL, CAPABILITY} & {*os.listxattr(path)}}
    except OSError:
        return {}


def _exchange(one, other):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        failed = libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2)
    except AttributeError:      # before glibc 2.28
        failed = ctypes.set_errno(errno.ENOSYS) or True
    if failed and ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS):
        raise OSError(None, "this file system cannot keep the old file meanwhile: write one file at a time")
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class _Output:
    """One file on its way to its place, and back."""

    def __init__(self, final, shown, new, source):
        self.final, self.shown, self.new, self.source = final, shown, new, source
        self.old = new.parent.with_suffix(".old")
        self.replaces = self.linked = False

    def check(self):
        """What lstat() says of what is there, or None."""
        try:
            there = os.lstat(self.final)
        except FileNotFoundError:
            return None
        if stat.S_ISREG(there.st_mode) or stat.S_ISLNK(there.st_mode):
            return there
        raise OSError(None, "is a directory" if stat.S_ISDIR(there.st_mode) else "is not a regular file")

    def _set_rights(self, there):
        """One that root replaces keeps its owner.  What makes a program run with the rights of its owner, or
        of root, does so for the same owner alone."""
        mode, source = stat.S_IMODE(os.stat(self.new).st_mode), self.source or self.new
        if there and os.geteuid() == 0 and stat.S_ISREG(there.st_mode):
            os.chown(self.new, there.st_uid, there.st_gid)
        kept = _attributes(source)
        if os.stat(source)[4:6] != os.stat(self.new)[4:6]:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
            kept.pop(CAPABILITY, None)
        # With a list the group's bits are the most that it gives to anybody.
        os.chmod(self.new, mode & ~stat.S_IRWXG if ACL in kept else mode)
        for name, value in kept.items():
            with contextlib.suppress(OSError):
                os.setxattr(self.new, name, value)

    def keep(self):
        """Give the file that is there a second name, and the new one its rights."""
        there = self.check()
        self._set_rights(there)
        if not there:
            return
        self.replaces = True
        # Not of another's file where fs.protected_hardlinks is set, nor on FAT.
        with contextlib.suppress(OSError):
            os.link(self.final, self.old, follow_symlinks=False)
            self.linked = True

    def move(self, last):
        if self.replaces and not self.linked and not last:
            _exchange(self.new, self.final)
        else:
            os.replace(self.new, self.final)

    def put_back(self):
        if self.linked:
            os.replace(self.old, self.final)
        elif self.replaces:
            _exchange(self.new, self.final)
        else:
            os.unlink(self.final)


class _Folder(_Output):
    """A whole folder on its way: nobody sees one that is half old and half new."""

    def check(self):
        if os.path.isdir(self.final):
            return os.stat(self.final)
        if os.path.lexists(self.final):
            raise OSError(None, "is not a directory")
        return None

    def keep(self):
        there = self.check()
        if there:
            os.chmod(self.new, stat.S_IMODE(there.st_mode))
            self.replaces = True

    def move(self, last):
        super().move(last=False)        # no folder takes the place of another


class Staging:
    """Hands out paths beside the places of files, and moves what was written there
    in one go.  Whatever was not moved is gone at the end, also if a signal is the end."""

    def __init__(self, line):
        self._line = line
        self._folders = {}      # {folder of outputs, or None: the temporary one in it}
        self._made = []
        self._outputs = {}      # by final path
        self._held, self._late = False, None

    def __enter__(self):
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:      # as under nohup
                signal.signal(number, self._stop)
        with self._hold():      # all that is temporary, whoever makes it, lies in one folder
            self._temporary = self._folders[None] = tempfile.mkdtemp(prefix="lazycuda-")
            tempfile.tempdir = self._temporary
        return self

    def __exit__(self, _, error, __):
        self._clear()
        if isinstance(error, OSError):
            self._name(error)

    def _stop(self, number, _frame=None):
        """No exception, which might come where something is just being made or cleared away."""
        if self._held:
            self._late = number
            return
        self._line.interrupted()
        for children in pathlib.Path("/proc/self/task").glob("*/children"):
            with contextlib.suppress(OSError):
                for child in children.read_text().split():
                    os.kill(int(child), signal.SIGKILL)
        self._clear()
        die_of(number)

    @contextlib.contextmanager
    def _hold(self):
        """Put a signal off."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            if self._late:
                self._stop(self._late)

    def _clear(self):
        tempfile.tempdir = None
        for folder in self._folders.values():
            for _ in range(100):        # a thread may still write there
                shutil.rmtree(folder, ignore_errors=True)
                if not os.path.exists(folder):
                    break
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):     # it has outputs: stays
                folder.rmdir()

    def _name(self, error):
        """Has an error name what the user knows, and nothing temporary."""
        known = [(output.new, output.shown) for output in self._outputs.values()]
        known += [(new.parents[1], shown.parent) for new, shown in known]
        known += [(self._temporary, f"temporary files in {os.path.dirname(self._temporary)}")]
        for name, (path, shown) in itertools.product((error.filename2, error.filename), known):
            if str(name).startswith(str(path)):
                error.filename = str(shown)
                return
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and not error.filename:
            error.filename = " or ".join(sorted({str(shown) for _, shown in known[len(self._outputs):]}))

    def _make(self, folder):
        if not folder.is_dir():
            self._make(folder.parent)
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                self._made.append(folder)

    def _begin(self, parent):
        """Makes a temporary folder there; another run may take away, at its end, the one that it made."""
        for left in reversed(range(100)):
            try:
                self._make(parent)
                return tempfile.mkdtemp(prefix=".lazycuda-", dir=parent)
            except FileNotFoundError:
                if not left:
                    raise

    def folder(self, final, shown):
        """The same for a folder, which is there and empty."""
        new = self.output(final, shown, None, _Folder)
        new.mkdir()
        return new

    def output(self, final, shown, source, kind=_Output):
        """Where to write what is to become `final`, an output_path(), which the user knows as `shown`; of
        `source`, which may write it again."""
        if final not in self._outputs:
            with _about(shown.parent), self._hold():
                self._folders[final.parent] = self._folders.get(final.parent) or self._begin(final.parent)
            folder = pathlib.Path(self._folders[final.parent], str(len(self._outputs)))
            folder.mkdir()
            self._outputs[final] = kind(final, shown, folder / final.name, source)
            with _about(shown):
                self._outputs[final].check()
        if self._outputs[final].source != source:
            raise OSError(None, "two inputs have this output", str(shown))
        return self._outputs[final].new

    def _put_back(self, output):
        with _about(output.shown):
            try:
                output.put_back()
            except OSError as error:
                where = self._folders.pop(output.final.parent, None)        # it stays
                raise OSError(error.errno, f"{error.strerror}; what was there is in {where}") from None

    def commit(self):
        """At each moment each place has its old file or its new one; at the end all have
        the new ones, or all the old ones."""
        with self._hold(), contextlib.ExitStack() as undo:
            for output in self._outputs.values():
                with _about(output.shown):
                    output.keep()
            # Those without a second name come last, since the last one needs none.
            outputs = sorted(self._outputs.values(), key=lambda each: each.replaces and not each.linked)
            for output in outputs:
                with _about(output.shown):
                    output.move(output is outputs[-1])
                undo.callback(self._put_back, output)
            undo.pop_all()
