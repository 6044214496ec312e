# SPDX-License-Identifier: MIT
"""judge.c tells pass, fail and skip apart, and claims no comparison that was not made."""
import subprocess
import sys
import time

import pytest

import build

END = "echo end"


def judged(direct, *through, file="", seconds=20, check=True):
    """The lines for programs of sh: (name, same or other, command)."""
    program = build.program(build.TESTS / "gpu" / "judge.c")
    done = subprocess.run([program, str(seconds), file, direct, *[w for t in through for w in t]],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def one(direct, through, same="same", **options):
    line, = judged(direct, ("it", same, through), **options)
    return line


def say(*lines, end=True):
    return "; ".join([f"echo '{line}'" for line in lines] + ([END] if end else []))


def test_equal_values_pass_and_are_counted():
    assert one(say("= a.x 1", "= a.y two words"), say("= a.y two words", "= a.x 1")) == \
        "pass it: 2 equal, 0 different, 0 in one major alone"


def test_a_difference_fails_with_both_values():
    assert one(say("= a.x 1", "= a.y 2"), say("= a.x 1", "= a.y 3")) == \
        "fail it: a.y: 3, directly 2; 1 equal, 1 different, 0 in one major alone"


def test_a_key_that_begins_another():
    assert one(say("= a.x1 1"), say("= a.x 1")).startswith("fail it: a.x1 is missing")


def test_each_caller_has_a_line_and_the_direct_call_is_made_once(tmp_path):
    said = judged(f"echo x >>'{tmp_path}/calls'; {say('= a.x 1')}",
                  ("one", "same", say("= a.x 1")), ("two", "other", say("= a.x 2")))
    assert [line.split(":")[0] for line in said] == ["pass one", "fail two"]
    assert (tmp_path / "calls").read_text() == "x\n"


@pytest.mark.parametrize("same, word", [("same", "fail"), ("other", "pass")])
def test_what_only_one_major_has(same, word):
    said = one(say("= a.x 1", "= a.y 1"), say("= a.x 1"), same)
    assert said.startswith(word) and ("1 in one major alone" in said) == (word == "pass")


@pytest.mark.parametrize("same, word", [("same", "fail"), ("other", "pass")])
def test_a_refusal_is_for_other_majors_alone(same, word):
    said = one(say("= a.x 1", "= b.x 1"), say("= a.x 1", "- b refused 801 no"), same)
    assert said.startswith(word) and "b" in said and "refused 801 no" in said


def test_an_error_that_only_the_stub_returns_fails():
    said = one(say("= a.x 1", "= b.x 1"), say("= a.x 1", "- b 700 broken"), "other")
    assert said.startswith("fail it: b: 700 broken, and directly it works")


def test_what_the_real_library_cannot_do_is_said_and_not_compared():
    parts = say("= a.x 1", "- b 801 no such thing")
    assert one(parts, parts) == ("pass it: 1 equal, 0 different, 0 in one major alone; b is not "
                                 "compared: the direct call says 801 no such thing")
    assert "b is not compared" in one(parts, say("= a.x 1", "= b.x 1"))


@pytest.mark.parametrize("direct, through", [
    (say("- a 801 no"), say("- a 801 no")), (say("= a.x 1"), say("- a refused 801 no"))])
def test_where_nothing_could_be_compared_it_is_a_skip(direct, through):
    assert one(direct, through, "other").startswith("skip it: 0 equal")


def test_programs_that_show_nothing_fail():
    assert one(END, END).startswith("fail it: 0 equal")
    assert one("-", END).startswith("fail it: 0 right")


@pytest.mark.parametrize("command, how", [
    ("kill -SEGV $$", "was ended by signal 11"), ("exit 3", "ended with status 3"),
    (":", "printed nothing"), (say("= a.x 1", end=False), "stopped before its end"),
    (f"{say('= a.x 1')}; kill -SEGV $$", "was ended by signal 11")])
def test_a_program_that_breaks_fails(command, how):
    good = say("= a.x 1")
    assert one(good, command).startswith(f"fail it: the call through the stub {how}")
    assert one(command, good).startswith(f"fail it: the direct call {how}")
    assert one("-", command).startswith(f"fail it: the call through the stub {how}")


def test_a_program_that_hangs_is_ended_with_what_it_has_started(tmp_path):
    began = time.monotonic()
    said = one(say("= a.x 1"), f"echo '= a.x 1'; (sleep 3; echo >'{tmp_path}/late') & sleep 100",
               seconds=1)
    assert said == "fail it: the call through the stub did not end in 1 s"
    assert time.monotonic() - began < 30
    time.sleep(3)
    assert not (tmp_path / "late").exists()


def test_a_program_that_says_no_more_and_does_not_end():
    assert one(say("= a.x 1"), f"{say('= a.x 1')}; exec >&-; sleep 100", seconds=1) == \
        "fail it: the call through the stub did not end in 1 s"


# Who is traced, is there for its parent until its tracer lets go of it.
HOLD = """
import ctypes, os, sys, time
os.setsid()
held = ctypes.CDLL(None).ptrace(ctypes.c_long(0x4206), ctypes.c_long(int(sys.argv[1])), None, None)
open(sys.argv[2], "w").write(str(held))
time.sleep(20)
"""


def test_a_program_that_stays_though_it_is_killed(tmp_path):
    hold = tmp_path / "hold.py"
    hold.write_text(HOLD)
    held = tmp_path / "held"
    began = time.monotonic()
    said = one(say("= a.x 1"), f"{sys.executable} '{hold}' $$ '{held}' >/dev/null 2>&1 & "
               f"echo '= a.x 1'; sleep 100", seconds=3)
    if not held.exists() or held.read_text() != "0":
        pytest.skip("no process may trace another here")
    assert said == \
        "fail it: the call through the stub did not end in 3 s, nor when it was killed"
    assert time.monotonic() - began < 18


def test_two_values_with_one_key_are_no_comparison():
    twice = say("= a.x 1", "= a.y 1", "= a.x 2")
    assert one(twice, twice) == "fail it: the direct call printed a.x twice"
    assert one(say("= a.x 1"), twice) == "fail it: the call through the stub printed a.x twice"
    assert one(say("- a.x 1 no", "- a.x 1 no", "= b 1"), say("= b 1")).startswith("pass")


def test_more_lines_than_are_compared():
    many = f"i=0; while [ $i -lt 20001 ]; do echo \"= a.$i 1\"; i=$((i + 1)); done; {END}"
    assert one(say("= a.1 1"), many) == \
        "fail it: the call through the stub printed more than 20000 lines"


def test_when_the_time_for_all_is_over_what_runs_is_ended_and_nothing_begun(monkeypatch):
    program = build.program(build.TESTS / "gpu" / "judge.c")
    monkeypatch.setenv("LAZYCUDA_GPU_UNTIL", build.output(program, "until", "3").strip())
    began = time.monotonic()
    assert judged(say("= a.x 1"), ("a", "same", say("= a.x 1")), ("b", "same", "sleep 60"),
                  ("c", "same", say("= a.x 1")), seconds=30) == [
        "pass a: 1 equal, 0 different, 0 in one major alone", *[
            f"skip {name}: the time for all claims is over (LAZYCUDA_GPU_SECONDS)"
            for name in "bc"]]
    assert time.monotonic() - began < 20
    assert one("-", say("= a.x right")).startswith("skip it: the time for all claims is over")


def test_a_skip_of_the_direct_call_is_one_of_all():
    assert judged("echo skip no device: 100", ("a", "same", "exit 1"), ("b", "other", "exit 1")) == \
        ["skip a: no device: 100", "skip b: no device: 100"]


def test_a_skip_of_the_stub_alone_fails():
    assert one(say("= a.x 1"), "echo skip no device").startswith(
        "fail it: only the call through the stub skips: no device")


def test_both_have_to_use_the_file():
    with_file = say("# /real.so", "= a.x 1")
    other = say("# /other.so", "= a.x 1")
    assert one(with_file, with_file, file="/real.so").startswith("pass")
    assert "the stub used another library: /other.so" in one(with_file, other, file="/real.so")
    assert "the direct call used another" in one(other, with_file, file="/real.so")
    assert "another library: none" in one(with_file, say("= a.x 1"), file="/real.so")


def test_what_a_program_finds_wrong_itself_fails():
    both = say("= a.x 3 of 4 wrong", "= a.y 1")
    assert one(both, both).startswith("fail it: directly: a.x 3 of 4 wrong; ")
    assert one("-", both).startswith("fail it: it: a.x 3 of 4 wrong; 1 right, 1 wrong")


def test_a_program_alone_with_its_figures():
    assert one("-", say("= a.x right", "- b no driver", "% ratio 1.1")) == \
        "pass it: 1 right, 0 wrong; not shown: b no driver; ratio 1.1"


def test_wrong_usage_is_status_2():
    assert judged("x", check=False) == [] and judged("x", ("a", "same"), check=False) == []
