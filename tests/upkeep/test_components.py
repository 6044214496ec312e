# SPDX-License-Identifier: MIT
"""tools/upkeep/components.py on the wheels of a few components."""
import subprocess
import sys

import build


def test_packages_have_what_the_table_says():
    done = subprocess.run([sys.executable, build.ROOT / "tools/upkeep/components.py", "cudadevrt", "headers"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count(": as the table says") == 8, done.stdout + done.stderr
