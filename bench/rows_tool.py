# SPDX-License-Identifier: MIT
"""What the command takes for many files, and for the libraries of docs/reference/own-library.md."""
import pathlib
import re
import tempfile
import time

import measure
from measure import BUILD, ROOT, WORK, Row

FILES = 1000
CALLS = "cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemAdvise", "cudaGetDeviceProperties_v2"


def auditing():
    files = pathlib.Path(measure.callers(FILES, *CALLS)[0]).parent
    return [(1e3 * measure.processor_time(BUILD / "bin" / "lazycuda", "audit", files), 2000)
            for _ in range(measure.often(5))]


def seven_commands():
    """The shell commands of the page, one after the other."""
    text = (ROOT / "docs/reference/own-library.md").read_text().partition("\n## Seven libraries\n")[2]
    # As far as the next words.
    shown = re.match(r"(?:    .*\n|\n)*", text[text.index("    $ A="):])[0]
    return re.sub(r"^    (\$ )?", "", shown, flags=re.M)


def make_seven(libraries, commands):
    """Seconds on the clock: what they wait for counts."""
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        for path in (*libraries.iterdir(), ROOT / "build" / "libclang"):
            pathlib.Path(folder, path.name).symlink_to(path)
        begin = time.monotonic()
        measure.run("bash", "-ec", commands.replace("../libclang", "libclang"), cwd=folder,
                    PATH=f"{BUILD / 'bin'}:/usr/bin:/bin")
        return time.monotonic() - begin


def making_stubs():
    libraries = ROOT / "build" / "libraries"
    if len(list(libraries.glob("cu12/*/nvidia/*/lib/lib*.so.*"))) < 9:
        raise measure.Unmeasured("there is no build/libraries: docs/reference/own-library.md")
    return [(make_seven(libraries, seven_commands()), 10) for _ in range(measure.often(5))]


GROUPS = {"The command": [Row(f"audit {FILES:,} files / 2 s", "ms", 1, auditing),
                          Row("stub: seven libraries / 10 s", "s", 1,
                              making_stubs)]}
