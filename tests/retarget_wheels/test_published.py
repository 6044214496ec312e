# SPDX-License-Identifier: MIT
"""Wheels from PyPI, none made with lazycuda in mind: retargeted, installed, and used as their users do, as far
as they go without a GPU.  With no CUDA and with each major, and with their own as the published ones are; with
no driver and with Debian's (535), which finds no device."""
import contextlib
import platform
import re
import sys
from dataclasses import dataclass

import pytest

import elf
import package
import published
import wheel_files

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="the wheels are for x86-64")
WORLDS = ("none", "11.8", "12.9", "13.5")
STUBS_FIRST = "--prefer", "stub", "--relax-requirements"
REAL = re.compile(
    r"lib(cudart|nvrtc|nvJitLink|nvrtc-builtins|cuda|nvidia-ml)([-.][0-9a-f]{8})?\.so")
OURS = re.compile(r"lib(cudart|nvrtc|nvJitLink|cuda|nvidia-ml)_stub")
SONAMES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}
# What is printed at last: the real libraries that the process has opened, and stubs of their names.
OPENED = r"""
import re
files = set(re.findall(r"/\S*$", open("/proc/self/maps").read(), re.M))
found = {(*one.groups(), b"LAZYCUDA_1" in open(file, "rb").read()) for file in files for one in [re.search(
    r"/lib(cudart|nvrtc|nvJitLink|cuda|nvidia-ml)\.so\.(\d+)[^/]*$", file)] if one}
print("stubs:", *(".".join(one[:2]) for one in sorted(found) if one[2]))
print("opened:", *(".".join(one[:2]) for one in sorted(found) if not one[2]))
"""
NUMPY = "numpy==2.2.6"


def fetched(use):
    """The wheel that is used, and those beside it, for this Python."""
    files, python = [], "cp{}{}".format(*sys.version_info)
    for wheel in (use.wheel, *use.beside):
        why = published.fetch(wheel)
        if why:
            pytest.skip(f"{wheel} could not be fetched: {why}")
        files.append(published.file(wheel))
        if files[-1].name.split("-")[-3] not in (python, "py3", "py2.py3") and "-abi3-" not in files[-1].name:
            pytest.skip(f"{wheel} is for Python {published.PYTHON}")
    return files


def retargeted(retarget, wheel, *options):
    """The new wheel, and what was said of it."""
    said, = retarget(*options, wheel).wheels
    made = retarget.out / wheel.name
    wheel_files.check_record(made)
    assert said["files"] and said["outcome"] == "retargeted"
    return made, said


def check_files(files, installed, said, left=False):
    """Each needs stubs, and of the real libraries there is what the report says comes with the
    wheel; with `left` some of the others need theirs, too."""
    kept = {note.split()[0].rpartition("/")[2] for note in said["notes"]
            if "is the real" in note and "and stays" in note}
    there = [path for path in installed.rglob("lib*.so*")
             if REAL.match(path.name) and path.name not in kept]
    stubs = {path.name for path in there if b"LAZYCUDA_1" in path.read_bytes()}
    for file in files:
        needed = elf.dynamic(file)["NEEDED"]
        assert stubs.issuperset(filter(REAL.match, {*needed} - kept))
        assert [name for name in needed if name in stubs or OURS.match(name)]
        assert elf.imports(file)        # what BFD tools see
    assert left or all(path.name in stubs for path in there)


def library_path(world, toolkit):
    """LD_LIBRARY_PATH with all of a CUDA, but the driver."""
    folders = dict.fromkeys(str(file.parent) for file in toolkit.files())
    return ":".join([*folders, world.env.get("LD_LIBRARY_PATH", "")])


# ---- the runtime and the compilers ----

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


MISSING = r"no usable lib\w+\.so\.13, .* was found\. Install "
OLD_DRIVER = "CUDA driver version is insufficient for CUDA runtime version"
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


@contextlib.contextmanager
def beside_it(toolkit, installed):
    """A real CUDA where pip would put it, as long as this lasts."""
    made = []
    for file in toolkit.files() if toolkit else ():
        link = installed / file.relative_to(toolkit.site)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)
        made.append(link)
    yield
    for link in made:
        link.unlink()


@pytest.mark.parametrize("use", USES, ids=lambda use: use.wheel)
def test_used(use, retarget, tmp_path, world, real):
    wheel, *beside = fetched(use)
    made, said = retargeted(retarget, wheel, *(STUBS_FIRST if use.bundles else ()))
    if use.tag:
        assert package.show(made)[1] == use.tag
    python = package.environment(tmp_path / "venv", made, *beside)
    site = package.site_packages(python)
    files = [site / re.sub(r"^[^/]*\.data/purelib/", "", file["file"]) for file in said["files"]]
    check_files(files, site, said)
    assert use.built_for in {int(found[1]) for file in said["files"] for change in file["replaced"]
                             if (found := re.search(r"\.so\.(\d+)", change["needed"]))}
    for version in WORLDS:
        with beside_it(version != "none" and real(version), site):
            done = world.run(python, "-I", "-c", use.code + OPENED, check=False)
        assert done.status == 0, done.out + done.err
        assert re.search(use.expected(version), done.out + done.err), done.out + done.err
        major = version.partition(".")[0]
        opened, = [line for line in done.lines if line.startswith("opened:")]
        more = set(opened.split()[1:]) - {
            f"{library}.{major}" for library in use.loads if version != "none"}
        # Its own is there with the file that needs it.
        assert not more or not use.bundles and major == str(use.built_for), done.out
        assert version == "none" or len(opened.split()) - 1 == len(use.loads) + len(more), done.out
    if not use.bundles:
        own = real(next(version for version in WORLDS[1:] if version.startswith(f"{use.built_for}.")))
        as_published(use, world, python, own, wheel, files)


