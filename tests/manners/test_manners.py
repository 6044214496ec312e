# SPDX-License-Identifier: MIT
"""How the command answers wrong words, and what a terminal gets of it."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import build
import distribution
import importer
import terminal
import usage
from fakes import fake


def run(*words, **env):
    return build.run(build.TOOL, *words, env={**os.environ, **env})


@pytest.mark.parametrize("command", [None, *usage.commands()])
def test_help_of_a_command(command):
    words = [command] if command else []
    assert run("help", *words).stdout == run(*words, "--help").stdout != ""
    if command != "retarget":   # argparse has its own way to say it
        assert run(*words, "-h").stdout == run(*words, "--help").stdout


def test_no_command_is_wrong_and_has_the_help():
    assert (run().returncode, run().stderr) == (2, run("--help").stdout)


def test_the_version():
    assert run("-V").stdout == run("--version").stdout == run("version").stdout == f"lazycuda {distribution.version()}\n"


@pytest.mark.parametrize("word, library", [
    ("CUDART", "cudart"), ("libcudart.so.12", "cudart"), ("libnvidia-ml.so.1", "nvml"), ("cuBLAS", "cublas"),
    ("libcublas_stub.so", "cublas")])
def test_a_library_in_other_words(word, library):
    assert [one["name"] for one in json.loads(run("status", "--json", word).stdout)["libraries"]] == [library]


def test_a_status_gives_a_reason_once():
    said = run("status", "cudart", LAZYCUDA_CUDART="/nowhere").stdout
    assert said.count("LAZYCUDA_CUDART names a file that does not exist") == 1


def test_make_says_what_it_makes_and_what_a_switch_is():
    def make(*words):
        return build.run("make", "-C", build.ROOT, "--no-print-directory", *words)

    assert "make all-stubs" in make("help").stdout
    for switch in ("ALL_STUBS", "RUNPATH"):
        assert f"{switch}=ja: it is yes or no" in make("-n", f"{switch}=ja").stderr


# (words, what is said, whose usage follows)
WRONG = (
    ("stauts", "lazycuda: unknown command stauts; did you mean status?", None),
    ("help blan", "lazycuda: unknown command blan; did you mean plan?", None),
    ("frobnicate", "lazycuda: unknown command frobnicate", None),
    ("versoin", "lazycuda: unknown command versoin; did you mean version?", None),
    ("--version extra", "lazycuda: unexpected word extra", None),
    ("help audit extra", "lazycuda: unexpected word extra", None),
    ("audit --require 14 x", "lazycuda audit: --require 14: give majors or versions of CUDA that lazycuda knows, such "
     "as 11,12.4,13", "audit"),
    ("inspect --unpack-limit much x", "lazycuda inspect: --unpack-limit much: give a size, such as 4G", "inspect"),
    ("--verison", "lazycuda: unknown option --verison; did you mean --version?", None),
    ("plan --arhc sm_90 x", "lazycuda plan: unknown option --arhc; did you mean --arch?", "plan"),
    ("plan --arch sm_80", "lazycuda plan: no file is given", "plan"),
    ("plan --ptx", "lazycuda plan: no file is given", "plan"),
    ("link -o x --polcy=off y", "lazycuda link: unknown option --polcy=off; did you mean --policy?", "link"),
    ("audit --requir 12 x", "lazycuda audit: unknown option --requir; did you mean --require?", "audit"),
    ("audit", "lazycuda audit: no file is given", "audit"),
    ("audit EMPTY", "lazycuda audit: an argument is empty", "audit"),
    ("retarget -o out --stubs= x", "lazycuda retarget: --stubs is empty", "retarget"),
    ("inspect -x", "lazycuda inspect: unknown option -x", "inspect"),
    ("status cudrat", "lazycuda status: unknown library cudrat; did you mean cudart?",
     "status"),
    ("status .", "lazycuda status: a path has a slash: ./.", "status"),
    ("stub", "lazycuda stub: no library is given", "stub"),
    ("stub libx.so", "lazycuda stub: it takes no word by itself; use --from libx.so", "stub"),
    ("embed --cuda -o x.c cudart", "lazycuda embed: a value is missing after --cuda", "embed"),
    ("toolkit", "lazycuda toolkit: no folder is given", "toolkit"),
    ("toolkit --cuda 12.4 x", "lazycuda toolkit: --cuda 12.4: it is not a major of CUDA", "toolkit"),
    ("retarget --stirct", "lazycuda retarget: unknown option --stirct; did you mean --strict?",
     "retarget"),
    ("retarget -o", "lazycuda retarget: a value is missing after --output", "retarget"),
    ("retarget -o out", "lazycuda retarget: no file is given", "retarget"),
    ("retarget --output= x", "lazycuda retarget: --output is empty", "retarget"),
    ("stub --from x", "lazycuda stub: no folder is given: use -o DIR", "stub"))


@pytest.mark.parametrize("words, said, command", WRONG, ids=[words for words, *_ in WRONG])
def test_a_wrong_word_is_answered_in_three_lines(words, said, command):
    done = run(*(word.replace("EMPTY", "") for word in words.split()))
    name = f"lazycuda {command}" if command else "lazycuda"
    first, second, third = done.stderr.splitlines()
    assert (done.returncode, done.stdout, first) == (2, "", said)
    assert second.startswith(f"usage: {name} ") and third == f"`{name} --help` says more."


@pytest.mark.parametrize("command", ["audit", "inspect", "plan", "link --arch sm_90 -o out", "retarget -o out"])
def test_a_file_that_cannot_be_read_is_not_judged(command, tmp_path):
    (loop := tmp_path / "loop").symlink_to(loop)
    for path, why in (("/nowhere", "does not exist"), (tmp_path, "is a directory"),
                      (loop, "cannot be opened: Too many levels of symbolic links")):
        if path == tmp_path and command == "audit":     # which looks into it
            continue
        done = run(*command.split(), path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"lazycuda {command.split()[0]}: {path} {why}\n"


def test_json_does_not_keep_what_is_wrong_to_itself():
    for command in ("audit", "inspect"):
        assert run(command, "--json", "/nowhere").stderr == f"lazycuda {command}: /nowhere does not exist\n"


@pytest.mark.parametrize("words", [["--version"], *(["help", one] for one in usage.commands()),
                                   ["status"], ["audit", build.TOOL], ["retarget", "-o", "out", build.TOOL]])
def test_what_cannot_be_written_was_not_answered(words, tmp_path):
    in_python = {"retarget", "toolkit"} & {*words}
    name = "lazycuda" if words[0] == "--version" else f"lazycuda {(*in_python, words[0])[0]}"
    for where, why in (("/dev/full", "No space left on device"), ("&-", "Bad file descriptor")):
        done = subprocess.run(["sh", "-c", f'exec "$@" >{where}', "-", build.TOOL, *words], cwd=tmp_path,
                              stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (2, f"{name}: standard output: {why}\n")


PROGRAMS = {"C": [build.TOOL], "Python": [sys.executable, "-B", build.PYTHON / "lazycuda"]}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("command", ["audit", "inspect", "plan", "link --arch sm_90 -o out", "retarget -o out"])
def test_a_stream_that_is_closed_changes_no_answer(command, program, tmp_path):
    for closed in ("<&-", "2>&-", "2>/dev/full", "<&- >&- 2>&-"):
        done = build.run("sh", "-c", f'exec "$@" {closed}', "-", *PROGRAMS[program], *command.split(),
                         "/nowhere", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert ("/nowhere does not exist" in done.stderr) == (closed == "<&-")


def test_an_interrupt_while_modules_are_loaded_says_nothing(tmp_path):
    for delay in range(0, 300, 20):
        process = subprocess.Popen(
            [build.TOOL, "retarget", "-o", tmp_path / "out", "/nowhere"], stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        assert process.returncode == -signal.SIGINT and not said or b"/nowhere does not exist" in said


FAILS = """\
import sys
sys.path.insert(0, {code!r})
from lazycuda import plain_file, retarget
def fail(*_):
    raise {error}
