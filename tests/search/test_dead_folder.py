# SPDX-License-Identifier: MIT
"""A folder on a file system that does not answer: a server that is gone, or an automounter that waits for it."""
import ctypes
import os
import struct

import pytest

from fakes import fake

OPEN_AT_MOST = 20       # seconds for what takes a tenth of one


@pytest.fixture
def dead(world):
    """A file system whose server has answered the mount, and nothing after that."""
    folder, libc = world.folder("dead"), ctypes.CDLL(None, use_errno=True)
    try:
        server = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        pytest.skip(f"/dev/fuse cannot be opened: {error.strerror}")
    options = f"fd={server},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    if libc.mount(b"dead", bytes(folder), b"fuse", 0, options.encode()):
        os.close(server)
        pytest.skip(f"FUSE cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    _, _, unique = struct.unpack_from("<IIQ", os.read(server, 1 << 17))
    os.write(server, struct.pack("<IiQ", 80, 0, unique) + struct.pack("<II", 7, 31).ljust(64, b"\0"))
    yield folder
    libc.umount2(bytes(folder), 2)
    os.close(server)


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "PYTHONPATH", "/usr/local/cuda-13.0",
                                      "/opt/cuda"])
def test_nobody_waits_for_what_cannot_win(world, dead, variable):
    world.loader(fake("cudart", "12.9"))
    env = {variable: dead} if variable[0] != "/" else {}
    if not env:
        world.symlink(dead, variable)
    assert world.status(timeout=OPEN_AT_MOST, **env)["version"] == "12.9"
