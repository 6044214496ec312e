# SPDX-License-Identifier: MIT
"""What `lazycuda link` says, on one real nvJitLink and without a driver."""
import json
import os
import subprocess

import build
import toolkits


def code(version, arch, paths, image, *words, **variables):
    """The code, "OK" if it linked."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("LAZYCUDA_", "LD_"))}
    environment["LAZYCUDA_NVJITLINK"] = str(toolkits.Toolkit(version).file("nvJitLink"))
    done = subprocess.run([build.TOOL, "link", "--json", "--driver", "none", "--nvrtc", "none",
                           *words, "--arch", arch, "-o", image, *paths],
                          env=environment | variables, capture_output=True, text=True)
    assert done.returncode in (0, 1), f"{paths}: exit status {done.returncode} {done.stderr}"
    return json.loads(done.stdout)["code"] or "OK"
