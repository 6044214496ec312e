# SPDX-License-Identifier: MIT
"""Shell completion offers what the command's own --help says, so it cannot go stale."""
import os
import shutil
import subprocess

import pytest

import build
from projects import tool
from usage import LAZYCUDA, commands, long_options as options

COMPLETIONS = build.ROOT / "packaging" / "completions"


def bash(line):
    """What bash would offer at the end of a line."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        source "{COMPLETIONS}/lazycuda.bash"
        COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
        _lazycuda
        printf '%s\\n' "${{COMPREPLY[@]}}"
        """
    done = build.run(tool("bash"), "-c", script, env={"PATH": f"{LAZYCUDA.parent}:{os.environ['PATH']}"})
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return set(done.stdout.split())


def test_bash_offers_every_command():
    assert bash("lazycuda ") == set(commands())
    assert bash("lazycuda st") == {"status", "stub"}


def test_bash_offers_every_option_of_every_command():
    for command in commands():
        assert bash(f"lazycuda {command} --") == options(command), command
    assert bash("lazycuda audit --re") == {"--require"}
    assert bash("lazycuda --") == options("--help")


def test_bash_offers_libraries_and_leaves_files_to_bash():
    assert bash("lazycuda status ") == set(build.STUBBED)
    assert bash("lazycuda status nv") == {"nvrtc", "nvJitLink", "nvml"}
    assert bash("lazycuda audit ") == set()


def test_zsh():
    if not shutil.which("zsh"):
        pytest.skip("there is no zsh")
    done = build.run("zsh", "-n", COMPLETIONS / "lazycuda.zsh")
    assert (done.returncode, done.stderr) == (0, "")


def test_fish():
    if not shutil.which("fish"):
        pytest.skip("there is no fish")

    def offered(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source '{COMPLETIONS}/lazycuda.fish';"
                               f" complete -C '{line}'"], capture_output=True, text=True,
                              env={"PATH": f"{LAZYCUDA.parent}:{os.environ['PATH']}", "HOME": "/"})
        return {word.split("\t")[0] for word in done.stdout.splitlines()}

    assert set(commands()) <= offered("lazycuda ")
    for command in commands():
        assert options(command) <= offered(f"lazycuda {command} --")
