# SPDX-License-Identifier: MIT
"""ld.so's cache is read as ld.so reads it, and damage to it does no harm."""
import shutil
import subprocess

import pytest

import build
from fakes import fake
from world import ldconfig


@pytest.fixture
def cache(tmp_path):
    """A cache that ldconfig has made of one folder."""
    folder = tmp_path / "lib"
    folder.mkdir()
    for version in ("11.8", "12.9"):
        shutil.copy(fake("cudart", version), folder)
    config = tmp_path / "ld.so.conf"
    config.write_text(f"{folder}\n")
    subprocess.run([ldconfig(), "-X", "-f", config, "-C", tmp_path / "cache"], check=True)
    return tmp_path / "cache"


def reader(*flags):
    return build.compile("ldcache", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra",
                         "-Werror", *flags, build.TESTS / "ldcache" / "ldcache.c",
                         *build.room("stubs/base"), "-ldl")


def find(cache, soname):
    return subprocess.run([reader(), "find", cache, soname], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


def test_it_gives_the_file_of_a_soname(cache):
    found = find(cache, "libcudart.so.12")
    assert found and all(file == str(cache.parent / "lib/libcudart.so.12") for file in found)


def test_another_soname_is_not_taken_for_it(cache):
    assert find(cache, "libcudart.so.1") == []
    assert find(cache, "libcudart.so.13") == []


def test_what_stands_before_the_cache_is_passed_over(cache):
    # glibc before 2.32 wrote an older format in front.
    old = cache.parent / "old"
    old.write_bytes(b"ld.so-1.7.0".ljust(48, b"\0") + cache.read_bytes())
    assert find(old, "libcudart.so.12") == find(cache, "libcudart.so.12")


@pytest.mark.parametrize("content", [b"", b"glibc-ld.so.cache1.1", b"text" * 100])
def test_what_is_no_cache_gives_nothing(tmp_path, content):
    file = tmp_path / "cache"
    file.write_bytes(content)
    assert find(file, "libcudart.so.12") == []


def test_damaged_caches_are_read_safely(cache):
    subprocess.run([reader(*build.sanitizing(), "-O1"), "damage", cache, "libcudart.so.12",
                    "30000"], check=True)
