# SPDX-License-Identifier: MIT
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent

# The modules beside this file, and the makers of device code.
sys.path[:0] = [str(HERE), str(HERE.parent / "agreement")]

import handles  # noqa: E402


@pytest.fixture
def link(world):
    """link(FILE, ..., "--lto") runs handle.c; a dict of what it prints."""
    return lambda *words, **options: handles.link(world, *words, **options)


@pytest.fixture
def linker(toolkit):
    """A real toolkit that has an nvJitLink."""
    if toolkit.file("nvJitLink") is None:
        pytest.skip(f"CUDA {toolkit.version} has no nvJitLink")
    return toolkit
