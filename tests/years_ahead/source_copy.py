# SPDX-License-Identifier: MIT
"""A copy of the sources, with everything that is fetched in place."""
import os
import pathlib
import shlex
import shutil
import sys
from dataclasses import dataclass

import build
import fetch
import snapshot
import symbols
import toolkit_maker
import toolkits
import wheel_files


def sources():
    """Paths of the project's files, from its root."""
    if (build.ROOT / ".git").exists():
        said = build.run("git", "ls-files", "-z", "-co", "--exclude-standard", check=True,
                         cwd=build.ROOT).stdout
        return [path for path in said.split("\0") if path and (build.ROOT / path).is_file()]
    return [path.relative_to(build.ROOT) for path in build.ROOT.rglob("*")
            if path.is_file() and build.BUILD not in path.parents]


def is_complete(version):
    """Whether all that `make symbols` reads of a real toolkit has been fetched."""
    return all(fetch.Wheel(toolkits.TOOLKITS / version / arch, part, package, wheel, arch).is_whole()
               for toolkit, part, package, wheel, arches in fetch.read_table() if toolkit == version
               for arch in arches)


@dataclass
class Tree:
    """A tree of sources, and commands that run in it."""
    root: pathlib.Path

    def run(self, *command, check=True):
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.root / "home"), "LC_ALL": "C.UTF-8",
            "CC": shlex.join(build.CC), "PYTHON": sys.executable, "CUDA_VERSIONS": "none",
            "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull,
            "PIP_FIND_LINKS": str(build.without_spaces(self.root / "wheels"))}
        done = build.run(*map(str, command), cwd=self.root, env=environment)
        assert not check or done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done

    def pytest(self, path, which, check=True):
        """Runs some of the tree's own tests; what pytest printed."""
        return self.run(sys.executable, "-m", "pytest", "-c", "tests/pytest.ini", "-q",
                        "-p", "no:cacheprovider", f"--basetemp={self.root / 'build' / 'tmp'}",
                        path, "-k", which, check=check).stdout


class Copy(Tree):
    def __init__(self, root):
        super().__init__(root)
        self.edited = set()
        for path in sources():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(build.ROOT / path, root / path)
        (root / "wheels").mkdir()
        (root / "build" / "toolkits").mkdir(parents=True)
        (root / "build" / "tests").mkdir()
        (root / "build" / "libclang").symlink_to(build.BUILD / "libclang")
        for version in symbols.read().toolkits:
            self.place(version)

    def place(self, version):
        """A listed toolkit: the real one where it is there, else one made up from the list."""
        folder = self.root / "build" / "toolkits" / version
        if is_complete(version):
            folder.symlink_to(toolkits.TOOLKITS / version)
            return
        for library, part in snapshot.of(version).items():
            toolkit_maker.write_listed(folder / "x86_64", library, version, part)
        for toolkit, _, package, wheel, _ in fetch.read_table():
            for arch in ("x86_64", "aarch64") if toolkit == version else ():
                stamp = fetch.Wheel(folder / arch, None, package, wheel, arch).stamp
                stamp.parent.mkdir(parents=True, exist_ok=True)
                with open(stamp, "w") as file:
                    fetch.write_stamp(file, folder / arch, [])

    def publish(self, package, version, tree):
        """A wheel of what lies in a folder, where this copy's pip looks."""
        wheel_files.make(self.root / "wheels", {
            str(path.relative_to(tree)): path for path in sorted(tree.rglob("*")) if path.is_file()},
            package.replace("-", "_"), version, "py3-none-manylinux_2_27_x86_64")

    def read(self, path):
        return (self.root / path).read_text()

    def write(self, path, text):
        (self.root / path).write_text(text)
        self.edited.add(path)

    def edit(self, path, *changes):
        """Replaces texts in a file; each has to be there."""
        text = self.read(path)
        for old, new in changes:
            assert old in text, f"{path} has no {old!r} any more: change what the test edits"
            text = text.replace(old, new)
        self.write(path, text)

    def append(self, path, text):
        self.write(path, self.read(path) + text)
