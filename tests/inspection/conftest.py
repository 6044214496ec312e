# SPDX-License-Identifier: MIT
import subprocess

import pytest

from dumps import Seen, compile_dump


def pytest_make_parametrize_id(val):
    """Bytes are no name for a test."""
    if isinstance(val, bytes):
        return f"{len(val)} bytes"
    return val.replace(" ", "-") if isinstance(val, str) else None


@pytest.fixture(scope="session")
def dump():
    return compile_dump()


@pytest.fixture
def see(dump, tmp_path):
    """see(bytes or path, "--payloads") is what the inspector makes of it; from
    memory and from a file it has to be the same."""
    def see(what, *arguments, name="thing", program=dump, **options):
        path = what
        if isinstance(what, (bytes, bytearray)):
            path = tmp_path / name
            path.write_bytes(what)
        said = [subprocess.run([program, *arguments, *how, path], capture_output=True, text=True,
                               errors="surrogateescape", timeout=120, **options)
                for how in ([], ["--memory"])]
        for one in said:
            assert one.returncode == 0, (one.returncode, one.stderr)
        assert said[0].stdout == said[1].stdout
        return Seen(said[0].stdout)
    return see


@pytest.fixture
def extract(dump, tmp_path):
    """extract(bytes, "--code", 0): the bytes of an entry, or why there are none."""
    def extract(what, how, index, *arguments):
        path = tmp_path / "thing"
        path.write_bytes(what)
        said = subprocess.run([dump, *arguments, how, str(index), path], capture_output=True,
                              timeout=120)
        return said.stdout if said.returncode == 0 else said.stderr.decode().strip()
    return extract
