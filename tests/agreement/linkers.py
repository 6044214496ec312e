# SPDX-License-Identifier: MIT
"""What the real nvJitLink does, each link in a child process of its own.

    Job("12.4", ["-arch=sm_80"], [("ptx", path), ("ptx", path)])
    run(jobs)                   {job: "yes" | "no add 3" | "crash 11" | ...}, see linker.py

Answers are kept in build/tests/agreement/answers, under a digest of the library,
of linker.py and of every input, so that a second run links nothing.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

import build
import samples
import toolkits
from samples import HERE, STORE, in_its_folder

SECONDS = 15
INPUT_TYPES = {"cubin": 1, "ptx": 2, "ltoir": 3, "fatbin": 4, "object": 5, "archive": 6, "any": 10}
AT_A_TIME = 64


class Job(collections.namedtuple("Job", "version options inputs")):
    """`inputs` is [(kind, path)]."""

    def __new__(cls, version, options, inputs):
        return super().__new__(cls, version, tuple(options), tuple(inputs))

    def line(self, image="-"):
        return "\t".join([str(image), str(len(self.options)), *self.options,
                          *(f"{INPUT_TYPES[kind]}:{path}" for kind, path in self.inputs)])

    def key(self):
        parts = [*self.options]
        for kind, path in self.inputs:
            parts += [kind, build.digest(path, os.stat(path).st_mtime_ns)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def link(version, lines, seconds=SECONDS):
    """The raw answers of one library, in order."""
    library = toolkits.Toolkit(version).file("nvJitLink")
    # What a library says on stderr is for people; what counts is what it returns.
    done = subprocess.run([sys.executable, HERE / "linker.py", library, str(seconds)],
                          input="\n".join(lines) + "\n", text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=in_its_folder(library))
    said = done.stdout.splitlines()
    assert done.returncode == 0 and len(said) == len(lines), \
        f"nvJitLink {version}: {len(lines)} links, {len(said)} answers"
    return said


def image(job, path):
    """One link whose image is wanted."""
    return link(job.version, [job.line(path)])[0]


class Answers:
    """Those of one library that are known."""

    def __init__(self, version):
        library = toolkits.Toolkit(version).file("nvJitLink")
        source = HERE / "linker.py"
        text = (build.digest(library, library.stat().st_mtime_ns) +
                build.digest(source, source.stat().st_mtime_ns))
        self.file = (STORE / "answers" /
                     f"{version}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json")
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def save(self, new):
        # Others may have saved meanwhile; what is lost is only time.
        self.file.parent.mkdir(parents=True, exist_ok=True)
        known = json.loads(self.file.read_text()) if self.file.exists() else {}
        with tempfile.NamedTemporaryFile("w", dir=self.file.parent, delete=False) as out:
            json.dump(known | new, out, indent=0, sort_keys=True)
        pathlib.Path(out.name).rename(self.file)


def run(jobs, seconds=SECONDS):
    """{job: answer}, of new ones from as many processes as there are processors."""
    found, work = {}, []
    by_version = collections.defaultdict(dict)
    for job in jobs:
        by_version[job.version][job] = job.key()
    answers = {version: Answers(version) for version in by_version}
    for version, keys in by_version.items():
        known = answers[version].known
        found.update({job: known[key] for job, key in keys.items() if key in known})
        missing = [job for job, key in keys.items() if key not in known]
        work += [(version, missing[at:at + AT_A_TIME]) for at in range(0, len(missing), AT_A_TIME)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        said = pool.map(lambda some: link(some[0], [job.line() for job in some[1]], seconds), work)
        for (_, some), lines in zip(work, said):
            found.update(zip(some, lines))
    for version, keys in by_version.items():
        new = {key: found[job] for job, key in keys.items() if key not in answers[version].known}
        if new:
            answers[version].save(new)
    return found


def versions():
    return samples.versions("nvJitLink")


def need(found):
    return found or pytest.skip("there is no real nvrtc or nvJitLink here (CUDA_VERSIONS)")


def producers():
    return samples.versions("nvrtc")
