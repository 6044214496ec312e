# SPDX-License-Identifier: MIT
"""The digest of a link's key is SHA-256; tests/python asks what is in a key."""
import hashlib

import build
from handles import HERE


def test_the_digest():
    program = build.program(HERE / "sums.c", build.ROOT / "link" / "run" / "sha256.c")
    data = bytes(7 * i % 256 for i in range(300))
    assert build.output(program).split() == [
        hashlib.sha256(data[:length]).hexdigest() for length in range(300)]
