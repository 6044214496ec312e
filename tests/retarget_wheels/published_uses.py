# SPDX-License-Identifier: MIT
"""Wheels from PyPI that can be used without a GPU, and how far each goes.

None of them was made with lazycuda in mind.  Each is used as its users do it, up to where
it asks for a device.
"""
from dataclasses import dataclass

MISSING = r"no usable lib\w+\.so\.13, .* was found\. Install "
# Of cudaGetDeviceCount, where there is no driver either.
NEITHER = "neither an NVIDIA driver nor a CUDA library was found"
OLD_DRIVER = "CUDA driver version is insufficient for CUDA runtime version"


@dataclass
class Use:
    wheel: str
    built_for: int                  # CUDA major, by its DT_NEEDED or version needs
    code: str
    says: dict                      # {"none", "11.8", ... or "any": what is printed, a pattern}
    loads: tuple = ("cudart",)      # real libraries that are in the process afterwards
    beside: tuple = ()              # other wheels that it is installed with
    status: int = 0
    bundles: bool = False           # its own CUDA, whose place stubs take if that is asked for
    needs_driver: bool = False      # as published it is not even loaded where there is none
    tag: str = None                 # what auditwheel says of the result; None: it cannot run alone

    def expected(self, world):
        return self.says.get(world, self.says.get("any"))


NUMPY = "numpy==2.2.6"
SCIPY = "scipy==1.15.3"


KEDM = """
try:
    import kedm
except ImportError as error:        # it looks for a device when it is imported
    print(error)
"""


IMPLICIT = """
import warnings
warnings.simplefilter("ignore")
import implicit.gpu
print("HAS_CUDA", implicit.gpu.HAS_CUDA)
try:
    implicit.gpu._cuda.get_device_count()
except RuntimeError as error:
    print(error)
"""


GGML = """
import ctypes, importlib.util, pathlib
folder = pathlib.Path(importlib.util.find_spec("ctransformers").origin).parent
ctypes.CDLL(folder / "lib/cuda/libctransformers.so").ggml_init_cublas()
"""

BITSANDBYTES = """
import ctypes, importlib.util, pathlib
folder = pathlib.Path(importlib.util.find_spec("bitsandbytes").origin).parent
ctypes.CDLL(folder / "libbitsandbytes.so").cquantize(None, None, None, 1)
"""


# The 19th argument is the block's size.
BLOCHSIM = """
from blochsim_cuda13 import _gpu
name, (names, kinds, dimensions) = next(iter(_gpu.kernels().items()))
try:
    _gpu.launch(name, (1,), (*[0] * (len(kinds) - 2), 32, 0), 0, 0)
except RuntimeError as error:
    print(error)
"""


# An FFT of 8 numbers in a thread, for sm_80: it hands its sources to nvrtc.
MATHDX = """
import ctypes, pathlib, sysconfig
file, = pathlib.Path(sysconfig.get_path("platlib")).glob("nvidia/cu1?/lib/libmathdx.so.0")
dx = ctypes.CDLL(file)
fft, code, size = ctypes.c_longlong(), ctypes.c_longlong(), ctypes.c_size_t()
dx.cufftdxCreateDescriptor(ctypes.byref(fft))
for operator, value in ((0, 8), (1, 0), (2, 0), (3, 5), (4, 800), (5, 0), (10, 0)):
    assert dx.cufftdxSetOperatorInt64(fft, operator, ctypes.c_longlong(value)) == 0
dx.commondxCreateCode(ctypes.byref(code))
assert dx.commondxSetCodeOptionInt64(code, 1, ctypes.c_longlong(800)) == 0
print("compiled:", dx.cufftdxFinalizeCode(code, fft))
if dx.commondxGetLastErrorStrSize(ctypes.byref(size)) == 0 and size.value > 1:
    text = ctypes.create_string_buffer(size.value)
    dx.commondxGetLastErrorStr(ctypes.byref(ctypes.c_int()), size, text)
    print(text.value.decode())
if dx.commondxGetCodeLTOIRSize(code, ctypes.byref(size)) == 0:
    print("LTO-IR:", size.value > 1000)
"""
WANTS = r"compiled: 3\n(.*\n)*.*#error directive: cuFFTDx requires NVRTC from CUDA Toolkit {}\.0"

