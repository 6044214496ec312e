# SPDX-License-Identifier: MIT
"""What tests/run.py fetches, and from where."""
import re

import build
import prepare
import run_pip


def test_what_takes_real_libraries_has_them_fetched_and_what_does_not_does_not():
    assert prepare.wants({"real"}, prepare.TOOLKITS) and not prepare.wants({"ldcache"}, prepare.TOOLKITS)
    assert prepare.wants({"own_library"}, prepare.LIBRARIES)
    assert prepare.wants({"scan"}, prepare.LIBCLANG_TAKEN)
    assert prepare.folders([build.TESTS / "scan" / "test_real.py", f"{build.TESTS}/plan::x"]) == {"scan", "plan"}
    assert prepare.folders([]) is prepare.folders([build.TESTS]) is None


def test_no_registry_is_named():
    for file in (run_pip.__file__, prepare.__file__):
        assert not re.search(r"https?://(?!\{|\")[\w.]+\.\w", open(file).read())
