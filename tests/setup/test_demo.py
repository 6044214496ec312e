# SPDX-License-Identifier: MIT
"""make demo without a network: a line that says so, and fakes that say what they show."""
import os
import re
import sys

import build

RUNNER = """
import pathlib, sys
sys.path.insert(0, sys.argv.pop(1))
import demo
demo.TOOLKITS = pathlib.Path(sys.argv.pop(1))
sys.exit(demo.main())
"""


def test_without_a_network(tmp_path, settings, refused):
    done = build.run(sys.executable, "-c", RUNNER, build.ROOT / "examples", tmp_path / "toolkits",
                     env={**settings, "PIP_INDEX_URL": refused, "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull})
    assert done.returncode == 0, done.stdout + done.stderr
    why, = [line for line in done.stdout.splitlines() if "could be fetched" in line]
    assert "cannot be reached: " in why and "fake libraries stand in" in why
    before, *worlds = re.split(r"\n--- .* ---\n", done.stdout)
    assert len(worlds) == 4 and "FAKE" not in worlds[0]
    for version, world in zip(("11.8", "12.9", "13.5"), worlds[1:]):
        assert "FAKE libraries" in world and "What they cannot: " in world
        assert re.search(r"nvrtc +the call arrived in the fake one, which compiles nothing", world)
        assert re.search(rf"cudart +{version} +/.*/libcudart\.so\.{version[:2]}", world)
        linked = re.search(r"nvJitLink +the call arrived in the fake one, which links nothing",
                           world)
        assert (linked is None) == (version == "11.8")
        assert "says" not in world, "a made-up number explains nothing"
