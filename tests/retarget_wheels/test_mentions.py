# SPDX-License-Identifier: MIT
"""Code of a wheel that asks for a package of CUDA's libraries, or opens one by its name."""
import re
import sys
import zipfile

import pytest

import build
import wheel_files
from importer import importer, real

FAISS = b"""{
  "preload": [
    {
      "package": "nvidia-cuda-runtime-cu12", "note": "\\"libcublas.so.12\\"",
      "library": "libcudart.so.12"
    }]
}
"""
TORCH = b'''"""Opens libcudart.so.12 and nvidia-cuda-runtime-cu12."""
def _preload():
    "libnvrtc.so.12"
    libs = {
        "cublas": "libcublas.so.*[0-9]",
        "nvrtc": "libnvrtc.so.*[0-9]",
    }
    if "nvidia/cuda_runtime/lib/libcudart.so" not in open("/proc/self/maps").read():
        return libs
'''
MANY = b'''import ctypes, importlib.metadata, os
import nvidia.cuda_runtime
from nvidia import cuda_nvrtc, nothing
from nvidia.cuda_nvrtc import lib
from . import cuda_runtime
ctypes.CDLL("libnvrtc.so.12", mode=ctypes.RTLD_GLOBAL)
ctypes.cdll.LoadLibrary(name=os.path.join(os.sep, f"libcudart.so.{12}"))
importlib.metadata.distribution("nvidia-cuda-runtime-cu12")
raise ImportError("pip install nvidia-cuda-runtime-cu12 first, for libcudart.so.12")
print(f"{1} libcudart.so.12", "libcuda.so.1", "libm.so.6", "libcudartist.so", b"libcudart.so.12")
'''


