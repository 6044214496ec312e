# SPDX-License-Identifier: MIT
"""examples/numba_cuda_link.py, where numba-cuda and a libnvvm are installed."""
import importlib.util
import os
import subprocess
import sys

import pytest

import build


def test_a_kernel_of_numba_cuda_is_linked(tmp_path, real):
    if importlib.util.find_spec("numba_cuda") is None:
        pytest.skip("there is no numba-cuda (pip install numba-cuda)")
    nvvm = subprocess.run([sys.executable, "-c", "from cuda.pathfinder import load_nvidia_dynamic_lib"
                           " as load; load('nvvm')"], capture_output=True)
    if nvvm.returncode:
        pytest.skip("there is no libnvvm (pip install nvidia-nvvm)")
    linker = real("13.5").file("nvJitLink")
    done = build.run(sys.executable, "-B", build.ROOT / "examples/numba_cuda_link.py", tmp_path / "out.cubin",
                     cwd=tmp_path,
                     env={**os.environ, "PYTHONPATH": str(build.PYTHON), "LAZYCUDA_NVJITLINK": str(linker)})
    assert done.returncode == 0, done.stderr
    first, up, kernels = done.stdout.splitlines()
    assert first.startswith("nvJitLink 13.5 links for sm_80")
    assert up == "set up module" and "kernel" in kernels
    assert (tmp_path / "out.cubin").read_bytes()[:4] == b"\x7fELF"
