# SPDX-License-Identifier: MIT
"""A folder that this process serves by FUSE, as squashfuse serves an image."""
import contextlib
import ctypes
import errno
import os
import struct
import threading

import pytest

LIBC = ctypes.CDLL(None, use_errno=True)
READ_ONLY, REMOUNT, BIND, DETACH = 1, 32, 4096, 2       # of sys/mount.h
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, ALSO_FORGET = (
    1, 2, 3, 14, 15, 18, 25, 26, 27, 28, 29, 42)
VALID = 10**6       # seconds for which the kernel may believe an answer


def attributes(path, owner):
    """Whatever the server likes: here all that it serves is said to be the `owner`'s."""
    st = os.stat(path)
    return struct.pack("<6Q10I", st.st_ino, st.st_size, st.st_blocks, *[int(st.st_mtime)] * 3, 0, 0, 0,
                       st.st_mode, 1, owner, owner, 0, 4096, 0)


def answer(paths, owner, kind, node, data):
    """What FUSE is answered: bytes, or an errno.  `paths`: of each node, at its number."""
    path = paths[node] if node < len(paths) else None
    if kind == INIT:
        return struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 8, 8, 65536, 1, 16, 0, *[0] * 8)
    if kind == LOOKUP:
        path = os.path.join(path, os.fsdecode(data.rstrip(b"\0")))
        if not os.path.exists(path):
            return errno.ENOENT
        if path not in paths:
            paths.append(path)
        return struct.pack("<4Q2I", paths.index(path), 0, VALID, VALID, 0, 0) + attributes(path, owner)
    if kind == GETATTR:
        return struct.pack("<Q2I", VALID, 0, 0) + attributes(path, owner)
    if kind == READ:
        _, start, size = struct.unpack_from("<2QI", data)
        with open(path, "rb") as file:
            return os.pread(file.fileno(), size, start)
    if kind in (OPEN, OPENDIR):
        return bytes(16)
    return b"" if kind in (READDIR, RELEASE, RELEASEDIR, FLUSH) else errno.ENOSYS


def serve(fuse, tree, owner):
    paths = [None, str(tree)]
    while True:
        try:
            asked = os.read(fuse, 2**17)
        except OSError:         # it was unmounted
            os.close(fuse)
            return
        _, kind, unique, node = struct.unpack_from("<2I2Q", asked)
        if kind in (FORGET, ALSO_FORGET):
            continue
        said = answer(paths, owner, kind, node, asked[40:])
        error, said = (-said, b"") if isinstance(said, int) else (0, said)
        os.write(fuse, struct.pack("<IiQ", 16 + len(said), error, unique) + said)


@contextlib.contextmanager
def mounted(source, at, kind, options, *flags):
    """At the folder `at`, with these flags, one call of mount() for each."""
    try:
        for flag in flags:
            if LIBC.mount(os.fsencode(source), os.fsencode(at), kind, flag, options.encode()):
                pytest.skip(f"mount: {os.strerror(ctypes.get_errno())}")
        yield at
    finally:
        LIBC.umount2(os.fsencode(at), DETACH)


def bound_read_only(folder, at):
    return mounted(folder, at, b"", "", BIND, BIND | REMOUNT | READ_ONLY)


@contextlib.contextmanager
def served(tree, at, user, owner=0):
    """What lies in the folder `tree`, at the folder `at`, as this user mounts it with fusermount."""
    try:
        fuse = os.open("/dev/fuse", os.O_RDWR)
    except OSError as why:
        pytest.skip(f"FUSE: {why}")
    options = f"fd={fuse},rootmode=40755,user_id={user},group_id={user},allow_other"
    with mounted("served", at, b"fuse", options, 0):
        threading.Thread(target=serve, args=(fuse, tree, owner), daemon=True).start()
        yield
