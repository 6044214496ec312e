# SPDX-License-Identifier: MIT
"""Wheels from PyPI that can be used without a GPU, and how far each goes.

None of them was made with lazycuda in mind.  Each is used as its users do it, up to where
it asks for a device.
"""
from dataclasses import dataclass

MISSING = r"no usable lib\w+\.so\.13, .* was found\. Install "


OLD_DRIVER = "CUDA driver version is insufficient for CUDA runtime version"


@dataclass
class Use:
    wheel: str
    built_for: int                  # CUDA major, by its DT_NEEDED or version needs
    code: str
    says: dict                      # {"none", "11.8", ... or "any": what is printed, a pattern}
    loads: tuple = ("cudart",)      # real libraries that are in the process afterwards
    beside: tuple = ()              # other wheels that it is installed with
    bundles: bool = False           # its own CUDA, whose place stubs take if that is asked for
    tag: str = None                 # what auditwheel says of the result; None: it cannot run alone

    def expected(self, world):
        return self.says.get(world, self.says.get("any"))


NUMPY = "numpy==2.2.6"


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


def ptx(version):
    return rf"{OLD_DRIVER}(.*\n)*.*release {version}(.*\n)*\.visible \.entry f"


USES = (
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
)
