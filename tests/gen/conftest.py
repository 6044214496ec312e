# SPDX-License-Identifier: MIT
"""gen/gen built with sanitizers, and the stub of a made-up library."""
import pathlib
import shlex
import shutil
import subprocess

import pytest

import build

HERE = pathlib.Path(__file__).parent
SOURCES = build.room("gen", "gen/model")
# The flags that the Makefile gives generated code.
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Os", "-fPIC",
         "-fvisibility=hidden", "-fomit-frame-pointer", "-foptimize-sibling-calls",
         f"-I{build.ROOT / 'stubs'}"]
ARM = ["aarch64-linux-gnu-gcc"]


@pytest.fixture(scope="session")
def sanitized():
    """gen/gen with sanitizers, where the compiler has them."""
    return build.sanitized_gen()


@pytest.fixture(scope="session")
def optimized():
    return build.compile("gen", "-std=gnu11", "-O2", *SOURCES)


@pytest.fixture
def gen(sanitized):
    """gen(list text, into folder): the CompletedProcess."""
    def run(text, folder, *options, name="list.txt"):
        path = folder.parent / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run([sanitized, "-o", folder, *options, path], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        done.stderr = done.stderr.decode(errors="replace")
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
        assert done.returncode in (0, 2), done.stderr
        return done
    return run


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.fixture(scope="session")
def thing(sanitized, tmp_path_factory):
    """The folder that thing.txt is generated into."""
    folder = tmp_path_factory.mktemp("thing")
    subprocess.run([sanitized, "-o", folder, HERE / "thing.txt"], check=True)
    return folder


def compilers():
    """[(id, command, tools' prefix, runner)]"""
    return [("gcc", ["gcc"], "", []), ("clang", ["clang"], "", []),
            ("aarch64-gcc", ARM, "aarch64-linux-gnu-",
             ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]),
            ("aarch64-clang", ["clang", "--target=aarch64-linux-gnu", "-fuse-ld=bfd"],
             "aarch64-linux-gnu-", ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"])]


class Compiler:
    def __init__(self, name, command, prefix, runner):
        self.name, self.command, self.prefix, self.runner = name, command, prefix, runner
        self.arm = bool(prefix) or build.ARCH == "aarch64"

    def __call__(self, output, *arguments):
        command = [*self.command, *map(str, arguments), "-o", str(output)]
        done = build.run(*command)
        assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
        return output

    def stub(self, folder, output, *flags, loader=HERE / "loader.c", name="libthing_stub",
             script="libthing_stub.map"):
        """The stub with a loader that these tests control."""
        self(output, *FLAGS, *flags, f"-I{folder}", folder / f"{name}.c", loader, "-shared",
             "-Wl,-z,norelro,-z,defs", f"-Wl,-soname,{name}.so",
             f"-Wl,--version-script={folder / script}", "-ldl")
        return output


@pytest.fixture(scope="session")
def cc():
    return Compiler("cc", build.CC, "", [])


@pytest.fixture(params=compilers(), ids=lambda given: given[0])
def compiler(request):
    made = Compiler(*request.param)
    needed = [made.command[0], *([ARM[0], "qemu-aarch64-static"] if made.prefix else [])]
    for tool in needed:
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool}")
    return made
