# SPDX-License-Identifier: MIT
"""Wheels from PyPI that need the driver's libraries, and what they say without a GPU.

Each is used up to where it asks the driver for something.
"""
from dataclasses import dataclass

from published_uses import NUMPY


@dataclass
class DriverUse:
    wheel: str
    libraries: tuple        # of the driver's, that it needs
    code: str
    before: list            # as it is published, where there is no driver: patterns
    none: list              # retargeted, where there is no driver
    debian: list            # with Debian's driver, and no device
    beside: tuple = ()
    leave: tuple = ()
    status: tuple = (0, 0, 0)       # how these three end


ABSENT = r"libcuda\.so\.1: cannot open shared object file"
NO_DRIVER = r"no usable libcuda\.so\.1 was found\. It comes with "

# Its own cudaMalloc maps memory with the driver's functions.
MEMORY_SAVER = """
import ctypes, os, pathlib, sysconfig
os.environ["TMS_INIT_ENABLE"] = "1"
site = pathlib.Path(sysconfig.get_path("platlib"))
saver = ctypes.CDLL(str(site / "torch_memory_saver_hook_mode_preload_cu12.abi3.so"))
saver.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(4))
"""

# What `import libucx` loads, the module for CUDA with it; then what it knows to do.
UCX = """
import ctypes, importlib.util, os, pathlib
os.environ["UCX_LOG_LEVEL"] = "debug"
folder = pathlib.Path(importlib.util.find_spec("libucx").origin).parent / "lib"
for name in ("libucs.so.0", "libucm.so.0", "libuct.so.0", "ucx/libuct_cuda.so.0"):
    library = ctypes.CDLL(str(folder / name), ctypes.RTLD_GLOBAL)
found, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_uint()
query = ctypes.CDLL(str(folder / "libuct.so.0")).uct_query_components
print("components:", query(ctypes.byref(found), ctypes.byref(count)), count.value)
print("NVML:", ctypes.CDLL("libnvidia-ml_stub.so").nvmlInit_v2())
"""


# A backend of its own and UCX's; both are modules that it opens.
NIXL = """
import os
os.environ.update(NIXL_LOG_LEVEL="INFO", UCX_LOG_LEVEL="diag", UCX_MEM_LOG_LEVEL="diag")
from nixl import _bindings as nixl
agent = nixl.nixlAgent("agent", nixl.nixlAgentConfig(False, False))
print("plugins:", *sorted(agent.getAvailPlugins()), flush=True)
parameters, kinds = agent.getPluginParams("UCX")
agent.createBackend("UCX", parameters)
"""


# UCX puts jumps into the driver's own functions to see allocations: that part has to have
# the driver itself, and is opened only where there is one.
HOOKS = ("*/libucm_cuda*",)


DRIVER_USES = (
    DriverUse("torch-memory-saver==0.0.10", ("cuda",), MEMORY_SAVER,
              before=[ABSENT],
              none=[rf"CUresult error: 34 \(cuCtxGetDevice: {NO_DRIVER}"],
              debian=[r"CUresult error: 3 \(initialization error\)"], status=(1, 1, 1)),
    DriverUse("libucx-cu12==1.22.0", ("cuda", "nvml"), UCX,
              before=[ABSENT],
              none=[rf"cuInit\(0\) failed: cuInit: {NO_DRIVER}", "components: 0 7\nNVML: 12"],
              debian=[r"cuInit\(0\) failed: no CUDA-capable device is detected",
                      "components: 0 7\nNVML: 9"], leave=HOOKS, status=(1, 0, 0)),
    DriverUse("nixl==0.4.0", ("cuda", "nvml"), NIXL,
              before=[rf"Failed to load plugin .*libplugin_UCX_MO\.so: {ABSENT}",
                      "plugins: POSIX UCX\n"],
              none=["plugins: POSIX UCX UCX_MO\n",
                    rf"cuDeviceGetCount\(&num_gpus\) failed: cuDeviceGetCount: {NO_DRIVER}"],
              debian=["plugins: POSIX UCX UCX_MO\n",
                      r"cuDeviceGetCount\(&num_gpus\) failed: initialization error"],
              beside=(NUMPY,), leave=HOOKS),
)