def as_published(use, world, python, own, wheel, files):
    """With its own CUDA the wheel does the same as before it was retargeted, on the same files."""
    def run():
        done = world.run(python, "-I", "-c", use.code + OPENED, check=False,
                         LD_LIBRARY_PATH=library_path(world, own))
        said = re.sub(r"stubs:.*\n", "", re.sub("0x[0-9a-f]+", "ADDRESS", done.out + done.err))
        return done.status, said, re.search(r"stubs:(.*)", done.out)
    *mine, stubs = run()
    # A DT_RPATH leads to the stub before LD_LIBRARY_PATH is heeded; it serves by the same library.
    assert bool(stubs and stubs[1].split()) == any("RPATH" in elf.dynamic(file) for file in files)
    package.install(python, "--force-reinstall", wheel)
    assert run()[:2] == tuple(mine)


# ---- the driver ----

ABSENT = r"libcuda\.so\.1: cannot open shared object file"
NO_DRIVER = r"no usable libcuda\.so\.1 was found\. It comes with "

# A backend of its own and UCX's; both are modules that it opens.
NIXL = Use("nixl==0.4.0", 12, """
import os
os.environ.update(NIXL_LOG_LEVEL="INFO", UCX_LOG_LEVEL="diag", UCX_MEM_LOG_LEVEL="diag")
from nixl import _bindings as nixl
agent = nixl.nixlAgent("agent", nixl.nixlAgentConfig(False, False))
print("plugins:", *sorted(agent.getAvailPlugins()), flush=True)
parameters, kinds = agent.getPluginParams("UCX")
agent.createBackend("UCX", parameters)
""", {"published": (rf"Failed to load plugin .*libplugin_UCX_MO\.so: {ABSENT}", "plugins: POSIX UCX\n"),
      "none": ("plugins: POSIX UCX UCX_MO\n",
               rf"cuDeviceGetCount\(&num_gpus\) failed: cuDeviceGetCount: {NO_DRIVER}"),
      "debian": ("plugins: POSIX UCX UCX_MO\n", r"cuDeviceGetCount\(&num_gpus\) failed: initialization error")},
    beside=(NUMPY,))
# UCX puts jumps into the driver's own functions to see allocations: that part has to have
# the driver itself, and is opened only where there is one.
HOOKS = "--leave=*/libucm_cuda*"


def run(world, python, outcome, **env):
    """The real libraries that a process opens which uses the wheel, and says what it should."""
    done = world.run(python, "-I", "-c", NIXL.code + OPENED, **env)
    for pattern in NIXL.says[outcome]:
        assert re.search(pattern, done.out + done.err), f"{pattern} is not in\n{done.out}{done.err}"
    return next(line.split()[1:] for line in done.lines if line.startswith("opened:"))


def install_driver(world, debian):
    for library, soname in SONAMES.items():
        (world.folder("driver") / soname).symlink_to(debian(library))
    world.search(world.root / "driver")


def test_used_without_a_driver_and_with_one(retarget, tmp_path, world, real, debian):
    wheel, *beside = fetched(NIXL)
    made, said = retargeted(retarget, wheel, HOOKS)
    assert {change["library"] for file in said["files"] for change in file["replaced"]} >= {*SONAMES}
    python = package.environment(tmp_path / "venv", made, *beside)
    site = package.site_packages(python)
    check_files([site / file["file"] for file in said["files"]], site, said, left=True)

    # As it is published, nothing but the driver being absent.
    published = package.environment(tmp_path / "published", wheel, *beside)
    run(world, published, "published", LD_LIBRARY_PATH=library_path(world, real("12.9")))
    assert run(world, python, "none") == []
    install_driver(world, debian)
    assert any(one.startswith("cuda.") for one in run(world, python, "debian"))


def test_what_puts_jumps_into_the_drivers_functions_has_to_have_the_driver(retarget, tmp_path, world, real, debian):
    """Why docs/reference/retarget.md says --leave: UCX finds no room in an entry of a stub."""
    wheel, *beside = fetched(NIXL)
    install_driver(world, debian)
    for leave, failed in ((), True), ((HOOKS,), False):
        made, _ = retargeted(retarget, wheel, *leave)
        python = package.environment(tmp_path / f"venv-{failed}", made, *beside)
        done = world.run(python, "-I", "-c", NIXL.code,
                         LD_LIBRARY_PATH=library_path(world, real("12.9")))
        assert ("failed to install bistro hook" in done.out + done.err) == failed
