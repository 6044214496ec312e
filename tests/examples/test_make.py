# SPDX-License-Identifier: MIT
"""examples/make: built as its README says, and run with every CUDA and with none."""
import pytest

import elf
from projects import NODES, run, tool


@pytest.fixture(params=[11, 12, 13])
def program(request, tree, example):
    tool("pkg-config")
    project = example("make")
    run("make", "-C", project, f"CUDA_MAJOR={request.param}", PKG_CONFIG_PATH=tree.pkgconfig)
    versions = {symbol.node for symbol in elf.imports(project / "versions")
                if symbol.name.startswith("cuda")}
    assert versions == {NODES[request.param]}
    return project / "versions"


def test_it_runs(program, world, cuda):
    said = world.run(program, check=cuda in ("12.9", "13.5"))
    runtime, compiler = said.lines
    if cuda == "none":
        assert said.status == 1
        assert runtime.startswith("cudart: cudaRuntimeGetVersion: no usable libcudart.so.13")
        assert compiler.startswith("nvrtc: ") and "no usable libnvrtc.so.13" in compiler
        return
    # The runtime of 11 asks the driver before it tells its version, and there is none.
    assert runtime == f"cudart: {cuda}" or cuda == "11.8" and "driver version" in runtime
    assert compiler == f"nvrtc: {cuda}"


def test_what_is_missing_stops_it(example, tmp_path):
    tool("pkg-config")
    status, said = run("make", "-C", example("make"), check=False, PKG_CONFIG_LIBDIR=tmp_path)
    assert status != 0 and "cudart-stub-12" in said and not (tmp_path / "make/versions").exists()
