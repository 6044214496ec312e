# SPDX-License-Identifier: MIT
"""Damaged libraries and lists, read by the two programs with sanitizers."""
import random
import subprocess

import pytest

import build
import own_stubs


def sanitized(name, *sources):
    return build.compile(name, "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
                         *build.sanitizing(), *sources)


@pytest.fixture(scope="module")
def scan():
    program = sanitized("scan", *build.SCANNER)

    def run(file, output):
        return subprocess.run([program, "--own", "--missing", "9", "--from", file, "-o", output],
                              capture_output=True, text=True, errors="replace", timeout=60)
    return run


@pytest.fixture(scope="module")
def gen():
    program = sanitized("gen", *build.room("gen", "gen/model"))

    def run(text, folder):
        (folder / "list.txt").write_text(text)
        (folder / "made").mkdir(exist_ok=True)
        return subprocess.run([program, "--stub", "-o", folder / "made", folder / "list.txt"],
                              capture_output=True, text=True, errors="replace", timeout=60)
    return run


def sound(done):
    assert done.returncode in (0, 2), done.stderr
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done.returncode == 0


def test_damaged_libraries(scan, tmp_path):
    real = own_stubs.library(tmp_path / "real", "libbaz.so.3", "".join(
        f"int baz{i}(void) {{ return {i}; }}\n" for i in range(20)) + "int bazData = 1;\n")
    whole, rng, good = real.read_bytes(), random.Random(1), 0
    for i in range(150):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 4, 40))):
            data[rng.randrange(min(len(data), 3000))] = rng.choice((0, 1, 0x7f, 0xff,
                                                                   rng.randrange(256)))
        (tmp_path / "damaged.so").write_bytes(data[:rng.choice((len(data), len(data) // 2))])
        good += sound(scan(tmp_path / "damaged.so", tmp_path / "list"))
    assert good < 150
    assert sound(scan(real, tmp_path / "list"))


def test_damaged_lists(gen, scan, tmp_path):
    real = own_stubs.library(tmp_path / "real", "libbaz.so.3", "int baz(void) { return 1; }\n",
                             script="BAZ_1 { global: *; };\n")
    assert sound(scan(real, tmp_path / "list"))
    whole, rng = (tmp_path / "list").read_text(), random.Random(2)
    assert sound(gen(whole, tmp_path))
    words = ["none", "own", "other", "nodes", "majors", "advice", "3.0-", "0", "(?)", "folder", ""]
    for i in range(100):
        lines = whole.splitlines()
        at = rng.randrange(5, len(lines))
        parts = lines[at].split(" ")
        parts[rng.randrange(len(parts))] = rng.choice(words)
        lines[at:at + 1] = rng.choice(([], [" ".join(parts)], [lines[at]] * 2))
        sound(gen("\n".join(lines) + "\n", tmp_path))
