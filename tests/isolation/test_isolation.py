# SPDX-License-Identifier: MIT
"""Links in a process of their own: what becomes of a linker that crashes, hangs or eats, and
that nothing of it is left in the caller."""
import collections
import pathlib
import re
import shutil
import signal

import pytest

import build
import handles
from handles import pair

HERE = pathlib.Path(__file__).resolve().parent
PTX = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel() {{ ret; }}\n//DO {}\n"
# What the fake does: what that is called.
ENDS = {"crash": "CRASHED", "abort": "CRASHED", "exit": "CRASHED",
        "kill": "CRASHED", "overflow": "CRASHED", "hang": "TIME_LIMIT", "stubborn": "TIME_LIMIT",
        "close and hang": "TIME_LIMIT", "eat": "MEMORY_LIMIT",
        "eat and crash": "MEMORY_LIMIT", "well": "OK"}
LEAVES_NOTHING = ["children: none", "files: 0"]
# From a second link on there is a server, which ends when this is closed.
LEAVES_A_SOCKET = ["children: none", "files: 1"]


def caller():
    library = build.STUBS / "liblazycuda_link.so"
    return build.program(HERE / "caller.c", library, f"-Wl,-rpath,{library.parent}")


@pytest.fixture
def run(world):
    """run(WORD..., does=["crash"]) runs caller.c on the fake: its lines, those of the results
    without the thread and those behind them."""
    world.loader(handles.fake("nvJitLink", "13.0", HERE / "fake_nvjitlink.c"))

    def run(*words, threads=1, rounds=1, does=("well",), **options):
        done = world.run(caller(), *words, threads, rounds,
                         *[PTX.format(one) for one in does], **options)
        assert done.err == ""
        results = [line.partition(": ")[2] for line in done.lines if re.match(r"\d+: ", line)]
        logs = [line.partition(": ")[2] for line in done.lines if re.match(r"\d+ log: ", line)]
        return results, logs, [line for line in done.lines if not line[0].isdigit()]
    return run


@pytest.mark.parametrize("what", ENDS)
def test_how_a_linker_ends_is_a_result(run, what):
    results, logs, rest = run("--time", 1500, "--memory", 64 << 20, does=[what])
    code, _, message = results[0].partition(": ")
    assert code == ENDS[what] and rest == LEAVES_NOTHING
    assert f"fake: {what}" in logs
    if code != "OK" and what not in ("kill", "overflow", "stubborn"):
        assert "nvJitLinkAddData of it" in message
    if what == "crash":
        assert f"signal {int(signal.SIGSEGV)}" in message


ODD = [(), ("--reap",), ("--ignore", "--open", "--block"), ("--closed", "--ignore", "--block")]


@pytest.mark.parametrize("odd", ODD, ids=lambda words: " ".join(words) or "plain")
def test_eight_threads_whose_linkers_end_in_each_way(run, odd):
    does = ["crash", "hang", "well", "exit", "abort", "well", "kill", "eat"]
    results, _, rest = run("--time", 3000, "--memory", 64 << 20, *odd, threads=8, rounds=3,
                           does=does)
    assert collections.Counter(line.partition(":")[0] for line in results) == collections.Counter(
        [ENDS[one] for one in does] * 3)
    assert rest == LEAVES_A_SOCKET


def test_a_thread_that_forks_all_the_time(run):
    """What it forks has the end of the pipe for ten minutes more, and no link waits for that:
    a program that takes two minutes is ended."""
    results, _, rest = run("--fork", threads=4, rounds=5)
    assert results == ["OK: "] * 20 and rest == LEAVES_A_SOCKET


def test_more_jobs_than_a_server_takes(run):
    results, _, rest = run("--cancel", -1, threads=75, does=["hang"] * 74 + ["well"])
    assert results.count("OK: ") == 1 and len(results) == 75 and rest[1] == "children: none"


def test_the_child_has_the_files_and_signals_of_nobody(run):
    said = [run(*odd, rounds=2, does=["files"])[1] for odd in ODD]
    # The job, its output twice, the report and the pipe.
    assert said[0] == ["fake: files", "files 5, pipe 1, blocked 0"] * 2
    assert all(one == said[0] for one in said)


def test_cancelled_from_another_thread(run):
    results, logs, rest = run("--cancel", 700, threads=8, does=["stubborn"])
    assert len(results) == 8 and all(line.startswith("CANCELLED") for line in results)
    reasons, said = logs[::2], logs[1::2]
    assert all("was cancelled" in line for line in reasons) and said == ["fake: stubborn"] * 8
    assert int(re.fullmatch(r"cancelled in (\d+) s", rest[0])[1]) < 20
    assert rest[1:] == LEAVES_A_SOCKET


