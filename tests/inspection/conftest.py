# SPDX-License-Identifier: MIT
import pytest

from dumps import dump  # noqa: F401


def pytest_make_parametrize_id(val):
    """Bytes are no name for a test."""
    if isinstance(val, bytes):
        return f"{len(val)} bytes"
    return val.replace(" ", "-") if isinstance(val, str) else None


@pytest.fixture
def see(dump, tmp_path):
    """see(bytes or path, "--payloads") is what the inspector makes of it; from
    memory and from a file it has to be the same."""
    def see(what, *words, dump=dump):
        path = what
        if isinstance(what, (bytes, bytearray)):
            path = tmp_path / "thing"
            path.write_bytes(what)
        (file,), (memory,) = dump(*words, path), dump(*words, "--memory", path)
        assert vars(file) == vars(memory)
        return file
    return see


@pytest.fixture
def extract(see):
    """extract(bytes, "code", 0): the bytes of an entry, or why there are none."""
    def extract(what, way, index):
        entry = see(what, "--bytes").entries[index]
        return entry[way].encode("latin-1") if way in entry else entry[f"no-{way}"]
    return extract
