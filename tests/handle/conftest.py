# SPDX-License-Identifier: MIT
import pytest

import handles


@pytest.fixture
def link(world):
    """link(FILE, ..., "--lto") runs handle.py; a dict of what it prints."""
    return lambda *words, **options: handles.link(world, *words, **options)


@pytest.fixture
def linker(toolkit):
    """A real toolkit that has an nvJitLink."""
    if toolkit.file("nvJitLink") is None:
        pytest.skip(f"CUDA {toolkit.version} has no nvJitLink")
    return toolkit