def test_a_server_forks_for_the_second_link_and_later_ones(run):
    """For the first there is none.  The current folder is the job's."""
    results, logs, rest = run("--change", rounds=3, does=["tell"])
    assert results == ["OK: "] * 3 and rest == LEAVES_A_SOCKET
    files = logs[1].split()[5]
    assert logs[1::2] == [f"round 0 in {folder} with {files} files, by the {whom}" for folder, whom in
                          (("/usr", "caller"), ("/", "server"), ("/usr", "server"))]


def test_a_server_serves_whom_it_is_like(run):
    """What a process inherits is the caller's as it is now."""
    _, logs, _ = run("--change-all", rounds=7, does=["tell"])
    assert [line.partition(",")[0] for line in logs[1::2]] == [
        f"round {i} in {'/' if i & 1 else '/usr'} with {400 - i} files" for i in range(7)]


def test_a_program_that_closes_all_files(run):
    """The number of the server's socket is that of another file then."""
    results, _, rest = run("--reopen", rounds=4)
    assert results == ["OK: "] * 4 and rest[0] == "children: none" and len(rest) == 2


@pytest.mark.parametrize("more", [[], ["--orphans"]], ids=["alone", "orphans"])
def test_the_children_die_with_the_caller(world, more):
    """One of its own, a server, and that one's child.  Others on the machine may be linking, in other
    folders.  Half a second later, an orphan has their sockets."""
    world.loader(handles.fake("nvJitLink", "13.0", HERE / "fake_nvjitlink.c"))
    script = 'all() { for p in /proc/[0-9]*; do [ $p/cwd -ef . ] && ' \
             'tr "\\0" " " < $p/cmdline 2>/dev/null; done; }; many() { all | grep -o -e --link-work[e]r | wc -l; }; ' \
             '"$@" & for i in $(seq 100); do [ $(many) = 3 ] && break; sleep 0.1; done; sleep 0.5; kill -9 $!; wait $! 2>/dev/null; ' \
             'for i in 1 2 3 4 5 6 7 8 9 10; do [ $(many) = 0 ] && break; sleep 0.5; done; all'
    done = world.run("/bin/sh", "-c", script, "sh", caller(), *more, "2", "1", PTX.format("hang"),
                     check=False)
    assert "--link-worker" not in done.out


def test_a_command_that_is_not_there(world, run, tmp_path):
    """The library finds it from where it lies."""
    for file in build.STUBS.glob("*.so"):
        if file.is_file():
            shutil.copy(file, tmp_path)
    results, _, rest = run(LD_LIBRARY_PATH=f"{tmp_path}:{world.env['LD_LIBRARY_PATH']}",
                           LD_PRELOAD=str(tmp_path / "liblazycuda_link.so"))
    assert results[0].startswith("NO_CHILD: ") and rest == LEAVES_NOTHING
    assert "bin/lazycuda" in results[0] and "No such file" in results[0]


def test_files_may_not_grow(world, run):
    """A write beyond the limit would end the caller by SIGXFSZ."""
    run()
    done = world.run("/bin/sh", "-c", 'ulimit -f 0; "$@" | cat', "sh", caller(), 1, 1, PTX.format("well"))
    assert done.lines[0].startswith("0: NO_CHILD: ") and "File too large" in done.lines[0]


@pytest.mark.parametrize("script, said", [
    ("#!/bin/sh\nexit 3", "bin/lazycuda ended with status 3 before it took the job"),
    ("#!/bin/sh\nkill -9 $$", "bin/lazycuda was ended by signal 9 before it took the job"),
    ("#!/bin/sh\necho 'it: error: no library'; exit 127", "status 127 before it took the job: it: error: no library"),
    ("#!/bin/sh\nprintf '\\001' 1<>/proc/self/fd/3", "install both of one version"),
    ("#!/no/shell\n", "bin/lazycuda: No such file or directory: the file is there")])
def test_a_command_that_is_another(world, run, script, said):
    shutil.copytree(build.STUBS, world.root / "lib", symlinks=True)
    program = world.folder("bin") / "lazycuda"
    program.write_text(script)
    program.chmod(0o755)
    results, _, rest = run(LD_LIBRARY_PATH=f"{world.root}/lib:{world.env['LD_LIBRARY_PATH']}")
    assert results[0].startswith("NO_CHILD: ") and rest == LEAVES_NOTHING
    assert said in results[0]
    shutil.copy(build.TOOL, program)
    assert run(LD_LIBRARY_PATH=f"{world.root}/lib:{world.env['LD_LIBRARY_PATH']}")[0][0] == "OK: "


def test_a_relative_path_and_another_current_folder(world, run):
    """The command there is not ours."""
    shutil.copytree(build.STUBS, world.root / "lib", symlinks=True)
    shutil.copytree(build.BUILD / "bin", world.root / "bin")
    (world.folder("other/bin") / "lazycuda").symlink_to("/bin/false")
    world.folder("other/lib")
    results, _, _ = run("--chdir", "other", LD_LIBRARY_PATH=f"lib:{world.env['LD_LIBRARY_PATH']}")
    assert results == ["OK: "]


