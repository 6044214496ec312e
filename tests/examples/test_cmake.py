# SPDX-License-Identifier: MIT
"""examples/cmake: built with nvcc and without, and run with every CUDA and with none."""
import pytest

import elf
from projects import NODES, nvcc, run, tool


def configure(tree, project, *arguments):
    run(tool("cmake"), "-S", project, "-B", project / "build",
        f"-DCMAKE_PREFIX_PATH={tree.prefix}", *arguments)
    run("cmake", "--build", project / "build")
    return project / "build" / "squares"


@pytest.fixture
def program(request, tree, example):
    if request.param == "with nvcc":
        path, major = nvcc()
        built = configure(tree, example("cmake"), f"-DCMAKE_CUDA_COMPILER={path}")
    else:
        major = 11
        built = configure(tree, example("cmake"), "-DCMAKE_CUDA_COMPILER=NOTFOUND",
                          "-DLAZYCUDA_ABI=11")
    imports = {symbol.name: symbol.node for symbol in elf.imports(built)}
    assert imports["cudaRuntimeGetVersion"] == NODES[major]
    assert ("__cudaRegisterFatBinary" in imports) == (request.param == "with nvcc")
    needed = [name for name in elf.dynamic(built)["NEEDED"] if "cuda" in name]
    assert needed == ["libcudart_stub.so"]
    # Nor is the runtime in it that nvcc links by default.
    assert b"libcudart_static" not in built.read_bytes()
    return built


@pytest.mark.parametrize("program, cuda", [("with nvcc", "13.5"), ("without nvcc", "none")],
                         indirect=True)
def test_it_runs(program, world, cuda):
    *versions, why, squares = world.run(program).lines
    assert squares == "on the CPU: 1 4 9 16"
    if cuda == "none":
        assert versions == [] and why.startswith("not on the GPU: cuda")
        assert "no usable libcudart.so.13" in why
        return
    # The runtime of 11 asks the driver before it tells its version, and there is none.
    assert versions == [f"CUDA runtime {cuda}"] or cuda == "11.8" and versions == []
    assert "driver version is insufficient" in why
