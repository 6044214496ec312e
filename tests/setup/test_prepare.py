# SPDX-License-Identifier: MIT
"""Where tests/run.py fetches from."""
import re

import prepare
import run_pip


def test_no_registry_is_named():
    for file in (run_pip.__file__, prepare.__file__):
        assert not re.search(r"https?://(?!\{|\")[\w.]+\.\w", open(file).read())
