# SPDX-License-Identifier: MIT
"""Without libzstd and liblz4, which a machine need not have."""
import ctypes

import pytest

import made_up as c
from dumps import Dump

UNSEEN = 0x40
DATA = c.fatbin(c.entry(c.PTX, c.ptx(), flags=c.PLAIN | c.LZ4, version=(8, 0)),
                c.entry(c.CUBIN, c.cubin(), flags=c.PLAIN | c.ZSTD),
                c.entry(c.LTOIR, c.ltoir(), version=(1, 64)))
LIBRARIES = {"LZ4": "liblz4.so.1", "ZSTD": "libzstd.so.1"}


def missing(name):
    return f"is compressed with {name} and {LIBRARIES[name]} is not installed"


@pytest.fixture
def hidden(tmp_path):
    """hidden("ZSTD"): who inspects where the loader finds something else under
    the library's name."""
    made = []

    def hidden(*names):
        folder = tmp_path / "hidden"
        folder.mkdir()
        for name in names:
            (folder / LIBRARIES[name]).write_text("no library\n")
        made.append(Dump(LD_LIBRARY_PATH=str(folder)))
        return made[-1]
    yield hidden
    for one in made:
        one.end()


def unseen(seen):
    return [bool(int(flags, 16) & UNSEEN) for flags in seen.column("flags")]


@pytest.mark.parametrize("names, expected", [
    (["LZ4"], [True, False, False]), (["ZSTD"], [False, True, False]),
    (["LZ4", "ZSTD"], [True, True, False])])
def test_what_cannot_be_unpacked_stays_unseen_and_is_said_to_be(see, hidden, names, expected):
    for name in {"LZ4", "ZSTD"} - set(names):
        try:
            ctypes.CDLL(LIBRARIES[name])
        except OSError:
            pytest.skip(f"{LIBRARIES[name]} is not installed here")
    seen = see(DATA, "--payloads", dump=hidden(*names))
    assert seen.error is None and seen.column("error") == [None] * 3
    assert unseen(seen) == expected
    assert seen.warning == f"some code {missing(names[-1])}: its version is not known"
    for entry, is_unseen, name in zip(seen.entries, expected, ["LZ4", "ZSTD"]):
        assert entry.get("no-code") == (missing(name) if is_unseen else None)
        # It can still be handed on as it is.
        assert "stored" in entry and "copy" in entry
    # What the headers tell is known.
    assert seen.column("arch") == ["80"] * 3 and seen.entries[0]["isa"] == "80"
    if expected[1]:
        assert seen.entries[1]["toolkit"] == "0"


def test_nothing_is_loaded_for_headers(see, hidden):
    seen = see(c.usual(c.PLAIN | c.ZSTD), dump=hidden("LZ4", "ZSTD"))
    assert seen.warning is None and unseen(seen) == [False, True, False]
