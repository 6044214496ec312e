# SPDX-License-Identifier: MIT
"""Fetched wheels are there whole or not at all, and it can be seen how far they are."""
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import pytest

import build
import fetch
from index_server import library_wheel

PACKAGES = ("made-up-one", "made-up-two")


class Fetching:
    def __init__(self, folder, index, settings):
        self.index = index
        self.settings = {**settings, "PIP_INDEX_URL": index.url, "PIP_CONFIG_FILE": os.devnull}
        self.table = folder / "table.txt"
        self.table.write_text("".join(f"1.0 {package} {package} 1.0 x86_64\n"
                                      for package in PACKAGES))
        self.wheels = [library_wheel(index.folder, package, "1.0", 3_000_000)
                       for package in PACKAGES]
        self.dest = folder / "toolkits"
        self.root = self.dest / "1.0" / "x86_64"

    def start(self):
        return subprocess.Popen(
            [sys.executable, build.ROOT / "tools" / "upkeep" / "fetch.py", "--arch", "x86_64", "--table",
             self.table, self.dest, "1.0"],
            env=self.settings, stdin=subprocess.DEVNULL, start_new_session=True,
            stderr=subprocess.PIPE, text=True)

    def run(self):
        """(exit status, lines)"""
        started = self.start()
        _, err = started.communicate(timeout=240)
        return started.returncode, err.splitlines()

    def library(self, package):
        return self.root / "nvidia" / package / "lib" / f"lib{package}.so.1"

    def is_whole(self):
        return fetch.is_there(self.dest, "1.0", arch="x86_64", table=self.table) and all(
            self.library(package).stat().st_size == 3_000_000 for package in PACKAGES)

    def fetched(self):
        """Wheels that were asked for since the last time."""
        asked = [path for path in self.index.asked if path.startswith("/files/")
                 and path.endswith(".whl")]
        self.index.asked.clear()
        return len(asked)

    def wait_for_a_wheel(self):
        """Until half of one has come."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            parts = list(self.root.glob(".fetch-*/**/*.whl"))
            if len(parts) == len(PACKAGES):
                return
            time.sleep(0.05)
        raise AssertionError("no wheel came")


@pytest.fixture
def fetching(tmp_path, index, settings):
    return Fetching(tmp_path, index, settings)


def test_a_log_has_a_line_a_wheel(fetching):
    status, lines = fetching.run()
    assert status == 0 and len(lines) == len(PACKAGES)
    for package, line in zip(PACKAGES, sorted(lines)):
        assert line.startswith(f"fetch: {package}==1.0 (x86_64): ") and "\r" not in line
    assert fetching.is_whole() and fetching.fetched() == 2
    assert sorted(path.name for path in fetching.root.iterdir()) == [".fetched", "nvidia"]
    assert fetching.run() == (0, []) and fetching.fetched() == 0


def test_a_half_fetched_toolkit_is_fetched_again(fetching):
    fetching.run()
    fetching.fetched()
    os.truncate(fetching.library(PACKAGES[0]), 1_000_000)
    assert not fetch.is_there(fetching.dest, "1.0", arch="x86_64", table=fetching.table)
    status, lines = fetching.run()
    assert status == 0 and len(lines) == 1 and PACKAGES[0] in lines[0]
    assert fetching.is_whole() and fetching.fetched() == 1


def test_killed(fetching):
    fetching.index.stall.clear()
    started = fetching.start()
    fetching.wait_for_a_wheel()
    os.killpg(started.pid, signal.SIGKILL)
    started.communicate(timeout=60)
    fetching.index.stall.set()
    assert not fetching.is_whole()
    assert fetching.run()[0] == 0 and fetching.is_whole()
    assert sorted(path.name for path in fetching.root.iterdir()) == [".fetched", "nvidia"]


def test_two_at_a_time(fetching):
    both = [fetching.start(), fetching.start()]
    lines = [line for one in both for line in one.communicate(timeout=240)[1].splitlines()]
    assert [one.returncode for one in both] == [0, 0] and len(lines) == 2
    assert fetching.is_whole() and fetching.fetched() == 2


def test_a_damaged_wheel(fetching):
    wheel = fetching.wheels[0]
    data = bytearray(wheel.read_bytes())
    data[1000] ^= 1                 # within the library, which is not compressed
    wheel.write_bytes(data)
    status, lines = fetching.run()
    assert status == 1 and any(PACKAGES[0] in line and "CRC" in line for line in lines)
    assert not fetching.library(PACKAGES[0]).exists() and fetching.library(PACKAGES[1]).exists()


def test_what_is_kept_of_nvcc_can_be_run(fetching):
    """The tools, of three wheels each its own, and what may be executed stays so."""
    modes = {"bin/ptxas": 0o744, "bin/nvcc": 0o755, "bin/nvcc.profile": 0o644,
             "nvvm/bin/cicc": 0o755, "nvvm/libdevice/code.bc": 0o644, "lib/libnvvm.so.4": 0o755}
    parts = {"nvcc": {"bin/ptxas", "bin/nvcc", "bin/nvcc.profile"}, "ptxas": {"bin/ptxas"},
             "cicc": {"nvvm/bin/cicc", "nvvm/libdevice/code.bc"}}
    for wheel in fetching.wheels:
        with zipfile.ZipFile(wheel, "a") as opened:
            for name, mode in modes.items():
                member = zipfile.ZipInfo(f"nvidia/tools/{name}")
                member.external_attr = (0o100000 | mode) << 16
                opened.writestr(member, name)
    for part, kept in parts.items():
        shutil.rmtree(fetching.dest, ignore_errors=True)
        fetching.table.write_text(f"1.0 {part} {PACKAGES[0]} 1.0 x86_64\n")
        assert fetching.run()[0] == 0
        files = {str(path.relative_to(fetching.root / "nvidia" / "tools")): path
                 for path in (fetching.root / "nvidia").rglob("*") if path.is_file()}
        assert set(files) == kept
        for name, path in files.items():
            assert os.access(path, os.X_OK) == bool(modes[name] & 0o100), name


def test_no_network(fetching, refused):
    fetching.settings.update(PIP_INDEX_URL=refused, PIP_RETRIES="1")
    status, lines = fetching.run()
    assert status == 1 and len(lines) == 1
    assert f"2 wheels ({PACKAGES[0]}==1.0" in lines[0] and "cannot be reached: " in lines[0]
    assert "127.0.0.1" in lines[0]
