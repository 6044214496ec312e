# SPDX-License-Identifier: MIT
"""The sandbox where no namespace can be made: proot shows a command what lib/sandbox.c would.

It hides nothing.  So the folder of what is to be hidden is shown as another, with links of its
own, in which all that is kept is bound.  What a command writes it writes on the machine.
"""
import glob
import os
import pathlib
import shutil
import tempfile

import pytest

import build

FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", f"/usr/lib/{build.ARCH}-linux-gnu")
HIDDEN = ("/usr/local/cuda*", "/opt/cuda*", "/usr/lib/cuda*", "/run/opengl-driver*",
          *[f"{folder}/lib{name}" for folder in FOLDERS for name in (
              "cudart[-._]*", "nvrtc[-._]*", "nvJitLink[-._]*", "nvidia-ml[-._]*", "cuda.so*")])
# As in lib/sandbox.c.
DROPPED = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


def split(option):
    """(what, where), with /lib where that leads."""
    what, _, where = option.partition(":")
    top, _, below = where[1:].partition("/")
    return what, pathlib.Path(os.path.realpath(f"/{top}")) / below


def words(options, root):
    """The words before a command."""
    if not shutil.which("proot"):
        pytest.skip("there is no proot")
    asked = list(zip(options[::2], map(split, options[1::2])))
    hidden = {path for pattern in HIDDEN for path in glob.glob(pattern)}
    made = pathlib.Path(tempfile.mkdtemp(prefix="shown-", dir=root))
    (made / "cache").touch()
    (made / "modules").mkdir()
    binds, shown = [(made / "cache", "/etc/ld.so.cache")], {}
    if os.path.exists("/sys/module"):
        binds.append((made / "modules", "/sys/module"))

    def show(folder):
        if folder in shown:
            return shown[folder]
        shown[folder] = mine = made / str(len(shown))
        mine.mkdir()
        binds.append((mine, folder))
        for entry in os.scandir(folder):
            if entry.path in hidden:
                continue
            if entry.is_symlink():
                (mine / entry.name).symlink_to(os.readlink(entry.path))
                continue
            (mine / entry.name).mkdir() if entry.is_dir() else (mine / entry.name).touch()
            binds.append((entry.path, entry.path))
        return mine

    for path in sorted(hidden):
        show(os.path.dirname(path))
    for option, (what, where) in asked:
        if option == "--symlink":
            (show(str(where.parent)) / where.name).symlink_to(what)
            continue
        for folder in {*shown} & {*map(str, where.parents)}:   # it is to be listed there
            (shown[folder] / where.relative_to(folder)).mkdir(parents=True, exist_ok=True)
        binds.append((what, where))
    return [*(DROPPED if os.geteuid() == 0 else ()), "proot", "-w", str(root),
            *[word for what, where in binds for word in ("-b", f"{what}:{where}")]]
