# SPDX-License-Identifier: MIT
import pytest

import build

LIBRARIES = {"cuda": "libcuda.so", "nvml": "libnvidia-ml.so"}


@pytest.fixture
def debian():
    """debian("cuda"): the file of Debian's package; skips the test without it."""
    def find(library):
        found = sorted((build.BUILD / "libcuda1").glob(
            f"usr/lib/*/nvidia/current/{LIBRARIES[library]}.*.*"))
        if not found:
            pytest.skip(f"Debian's {LIBRARIES[library]} is not in build/libcuda1 (.ci/run puts it there)")
        return found[0]
    return find
