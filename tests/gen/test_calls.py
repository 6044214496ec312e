# SPDX-License-Identifier: MIT
"""Arguments and results pass through a stub as if it were not there."""
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent


CPU = {"-fcf-protection": False, "-mbranch-protection=standard": True}


@pytest.mark.parametrize("flags", [[], ["-fcf-protection"], ["-mbranch-protection=standard"],
                                   ["-DLC_C_ONLY"]], ids=["plain", "cet", "bti", "c"])
def test_every_kind_of_argument(thing, compiler, tmp_path, flags):
    if flags and CPU.get(flags[0], compiler.arm) != compiler.arm:
        pytest.skip("a flag of another CPU")
    compiler.stub(thing, tmp_path / "libthing_stub.so", *flags)
    # The import library of major 3: some names have no default in the stub.
    compiler(tmp_path / "import.so", "-fPIC", "-shared", "-nostdlib", "-DLC_IMPORT=3",
             f"-I{HERE.parents[1] / 'stubs'}", thing / "libthing_stub.import.c",
             f"-Wl,--version-script={thing / 'libthing_stub.import3.map'}",
             "-Wl,-soname,libthing_stub.so")
    program = compiler(tmp_path / "calls", "-std=gnu11", "-O1", "-Wall", "-Werror", *flags,
                       "-rdynamic", HERE / "calls.c", tmp_path / "import.so",
                       f"-Wl,-rpath,{tmp_path}", "-ldl")
    done = subprocess.run([*compiler.runner, program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("0 failures\n", 0), done.stderr