def test_children_in_a_pid_namespace_of_their_own(run):
    """The first of them has a parent without a number there.  After it there are none."""
    results, _, _ = run("--unshare", rounds=2)
    assert results[0] == "OK: " and results[1].startswith("NO_CHILD: ") and "--fork" in results[1]


def test_no_proc(world, run):
    run()
    done = world.run("/bin/sh", "-c", 'mount -t tmpfs none /proc || exit 77; exec "$@"', "sh", caller(), 1, 1,
                     PTX.format("well"))
    assert done.lines[0] == "0: OK: "


def test_called_by_somebody_else_the_worker_does_nothing(world):
    assert world.cli("--link-worker", check=False).status == 2
    assert "link-worker" not in world.cli("--help").out


# ---- the command ----

def test_the_command_isolates(world):
    world.loader(handles.fake("nvJitLink", "13.0", HERE / "fake_nvjitlink.c"))
    for what in ("crash", "well", "slow", "eat some"):
        (world.root / f"{what}.ptx").write_text(PTX.format(what))
    words = ("link", "--arch", "sm_80", "-o", "out", "--nvjitlink", "13.0")
    done = world.cli(*words, "--isolated", "crash.ptx", check=False)
    assert done.status == 1 and "lazycuda link: refused (CRASHED): " in done.err
    assert "fake: crash" in done.err and not (world.root / "out").exists()
    for limit, low, high, what in (("time", "0.3", "60", "slow"), ("memory", "64M", "1G", "eat some")):
        assert f"refused ({limit.upper()}_LIMIT): " in world.cli(
            *words, f"--{limit}-limit={low}", f"{what}.ptx", check=False).err
        assert world.cli(*words, f"--{limit}-limit", high, f"{what}.ptx").lines[0] == "decision    nvjitlink"
    # In the process itself it is the end of that.
    assert world.cli(*words, "crash.ptx", check=False).status in (-signal.SIGSEGV, 139)
    for wrong in ("--time-limit=0", "--time-limit=x", "--memory-limit=0", "--memory-limit=x"):
        assert world.cli(*words, wrong, "well.ptx", check=False).status == 2


def test_the_call_of_the_driver_in_which_it_ended(world):
    world.loader(handles.fake_driver())
    (world.root / "abort.ptx").write_text(PTX.format("abort"))
    done = world.cli("link", "--isolated", "--nvjitlink", "none", "--arch", "sm_80", "-o", "out",
                     "abort.ptx", check=False)
    assert done.status == 1 and "lazycuda link: refused (CRASHED): " in done.err
    assert "in cuLinkAddData_v2 of" in done.err and not done.out


# ---- the real ones ----

@pytest.mark.parametrize("version", ["12.9", "13.5"])
def test_what_comes_out_is_the_same(world, real, version):
    handles.install(world, real(version))
    (world.root / "k.cu").write_text("\n".join(handles.SOURCES.values()))
    for name, files in (("ptx", pair(version, "ptx")), ("ltoir", pair(version, "ltoir")),
                        ("source", ["k.cu"])):
        for more in ((), ("--isolated", "--memory-limit", "1G")):
            world.cli("link", *more, "--arch", "sm_80", "-o", f"{name}{len(more)}", *files,
                      *["--lto"][:name == "ltoir"])
        assert (world.root / f"{name}0").read_bytes() == (world.root / f"{name}3").read_bytes()


def test_refusals_of_real_ones_are_the_same(world, real):
    handles.install(world, real("13.5"))
    (world.root / "bad.cu").write_text("nonsense\n")
    (world.root / "bad.ptx").write_text(PTX.format("nothing").replace("ret", "frobnicate"))
    for file in ("bad.cu", "bad.ptx", pair("13.5", "ptx")[0]):
        one, other = (world.cli("link", "--json", *more, "--arch", "sm_80", "-o", "out", file,
                                check=False) for more in ((), ("--isolated",)))
        assert one.status == other.status == 1 and one.out == other.out


def test_damaged_code_that_ends_the_real_linker(world, real):
    """LTO-IR of which a byte is another: nvJitLink crashes or calls exit(); here that is a
    result, and whatever it is, it comes in time."""
    handles.install(world, real("12.9"))
    data = pair("12.9", "ltoir")[1].read_bytes()
    codes = collections.Counter()
    for at in range(64, len(data), len(data) // 24):
        (world.root / "bad.ltoir").write_bytes(
            data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:])
        done = world.cli("link", "--isolated", "--time-limit", "20", "--lto", "--arch", "sm_80",
                         "-o", "out", "bad.ltoir", check=False)
        assert done.status in (0, 1), done.err
        codes[re.search(r"refused \((\w+)\)|$", done.err)[1]] += 1
    assert codes["CRASHED"] > 0
