# SPDX-License-Identifier: MIT
"""What is no file, and files that cannot be read."""
import ctypes
import os
import resource

import pytest

import build
import fakes
import made_up as c
from dumps import Dump
from lazycuda.link_library import library


def test_what_is_no_file(dump, tmp_path):
    os.mkfifo(tmp_path / "fifo")        # which nobody writes to: it is not waited for
    (tmp_path / "empty").touch()
    for path, why in ((tmp_path, "is a directory"), (tmp_path / "x", "does not exist"),
                      (tmp_path / "fifo", "is not a regular file"),
                      ("/dev/zero", "is not a regular file"), (tmp_path / "empty", "is empty")):
        seen, = dump(path)
        assert (seen.kind, seen.error) == ("unknown", why)


@pytest.mark.parametrize("words", [
    "inspect fifo", "audit fifo", "audit --stub fifo here", "status ./fifo", "plan --arch sm_80 fifo",
    "link --arch sm_80 -o out fifo", "plan --arch sm_80 --header a=fifo here", "retarget -o out fifo",
    "stub --from fifo --missing 1 -o out", "stub --list fifo.txt -o out", "stub --from lib.so --missing 1 -o made"])
def test_no_command_waits_for_the_writer_of_a_fifo(tmp_path, words):
    (tmp_path / "here").write_bytes(c.ptx())
    (tmp_path / "made").mkdir()
    for name in "fifo", "fifo.txt", "made/Makefile":
        os.mkfifo(tmp_path / name)
    (tmp_path / "lib.so").symlink_to(fakes.fake("cudart", "12.9"))
    done = build.run(build.TOOL, *words.split(), cwd=tmp_path, timeout=60,
                     env=build.environment(build.TOOL, os.environ))
    assert done.returncode == 2
    assert ("made holds Makefile, which this command did not make" if "made" in words else "is not a regular file") in done.stderr


def test_a_header_need_not_be_a_regular_file(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    done = build.run(build.TOOL, "plan", "--arch", "sm_80", "--nvjitlink", "13.0", "--nvrtc", "13.0",
                     "--header", "a=/dev/null", "--header", "b=/dev/stdin", "k.cu", cwd=tmp_path,
                     input="#define B\n", timeout=60, env=build.environment(build.TOOL, os.environ))
    assert done.returncode == 0, done.stderr


def test_a_file_that_may_not_be_read(dump, tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(c.ptx())
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert dump(path)[0].error == "is not readable"


@pytest.fixture
def limited():
    """limited(limit, size): who inspects within that."""
    own = Dump()

    def limited(limit, size):
        own("/dev/null")        # it has begun
        resource.prlimit(own.process.pid, limit, (size, size))
        return own
    yield limited
    own.end()


def test_no_descriptor_is_left_open(limited, tmp_path):
    """A thousand files with room for thirty descriptors."""
    path = tmp_path / "a.fatbin"
    path.write_bytes(c.usual())
    seen = limited(resource.RLIMIT_NOFILE, 30)(*[path] * 1000)
    assert [one.kind for one in seen] == ["fatbin"] * 1000


def test_a_large_file_is_read_at_its_headers_alone(limited, tmp_path):
    """One of 64 GiB that is nearly all hole."""
    hole = 64 << 30
    entry = c.entry(c.PTX, c.ptx(), payload_size=hole)[:c.ENTRY.size]
    path = tmp_path / "large.fatbin"
    with open(path, "wb") as file:
        file.write(c.fatbin(size=len(entry) + hole) + entry + c.ptx())
        try:
            file.truncate(16 + len(entry) + hole)
        except OSError as why:
            pytest.skip(f"this file system has no files that large: {why}")
    # Its code may not be handed out within this much memory.
    seen, = limited(resource.RLIMIT_AS, 400_000 << 10)(path)
    one, = seen.entries
    assert (one["kind"], one["arch"], one["no-code"]) == ("ptx", "80", "memory ran out")


def reads():
    """The number of read calls of this process so far."""
    try:
        with open("/proc/self/io") as file:
            return int(dict(line.split(": ") for line in file)["syscr"])
    except (OSError, KeyError) as why:
        pytest.skip(f"this kernel does not count system calls: {why}")


def test_an_archive_is_read_in_blocks(tmp_path):
    """The headers of members cost no system call each, wherever a block ends."""
    members = 5000
    path = tmp_path / "many.a"
    path.write_bytes(c.archive(*(c.member(b"%d/" % i, c.ptx() + b"\n" * (i % 7))
                                   for i in range(members))))
    inspect, release = library().lazycuda_inspect_file, library().lazycuda_inspection_free
    before = reads()
    inspection = inspect(bytes(path), 0)
    asked = reads() - before
    release(inspection)
    assert asked < 20 + path.stat().st_size / 2048 < members / 4


@pytest.fixture
def change_later(tmp_path):
    """change_later("code", change): what comes of an entry's code after the file
    was changed under an inspection; change(path)."""
    def change_later(what, change):
        path = tmp_path / "a.fatbin"
        path.write_bytes(c.usual())
        inspection = library().lazycuda_inspect_file(bytes(path), 0)
        change(path)
        length, error = ctypes.c_size_t(), ctypes.c_char_p()
        results = ctypes.byref(length), ctypes.byref(error)
        if what == "code":
            got = library().lazycuda_entry_payload(inspection, 0, 1, *results)
        else:
            got = library().lazycuda_entry_fatbin(inspection, 0, *results)
        library().lazycuda_inspection_free(inspection)
        return got, error.value
    return change_later


CHANGED = (None, b"cannot be read any more: the file was changed")


@pytest.mark.parametrize("what", ["code", "fatbin"])
@pytest.mark.parametrize("size", [0, 200])
def test_a_file_that_is_cut_short_later_is_an_error_not_a_signal(change_later, size, what):
    assert change_later(what, lambda path: os.truncate(path, size)) == CHANGED


@pytest.mark.parametrize("field", [{"header_size": 72}, {"payload_size": 2**64 - 1}])
def test_a_header_that_changes_later_is_not_believed(change_later, field):
    def change(path):
        with open(path, "r+b") as file:
            file.seek(16)
            file.write(c.entry(c.CUBIN, c.cubin(), **field)[:c.ENTRY.size])
    assert change_later("fatbin", change) == CHANGED