CUMM = """
from cumm import tensorview
try:
    tensorview.zeros([4], tensorview.float32, 0)
except RuntimeError as error:
    print(error)
try:
    program = tensorview.NVRTCProgram('extern "C" __global__ void f(float *p) { *p = 1; }',
                                      opts=["--std=c++14"])
    print(program.ptx())
except RuntimeError as error:
    print(error)
"""
CUMM_NEEDS = (NUMPY, "pccm==0.4.16", "ccimport==0.4.4", "lark==1.2.2", "portalocker==2.10.1",
              "fire==0.7.1", "termcolor==2.5.0", "pybind11==2.13.6",
              "ninja==1.11.1.4")

# The wheel wants the packages of the libraries themselves, unless it is told not to.
FAISS = """
import os
os.environ.update(_FAISS_WHEEL_DISABLE_CUDA_PRELOAD="1")
import faiss, numpy
print("GPUs:", faiss.get_num_gpus())
index = faiss.IndexFlatL2(2)
index.add(numpy.eye(2, dtype="float32"))
print("nearest:", *index.search(numpy.eye(2, dtype="float32"), 1)[1].ravel())
"""

CCCL = """
import importlib.util, pathlib, sysconfig
for major in 12, 13:
    folder = pathlib.Path(sysconfig.get_path("platlib")) / f"cuda/compute/cu{major}"
    file, = folder.glob("_bindings_impl.*.so")
    found = importlib.util.spec_from_file_location("_bindings_impl", file)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    print(major, module.DeviceReduceBuildResult.__name__)
"""


def ptx(version):
    return rf"{OLD_DRIVER}(.*\n)*.*release {version}(.*\n)*\.visible \.entry f"


USES = (
    Use("kedm-cuda11x==0.9.3", 11, KEDM, {
        "none": rf"cudaErrorInsufficientDriver\): cudaGetDeviceCount: {NEITHER}",
        "any": rf"cudaErrorInsufficientDriver\): {OLD_DRIVER}"}, beside=(NUMPY,), bundles=True),
    Use("implicit==0.7.2", 11, IMPLICIT, {
        "none": rf"HAS_CUDA False\nCuda Error: cudaGetDeviceCount: {NEITHER}",
        "any": rf"HAS_CUDA False\nCuda Error: {OLD_DRIVER}"},
        beside=(NUMPY, SCIPY, "tqdm==4.67.1", "threadpoolctl==3.5.0")),
    Use("ctransformers==0.2.27", 12, GGML, {
        "none": rf"CUDA error 35 at .*: cudaGetDeviceCount: {NEITHER}",
        "any": rf"CUDA error 35 at .*: {OLD_DRIVER}"}, loads=None, status=1),
    Use("bitsandbytes-cuda117==0.26.0.post2", 11, BITSANDBYTES, {
        "none": rf"Error \w+: {MISSING}", "any": f"Error {OLD_DRIVER}"}, loads=None, status=1,
        needs_driver=True),
    Use("blochsim-cuda13==0.0.14", 13, BLOCHSIM, {
        "none": f"selecting the device: cudaGetDevice: {MISSING}",
        "any": f"selecting the device: {OLD_DRIVER}"}),
    Use("nvidia-libmathdx-cu12==0.3.1.9", 12, MATHDX, {
        "none": "compiled: 3\n", "11.8": WANTS.format(12), "12.9": "compiled: 0\nLTO-IR: True",
        # Its headers are older than that nvrtc: the compiler's own errors.
        "13.5": r"compiled: 3\n(.*\n)*.*: error: identifier"}, loads=("nvrtc",),
        tag="manylinux_2_24_x86_64"),
    Use("nvidia-libmathdx-cu13==0.4.1.15", 13, MATHDX, {
        "none": "compiled: 3\n", "11.8": WANTS.format(13), "12.9": WANTS.format(13),
        "13.5": "compiled: 0\nLTO-IR: True"}, loads=("nvrtc",)),
    Use("cumm-cu118==0.8.2", 11, CUMM, {
        "none": rf"cuda failed with error 303 (.*\n)*.*nvrtcCreateProgram: {MISSING}",
        "11.8": ptx("11.8"), "12.9": ptx("12.9"), "13.5": ptx("13.5")},
        loads=("cudart", "nvrtc"), beside=CUMM_NEEDS, bundles=True, tag="manylinux_2_17_x86_64"),
    Use("faiss-gpu-cu12==1.14.1.post1", 12, FAISS, {"any": r"\AGPUs: 0\nnearest: 0 1\nstubs:"},
        beside=(NUMPY, "packaging==24.2")),
    Use("cuda-cccl==1.2.1", 13, CCCL, {
        "any": "12 DeviceReduceBuildResult\n13 DeviceReduceBuildResult"}, loads=(),
        beside=(NUMPY,), needs_driver=True),
)
