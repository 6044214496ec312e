# SPDX-License-Identifier: MIT
"""What the comparisons ask of the library, asked of the command: the same answers."""
import json
import os
import subprocess

import build
import linkers
import plans
import pytest
import samples
from samples import Sample

TOOL = build.TOOL
ARCH = "sm_80"


def command(ask):
    arguments = [TOOL, "plan", "--json", "--policy", "off", "--driver", "none", "--nvrtc", "none",
                 "--nvjitlink", ask.version, "--arch", ask.arch, *(["--lto"] if ask.lto else []),
                 *ask.inputs]
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("LAZYCUDA_")}
    done = subprocess.run([str(word) for word in arguments], capture_output=True, text=True,
                          env=environment)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("kind", samples.KINDS)
def test_the_command_says_what_the_library_says(kind):
    both = [version for version in linkers.versions() if version in linkers.producers()]
    if not both:
        pytest.skip("there is no real toolkit here (CUDA_VERSIONS)")
    for producer in (both[0], both[-1]):
        inputs = [Sample(producer, kind, ARCH, unit) for unit in "kh"]
        samples.make(inputs)
        asks = [plans.Ask(version, ARCH, [sample.path for sample in inputs], lto=kind == "ltoir")
                for version in (both[0], both[-1])]
        for ask, plan in plans.run(asks).items():
            status, said = command(ask)
            assert status == (0 if plan.ok else 1), said
            assert said["decision"] == ("nvjitlink" if plan.ok else "refused"), said
            assert said["code"] == (None if plan.ok else plan.code), said
            assert said["message"] == plan.message, said
            if plan.ok:
                assert said["options"] == plan.options, said
                assert [entry["kind"] for entry in said["inputs"]] == plan.kinds, said
