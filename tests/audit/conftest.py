# SPDX-License-Identifier: MIT
import json

import pytest


@pytest.fixture
def audit(world):
    def run(*arguments, status=0, **options):
        done = world.cli("audit", *arguments, check=False, **options)
        assert done.status == status, done.out + done.err
        return done
    return run


@pytest.fixture
def said(audit):
    """What it says of one file, as JSON."""
    def run(*arguments, **options):
        return json.loads(audit("--json", *arguments, **options).out)["files"][0]
    return run
