# SPDX-License-Identifier: MIT
"""The plan is a function of its arguments: of no machine and no file."""
import subprocess
import sys

import pytest

import build
from asked import environment, starving

HERE = build.TESTS / "plan"
HAVE = "driver=12.9 nvjitlink=12.9 nvrtc=12.9 arch=sm_80".split()
NRT = "support=nrt:on:f:+needs=1;ptx 8.0 sm_80"
QUESTIONS = {
    "nvjitlink": [*HAVE, "lto", "option=-lineinfo", "compile=-DX", "in=k.cu:source", NRT,
                  "support=x:on:g:ltoir 12.0 sm_80",
                  "in=a:+main;{ptx 8.0 sm_80 ext=f/lto 12.0 sm_52 obfuscated/lto 12.5 sm_80}",
                  "in=b\n:cubin 12.0 sm_80 def=h member=m.o"],
    "driver": [*HAVE, "nvjitlink=none", "option=-ftz=1", "in=k.cu:source",
               "in=a:+main;{ptx 8.0 sm_80/ptx 9.0 sm_80/lto 12.0 sm_52}"],
    "refused": [*HAVE, "in=k:ptx 8.0 sm_80 def=f", "in=b:{ptx 9.0 sm_80/cubin 13.0 sm_80}"],
    "duplicate": [*HAVE, "in=k:ptx 8.0 sm_80 def=f", "in=b:ptx 8.0 sm_80 def=f"],
    "others": [*HAVE, "nvjitlinks=13.0,12.4", "nvrtcs=13.0", "lto", "in=k.cu:source",
               "in=a:lto 13.0 sm_80"],
    "cross-major": [*HAVE, "nvjitlink=13.0", "lto", "in=k:ptx 8.0 sm_80"],
}


@pytest.fixture(scope="module")
def starved():
    """Where a library is in which every string is an allocation."""
    folder = build.BUILD / "tests" / "starved"
    # make names its targets as the Makefile does, from the top of the tree
    build.make(build.made_at(folder), "CFLAGS=-O1 -g -DCHUNK_BYTES=16",
               folder.relative_to(build.ROOT) / "lib" / "liblazycuda_link.so")
    return folder / "lib"


def run(way, question, folder):
    library = build.STUBS / "liblazycuda_link.so"
    preloaded = build.shared(HERE / "pure.c", library) if way == "sealed" else starving()
    done = subprocess.run(
        [sys.executable, HERE / "scene.py", way, *QUESTIONS[question]], capture_output=True, text=True,
        env=environment(LAZYCUDA_LINK_LIBRARY=str(folder / library.name), LD_PRELOAD=str(preloaded),
                        LD_LIBRARY_PATH=f"{folder}:{build.STUBS}"))
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("question", QUESTIONS)
def test_planning_asks_nothing_of_the_system(question):
    run("sealed", question, build.STUBS)


@pytest.mark.parametrize("question", QUESTIONS)
def test_without_memory_there_is_no_plan_and_no_crash(starved, question):
    assert int(run("starved", question, starved)) >= 5
