# SPDX-License-Identifier: MIT
"""ld.so's cache is read as ld.so reads it.  That damage to it does no harm is shown by tests/fuzz."""
import ctypes
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


def find(cache, soname):
    library = ctypes.CDLL(build.compile(
        "libreader.so", "-std=gnu11", "-D_GNU_SOURCE", "-shared", "-fPIC", *build.room("stubs/base"), "-ldl"))
    arena, files, data = ctypes.create_string_buffer(256), ctypes.POINTER(ctypes.c_char_p)(), cache.read_bytes()
    library.lc_ldcache_parse.restype = ctypes.c_size_t
    count = library.lc_ldcache_parse(arena, data, ctypes.c_size_t(len(data)), (ctypes.c_char_p * 1)(
        soname.encode()), ctypes.c_size_t(1), ctypes.byref(files))
    found = [one.decode() for one in files[:count]]
    library.lc_arena_free(arena)
    return found


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