plain_file.retarget = fail
sys.exit(retarget.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("error, said", [
    ("MemoryError", "memory ran out"),
    ("RecursionError('deep')", "RecursionError: deep (<string>:5): a mistake of lazycuda please report it")])
def test_what_nobody_foresaw_is_one_sentence(tmp_path, error, said):
    done = build.run(sys.executable, "-B", "-c", FAILS.format(code=str(build.PYTHON), error=error), "-o",
                     tmp_path / "out", build.TOOL)
    assert (done.returncode, done.stdout) == (2, "")
    assert " ".join(done.stderr.split()) == f"lazycuda retarget: refused (UNREADABLE): {build.TOOL}: {said}"


def test_a_name_that_the_terminal_cannot_show(tmp_path):
    file = importer.importer(tmp_path, name="\u0416.so", link=[])
    done = build.run(*PROGRAMS["Python"], "retarget", "-o", tmp_path / "out", file,
                     env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"})
    assert (done.returncode, done.stderr) == (0, "") and "/?.so: needs none" in done.stdout


@pytest.mark.parametrize("command", usage.commands())
def test_a_reader_that_has_enough_is_no_error(command):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([build.TOOL, command, "--help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_a_line_of_the_trace_says_once_whose_it_is(world):
    world.loader(fake("cudart", "12.9"))
    said = world.cli("status", "cudart", LAZYCUDA_DEBUG="1").err
    assert "lazycuda: cudart: found /" in said and "cudart: cudart:" not in said


# ---- a terminal ----

def on_a_terminal(*words, **env):
    """What a terminal gets."""
    main, other = terminal.pair()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    done = subprocess.Popen([build.TOOL, *words], stdin=subprocess.DEVNULL, stdout=other,
                            stderr=subprocess.DEVNULL, env={**clean, "TERM": "xterm", **env})
    os.close(other)
    said = b""
    try:
        while part := os.read(main, 4096):
            said += part
    except OSError:     # as Linux ends it
        pass
    done.wait()
    os.close(main)
    return said.decode()


PLAN = ("plan", "--arch", "sm_80", "--driver", "12.4", "--nvjitlink", "12.4", "--nvrtc", "none")


@pytest.fixture
def ptx(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")
    return path


def test_a_verdict_has_a_colour_on_a_terminal(ptx):
    assert "\33[32mnvjitlink\33[0m" in on_a_terminal(*PLAN, ptx)
    assert "\33[31mARCH_MISMATCH\33[0m" in on_a_terminal("plan", "--arch", "sm_75", *PLAN[3:], ptx)


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_and_none_where_none_is_wanted(ptx, env):
    assert "\33" not in on_a_terminal(*PLAN, ptx, **env)


def test_and_none_in_a_log(ptx):
    assert "\33" not in run(*PLAN, ptx, TERM="xterm").stdout