@pytest.fixture
def mentions(retarget, tmp_path):
    """What is said of a wheel with these members, and the rest of it."""
    def run(members, *words, requires=("nvidia-cuda-runtime-cu12", "nvidia-cuda-nvrtc-cu12"),
            text=""):
        module = importer(tmp_path, "cudaMalloc", text=text, link=[
            real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")])
        wheel = wheel_files.make(tmp_path, {"pkg/module.so": module, **members},
                                 requires=requires)
        said, = retarget("--relax-requirements", *words, wheel).wheels
        # Members that are looked into are copied as they were.
        made, = retarget.out.glob("*.whl")
        assert members.items() <= wheel_files.read(made).items()
        return [(each["file"], each["line"], each["does"], each["name"])
                for each in said["mentions"]], said
    return run


def test_json_by_its_own_grammar(mentions):
    found, said = mentions({"pkg/preload.json": FAISS})
    assert found == [("pkg/preload.json", 4, "names", "nvidia-cuda-runtime-cu12"),
                     ("pkg/preload.json", 5, "names", "libcudart.so.12")]
    assert [(each["served"], each["extra"]) for each in said["mentions"]] == [
        (False, "cuda12"), (True, "cuda12")]


def test_a_table_of_what_is_preloaded(mentions):
    found, _ = mentions({"pkg/__init__.py": TORCH})
    assert [each[1:] for each in found] == [
        (5, "names", "libcublas.so.*[0-9]"), (6, "names", "libnvrtc.so.*[0-9]"),
        (8, "names", "nvidia/cuda_runtime/lib/libcudart.so")]


def test_what_pathfinder_is_asked_for(mentions):
    # libcuvs-cu12: without nvrtc it ends with DynamicLibNotFoundError.
    found, said = mentions({"pkg/load.py": b"""from cuda.pathfinder import load_nvidia_dynamic_lib
load_nvidia_dynamic_lib("nvrtc")
cuda.pathfinder.load_nvidia_dynamic_lib(f"cudart")
load_nvidia_dynamic_lib(name), print("nvrtc"), load_nvidia_dynamic_lib("nosuch", 1)
old._load_nvidia_dynamic_library("nvrtc")
"""})
    assert [each[1:] for each in found] == [(2, "asks for", "nvrtc"), (3, "asks for", "cudart"),
                                            (5, "asks for", "nvrtc")]
    assert {each["extra"] for each in said["mentions"]} == {"cuda12"}


def test_calls_and_imports(mentions):
    found, _ = mentions({"pkg/many.py": MANY})
    assert [each[1:] for each in found] == [
        (2, "imports", "nvidia.cuda_runtime"), (3, "imports", "nvidia.cuda_nvrtc"),
        (4, "imports", "nvidia.cuda_nvrtc.lib"), (6, "opens", "libnvrtc.so.12"),
        (7, "opens", "libcudart.so.{}"), (8, "asks for", "nvidia-cuda-runtime-cu12"),
        (10, "names", "libcuda.so.1")]


def test_the_drivers_libraries_come_with_it(retarget, tmp_path):
    """Nobody installs them, and a pipeline with --strict goes on."""
    code = b'import ctypes\nctypes.CDLL("libcuda.so.1")\nctypes.CDLL("libnvvm.so.4")\n'
    wheel = wheel_files.make(tmp_path, {"pkg/__init__.py": code[:code.rindex(b"ctypes")]})
    done = retarget("--strict", wheel, json_wanted=False)
    assert "pkg/__init__.py:2 opens libcuda.so.1, which comes with the driver\n    where such a one is " \
        "missing: see that it goes on without\n" in done.out
    wheel = wheel_files.make(tmp_path, {"pkg/__init__.py": code})
    assert "opens libnvvm.so.4, which need not be there\n    where such a one is missing: set LD_LIBRARY_PATH=" \
        in retarget("--strict", wheel, json_wanted=False, status=1).out


def test_names_in_an_elf_file(mentions):
    found, _ = mentions({}, text="libnvrtc.so.12\\0x/lib64/libcudart.so.13\\0see libnvrtc.so.12\\0")
    assert found == [("pkg/module.so", 0, "names", "libcudart.so.13"),
                     ("pkg/module.so", 0, "names", "libnvrtc.so.12")]


def test_an_extension_needs_what_it_opens_and_others_need(retarget, tmp_path):
    """As CuPy's opens nvrtc: ctypes looks into no folder of the wheel."""
    kernels = importer(tmp_path, "nvrtcVersion", link=[
        real(tmp_path, "libnvrtc.so.12", "nvrtcVersion", node="libnvrtc.so.12")])
    (tmp_path / "opener").mkdir()
    opener = importer(tmp_path / "opener", link=[], text="libnvrtc.so.12\\0libnvrtc.so.13\\0libcudart.so.12")
    wheel = wheel_files.make(tmp_path, {"pkg/kernels.so": kernels, "pkg/plain.so": opener,
                                        "pkg/opener.abi3.so": opener})
    retarget(wheel)
    site = tmp_path / "site"
    zipfile.ZipFile(tmp_path / "out" / wheel.name).extractall(site)
    # Of the names those count that other files need: the wheel has their stubs.
    code = "import ctypes; ctypes.CDLL({!r}); print(ctypes.CDLL('libnvrtc.so.12').lazycuda_load)"
    for name, found in ("plain.so", False), ("opener.abi3.so", True):
        ran = build.run(sys.executable, "-c", code.format(str(site / "pkg" / name)))
        assert ("FuncPtr" in ran.stdout) == found, ran.stderr


def test_what_to_do_is_said(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": plain, "pkg/many.py": MANY},
                             requires=["nvidia-cuda-runtime-cu12"])
    done = retarget("--relax-requirements", wheel, json_wanted=False)
    assert ("pkg/many.py:7 opens libcudart.so.{}: where it is missing that is the stub, once a file that "
            "needs it is loaded\n") in done.out
    assert "pkg/many.py:8 asks for nvidia-cuda-runtime-cu12, which need not be there\n" in done.out
    assert done.out.count("where such a one is missing: install pkg[cuda12], or set LD_LIBRARY_PATH=") == 1
    assert "extra cuda13 requires nvidia-cuda-runtime==13.*\n" in done.out


def test_what_is_too_large_to_be_read_is_said(mentions):
    found, said = mentions({"pkg/big.py": b'a = "libcudart.so.12"\n' + b"#" * (9 << 20)})
    assert not found
    assert [note.partition(" ")[0] for note in said["notes"] if "look into it" in note] == ["pkg/big.py"]


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(build.PYTHON)
    from lazycuda import mentions as module
    return module


@pytest.mark.parametrize("size", (1, 5))
def test_a_word_that_chunks_share(module, size):
    text, whole = module.Text(), b"x = 'nvidia-nccl-cu12'"
    for start in range(0, len(whole), size):
        text.write(whole[start:start + size])
    assert text.likely and text.whole and text.kept.getvalue() == whole


def test_what_names_nothing_is_not_read(mentions):
    found, said = mentions({"pkg/old.py": b'print "hello"\n', "pkg/a.json": b"{", "b.txt": FAISS})
    assert not found and not any("b.txt" in note for note in said["notes"])


def test_a_pattern_means_any_number(mentions):
    code = b'a = "libcudart.so.*[0-9]"\nb = f"libcudart.so.{1}"\nc = "libcudart.so.13"\nd = "libnvrtc.so.*"\n'
    _, said = mentions({"pkg/code.py": code})
    assert [each["served"] for each in said["mentions"]] == [True, True, False, False]


@pytest.mark.parametrize("version, found", [(None, "missing"), ("12.9", "12.9"), ("13.5", "13.5")])
def test_the_advice_helps(retarget, tmp_path, world, real, version, found):
    """A name that code opens, in a wheel with nothing to do: a stub of that name on LD_LIBRARY_PATH
    serves it by any CUDA, and by itself it is found nowhere."""
    code = 'import ctypes\nnvrtc = ctypes.CDLL("libnvrtc.so.12")\n'
    # One advice, whatever else is tried.
    wheel = wheel_files.make(tmp_path, {"pkg/__init__.py": code.encode(),
                                        "pkg/old.py": b'ctypes.CDLL("libnvrtc.so.11.2")\n'})
    said = retarget(wheel, json_wanted=False).out
    assert "opens libnvrtc.so.12, which need not be there\n" in said
    major, = re.findall(r"where such a one is missing: set "
                        r"LD_LIBRARY_PATH=\$\(python -m lazycuda --compatdir (\d+)\)", said)
    if version:
        world.bind(real(version).file("nvrtc").parent, f"/usr/local/cuda-{version}/lib64")
    code += "a, b = ctypes.c_int(), ctypes.c_int()\n" \
        "print(nvrtc.nvrtcVersion(ctypes.byref(a), ctypes.byref(b)), f'{a.value}.{b.value}')"
    alone = world.run(sys.executable, "-I", "-c", code, check=False)
    assert "libnvrtc.so.12: cannot open" in alone.err
    done = world.run(sys.executable, "-I", "-c", code, LD_LIBRARY_PATH=str(build.STUBS / f"compat{major}"))
    assert done.out.strip() == ("11 0.0" if found == "missing" else f"0 {found}")
