# SPDX-License-Identifier: MIT
"""The sanitizer that the tests are run with, if any.

LAZYCUDA_SANITIZE=address or thread is set by tests/run.py (`make test-asan`,
`make test-tsan`).  The libraries, the tool and the generators of build/asan
(build/tsan) are tested then, and what the tests compile has the same flags.
With the address sanitizer goes that of undefined behaviour: one run finds both.

Whatever process finds something writes it into a folder, and the test during
which that happens fails (conftest.py): so a finding counts whatever becomes of
the exit status and of standard error.
"""
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUPPRESSIONS = ROOT / "tests" / "sanitize"

# What starts other programs, and loads no library of ours.
STARTERS = ("env", "sh", "strace")
COMMON = ("-g", "-O1", "-fno-omit-frame-pointer")


TRACER = re.compile(r"(Tracer caught signal .*\n"
                    r"==\d+==LeakSanitizer has encountered a fatal error\.\n"
                    r"(==\d+==HINT: .*\n)*)+")


class Sanitizer:
    def __init__(self, name, folder, variable, runtime, options, flags, **more):
        self.name = name
        self.folder = ROOT / "build" / folder
        self.flags = [f"-fsanitize={name}", "-fno-sanitize-recover=all", *flags]
        self.variable = variable    # the runtime's options
        self.runtime = runtime      # what has to be loaded before everything else
        self.options = options
        self.more = more            # of the environment

    @property
    def reports(self):
        """Where findings are written, of each test process for itself."""
        return self.folder / "findings" / os.environ.get("PYTEST_XDIST_WORKER", "main")

    def environment(self, program, given):
        """What `program` needs beside what it was given."""
        whole = sanitized(program, self.runtime)
        options = self.all_options()
        if self.runtime == "libasan.so" and not whole:
            # Shells and Python leave memory behind, and that is their affair.
            options += ":detect_leaks=0"
        options += f":{given.get(self.variable, '')}"
        made = {self.variable: options, **self.more}
        before = given.get("LD_PRELOAD")
        starter = pathlib.Path(program).name in STARTERS
        if before or not whole and not starter:
            made["LD_PRELOAD"] = ":".join([runtime_file(self.runtime),
                                           *([str(before)] if before else [])])
        return made

    def all_options(self):
        # A finding ends the process, with a status that nothing else has.
        return f"exitcode=99:log_path={self.reports}/report:{self.options}"

    def make_arguments(self):
        """How make builds with it."""
        flags = " ".join(self.flags)
        return [f"BUILD={self.folder.relative_to(ROOT)}", f"CFLAGS={' '.join(COMMON)} {flags}",
                f"HOSTCFLAGS={' '.join(COMMON)} {flags}", f"LDFLAGS={flags}"]

    def why_not(self):
        """What keeps the tests from running with it, or None."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "works"
            for command in ([*compiler(), *self.flags, ROOT / "tests" / "sanitize" / "works.c",
                             "-o", program], [program]):
                done = subprocess.run(command, capture_output=True, text=True, errors="replace")
                if done.returncode:
                    return (done.stderr.strip().splitlines() or ["its programs do not run"])[-1]
        return None

    def prepare(self):
        """Before the first test; processes started without World are to report too."""
        shutil.rmtree(self.reports, ignore_errors=True)
        self.reports.mkdir(parents=True)
        os.environ.update({self.variable: self.all_options(), **self.more})

    def take_findings(self):
        """What was found since the last time."""
        text = ""
        for report in sorted(self.reports.glob("*")):
            text += report.read_text(errors="replace")
            report.unlink()
        return text

    @staticmethod
    def broke_down(text):
        """Whether reports say no more than that the thread that looks for leaks has crashed, as
        it does over memory that some real libraries leave: nvJitLink 12.0, libnvvm 13.5."""
        return bool(TRACER.fullmatch(text))


def compiler():
    return shlex.split(os.environ.get("CC", "cc"))


@functools.lru_cache(maxsize=None)
def _contains(path, word, _modified):
    return word in pathlib.Path(path).read_bytes()


def sanitized(program, runtime):
    """Whether a program was itself compiled so: it loads the runtime first."""
    path = shutil.which(str(program))
    return bool(path) and _contains(path, runtime.encode(), os.stat(path).st_mtime_ns)


@functools.lru_cache(maxsize=None)
def runtime_file(runtime):
    """The runtime that the compiler links."""
    said = subprocess.run([*compiler(), f"-print-file-name={runtime}"], capture_output=True,
                          text=True, check=True).stdout.strip()
    return os.path.realpath(said)


SANITIZERS = [
    # What lives as long as the process stays reachable, so that every leak counts.  Each
    # stub has a variable lazycuda_stub_1, of the same size.
    # Undefined behaviour ends in an illegal instruction, which the address sanitizer
    # reports: gcc's libubsan writes no report into a file when libasan is there.
    Sanitizer("address", "asan", "ASAN_OPTIONS", "libasan.so",
              "detect_stack_use_after_return=1:allocator_may_return_null=1"
              ":detect_odr_violation=1:handle_sigill=1",
              ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"],
              LSAN_OPTIONS=f"print_suppressions=0:suppressions={SUPPRESSIONS}/leak.supp"),
    # ld.so and the real libraries are not compiled so, and are not looked at; a
    # child of fork() has lost the other threads.
    Sanitizer("thread", "tsan", "TSAN_OPTIONS", "libtsan.so",
              "halt_on_error=1:ignore_noninstrumented_modules=1:report_thread_leaks=0"
              f":allocator_may_return_null=1:suppressions={SUPPRESSIONS}/thread.supp", []),
]


def current():
    """The one of this run, or None."""
    name = os.environ.get("LAZYCUDA_SANITIZE")
    return next(one for one in SANITIZERS if one.name == name) if name else None
