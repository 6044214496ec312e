# SPDX-License-Identifier: MIT
"""Damaged and foreign files under a library's name: no crash, no hang, the next
one is taken, and the reason can be read."""
import pytest

import fakes
from fakes import fake


@pytest.mark.parametrize("damage", fakes.DAMAGES)
def test_alone_it_is_an_error_and_a_lower_major_beside_it_is_taken(world, damage):
    path = world.loader(folder="bad") / "libcudart.so.13"
    damage(path, fake("cudart", "13.5"))
    status = world.status(timeout=20)
    assert status["state"] == "broken"
    assert status["cause"] == 1
    assert str(path) in status["reason"]
    candidate, = [c for c in status["candidates"] if c["path"] == str(path)]
    assert candidate["reason"] and not candidate["taken"]
    world.loader(fake("cudart", "12.9"), folder="good")
    status = world.status(timeout=20)
    assert (status["state"], status["version"]) == ("usable", "12.9")
    assert [c["path"] for c in status["candidates"] if not c["taken"]] == [str(path)]


@pytest.mark.parametrize("damage", [
    # ld.so maps what the headers promise and dies with SIGBUS where it is cut.
    *[lambda whole, part=part: whole[:len(whole) * part // 20] for part in range(1, 20, 3)],
    *[lambda whole, at=at: whole[:at] + b"\xff\x7f" + whole[at + 2:] for at in (16, 32, 54, 56)]])
def test_cut_off_anywhere_or_with_nonsense_in_the_elf_header(world, damage):
    path = world.loader(folder="bad") / "libcudart.so.13"
    path.write_bytes(damage(fake("cudart", "13.5").read_bytes()))
    world.loader(fake("cudart", "12.9"), folder="good")
    assert world.status()["state"] == "usable"


def test_cut_off_behind_all_tables(world):
    # What says what it is can be read; what ld.so writes to is not there.
    whole = fake("cudart", "13.5", data=2**18).read_bytes()
    path = world.loader(folder="bad") / "libcudart.so.13"
    path.write_bytes(whole[:-2**17])
    assert world.status()["state"] == "broken"
    world.loader(fake("cudart", "12.9"), folder="good")
    assert world.status()["version"] == "12.9"


def test_a_library_with_another_node_is_not_cuda(world):
    # Some users link libcudart.so.12 as libcudart.so.13: facts/abi.md says why
    # that corrupts memory.
    folder = world.loader(folder="bad")
    (folder / "libcudart.so.13").symlink_to(fake("cudart", "12.9"))
    status = world.status()
    assert status["major"] != 13
    world.loader(fake("cudart", "12.8"), folder="good")
    assert world.status()["major"] == 12


def test_a_library_that_needs_what_is_not_there(world, patchelf):
    folder = world.loader(fake("cudart", "13.5"), folder="bad")
    patchelf("--add-needed", "libnot-there.so.1", folder / "libcudart.so.13")
    alone = world.status()
    assert alone["state"] == "broken"
    assert "libnot-there.so.1" in alone["reason"]
    world.loader(fake("cudart", "12.9"), folder="good")
    status = world.status()
    assert (status["state"], status["version"]) == ("usable", "12.9")
    assert "libnot-there.so.1" in str(status["candidates"])


def test_nvrtc_alt_is_never_taken(world):
    folder = world.loader(fake("nvrtc", "13.0"))
    (folder / "libnvrtc.so.13").rename(folder / "libnvrtc.alt.so.13")
    assert world.status("nvrtc")["state"] == "missing"
