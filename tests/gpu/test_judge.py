# SPDX-License-Identifier: MIT
"""judge.c tells pass, fail and skip apart, and claims no comparison that was not made."""
import subprocess
import time

import pytest

import build


def judged(direct, *through, file="", seconds=20):
    """The lines for programs of sh: (name, same or other, command)."""
    program = build.program(build.TESTS / "gpu" / "judge.c")
    done = subprocess.run([program, str(seconds), file, direct, *[w for t in through for w in t]],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def say(*lines, end="; echo end"):
    return "; ".join(f"echo '{line}'" for line in lines) + end


GOOD = say("= a.x 1")
USES = say("# /real.so", "= a.x 1")


@pytest.mark.parametrize("direct, through, same, said", [
    (say("= a.x 1", "= a.y two words"), say("= a.y two words", "= a.x 1"), "same",
     "pass it: 2 equal, 0 different, 0 in one major alone"),
    (say("= a.x 1", "= a.y 2"), say("= a.x 1", "= a.y 3"), "same",
     "fail it: a.y: 3, directly 2; 1 equal, 1 different, 0 in one major alone"),
    # what only one major has, or the stub refuses between majors
    (say("= a.x 1", "= a.x1 1"), GOOD, "same", "fail it: a.x1 is missing"),
    (say("= a.x 1", "= a.y 1"), GOOD, "other", "pass it: 1 equal, 0 different, 1 in one major"),
    (say("= a.x 1", "= b.x 1"), say("= a.x 1", "- b refused 801 no"), "same", "fail it: b: refused"),
    (say("= a.x 1", "= b.x 1"), say("= a.x 1", "- b refused 801 no"), "other",
     "pass it: 1 equal, 0 different, 0 in one major alone; b is not compared: refused 801 no"),
    (say("= a.x 1", "= b.x 1"), say("= a.x 1", "- b 700 broken"), "other",
     "fail it: b: 700 broken, and directly it works"),
    # what the real library cannot do
    (say("= a.x 1", "- b 801 no"), say("= a.x 1", "= b.x 1"), "same",
     "pass it: 1 equal, 0 different, 0 in one major alone; b is not compared: the direct call says "),
    (say("- a 801 no"), say("- a 801 no"), "other", "skip it: 0 equal"),
    ("echo end", "echo end", "same", "fail it: 0 equal"),
    # what a program finds wrong itself, alone or not
    (say("= a.x 3 of 4 wrong"), say("= a.x 3 of 4 wrong"), "same", "fail it: directly: a.x 3 of 4 wrong"),
    ("-", say("= a.x 3 of 4 wrong", "= a.y 1"), "same", "fail it: it: a.x 3 of 4 wrong; 1 right, 1 wrong"),
    ("-", say("= a.x right", "- b no driver", "% ratio 1.1"), "same",
     "pass it: 1 right, 0 wrong; not shown: b no driver; ratio 1.1"),
    ("-", "echo end", "same", "fail it: 0 right"),
    # skips, and programs that break
    ("echo skip no device: 100", "exit 1", "other", "skip it: no device: 100"),
    (GOOD, "echo skip no device", "same", "fail it: only the call through the stub skips: no device"),
    (GOOD, "exit 3", "same", "fail it: the call through the stub ended with status 3"),
    (GOOD, f"{GOOD}; kill -SEGV $$", "same", "fail it: the call through the stub was ended by signal 11"),
    (say("= a.x 1", end=""), GOOD, "same", "fail it: the direct call stopped before its end"),
    ("-", ":", "same", "fail it: the call through the stub printed nothing"),
])
def test_what_is_said_of_two_programs(direct, through, same, said):
    line, = judged(direct, ("it", same, through))
    assert line.startswith(said)


def test_both_have_to_use_the_file():
    other = say("# /other.so", "= a.x 1")
    for direct, through, said in ((USES, USES, "pass it"), (USES, GOOD, "library: none"), (
            USES, other, "the stub used another library: /other.so"),
            (other, USES, "the direct call used another library")):
        assert said in judged(direct, ("it", "same", through), file="/real.so")[0]


def test_a_program_that_hangs_is_ended_with_what_it_has_started(tmp_path):
    hangs = f"echo '= a.x 1'; (sleep 3; echo >'{tmp_path}/late') & sleep 100"
    assert judged(GOOD, ("it", "same", hangs), seconds=1) == [
        "fail it: the call through the stub did not end in 1 s"]
    time.sleep(3)
    assert not (tmp_path / "late").exists()


def test_when_the_time_for_all_is_over_what_runs_is_ended_and_nothing_begun(monkeypatch):
    program = build.program(build.TESTS / "gpu" / "judge.c")
    monkeypatch.setenv("LAZYCUDA_GPU_UNTIL", build.output(program, "until", "3").strip())
    assert judged(GOOD, ("a", "same", GOOD), ("b", "same", "sleep 60"), ("c", "same", GOOD)) == [
        "pass a: 1 equal, 0 different, 0 in one major alone", *[
            f"skip {name}: the time for all claims is over (LAZYCUDA_GPU_SECONDS)"
            for name in "bc"]]
