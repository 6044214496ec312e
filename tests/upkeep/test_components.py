# SPDX-License-Identifier: MIT
"""tools/upkeep/components.py on the wheels of a few components."""
import sys

import build


def test_packages_have_what_the_table_says():
    done = build.run(sys.executable, build.ROOT / "tools/upkeep/components.py", "cudadevrt", "headers")
    assert done.returncode == 0 and done.stdout.count(": as the table says") == 8, done.stdout + done.stderr
