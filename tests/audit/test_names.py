# SPDX-License-Identifier: MIT
"""The grammar of libraries' file names: C (audit, the stubs) and Python (retarget) have the same."""
import ctypes
import random

import pytest

import build

from lazycuda import names

NO = None
STEMS = {"cudart": "cudart", "nvrtc": "nvrtc", "nvJitLink": "nvJitLink", "cuda": "cuda", "nvidia-ml": "nvml"}
# As they lie in toolkits, systems and wheels: the library, its number and whether there is a hash.
REAL = {
    "libcudart.so": ("cudart", -1, 0), "libcudart.so.12": ("cudart", 12, 0),
    "libcudart.so.11.0": ("cudart", 11, 0), "libcudart.so.11.8.89": ("cudart", 11, 0),
    "libcudart-d7c32a86.so.12.6.77": ("cudart", 12, 1),
    "libcudart.782fcab0.so.11.0": ("cudart", 11, 1),
    "libcudart-80664282.so.10.2": ("cudart", 10, 1), "libnvrtc.so.11.2": ("nvrtc", 11, 0),
    "libnvrtc-d7c32a86.so.12.6.85": ("nvrtc", 12, 1), "libnvJitLink.so.13": ("nvJitLink", 13, 0),
    "libcuda.so.1": ("cuda", 1, 0), "libcuda.so.535.104.05": ("cuda", 535, 0),
    "libcuda-1a2b3c4d.so.535.54.03": ("cuda", 535, 1), "libnvidia-ml.so.1": ("nvml", 1, 0),
    "libcudart-012345.so.12": ("cudart", 12, 1), "libcudart-0123456789abcdef0123.so": ("cudart", -1, 1),
    "libcudart.so.20240101": ("cudart", 20240101, 0), "libcudart.so.12.": ("cudart", 12, 0),
    "libnvrtc-builtins.so.12.6": NO, "libnvrtc-builtins-a1d5fce3.so.12.6.85": NO,
    "libcudart_static.a": NO, "libcudart-01234.so.12": NO, "libcudart-D7C32A86.so.12": NO,
    "libcudart.so.": NO, "libcudart.so.x": NO, "libcudart.so.12abc": NO, "libcudart.so12": NO,
    "libcudart.so.1234567890": NO, "libcudart.alt.so.12": NO, "libcudart.so.12.6-old": NO,
    "libcudart.so\u0661": NO, "libcudart.so.\u0661": NO, "cudart.so.12": NO, "libcuda_wrapper.so.1": NO,
}


class Ending(ctypes.Structure):
    """As in stubs/base/library_name.h."""
    _fields_ = [("hashed", ctypes.c_bool), ("numbers", ctypes.c_char_p), ("number", ctypes.c_int)]


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """With any number: which ones count is another question."""
    monkeypatch.setattr(names, "KNOWN", {})
    for stem, library in STEMS.items():
        names.learn(library, f"lib{stem}_stub.so", [f"lib{stem}.so"], [], "f")


@pytest.fixture(scope="module")
def c_says():
    """What C says of what follows a stem: its number and whether there is a hash, or None."""
    c = ctypes.CDLL(build.compile("libending.so", "-shared", "-fPIC", "-I", build.ROOT / "stubs", build.text(
        '#include "base/library_name.h"\nbool read_ending(const char *text, struct lc_ending *ending)\n'
        "{ return lc_read_ending(text, ending); }\n", "c")))
    ending, c.read_ending.restype = Ending(), ctypes.c_bool
    return lambda text: (ending.number, ending.hashed) if c.read_ending(
        text.encode(), ctypes.byref(ending)) else None


def c_reads(c_says, all_names, end=""):
    """{name: (library, number, hashed) or None}"""
    found = dict.fromkeys(all_names)
    for name in all_names:
        for stem, library in STEMS.items():
            answer = name.startswith(f"lib{stem}{end}") and c_says(name[len(f"lib{stem}{end}"):])
            if answer:
                assert not found[name], name
                found[name] = (library, *answer)
    return found


def python_reads(name):
    found = names.real(name)
    if not found:
        return None
    # Of the driver's, Python keeps no number, as it is no CUDA.
    return found.library, -1 if found.major is None else found.major


def generated(end=""):
    choose = random.Random(16)
    parts = [[f"lib{stem}{end}" for stem in STEMS] + ["libx", "libcudart_static"],
             ["", "", "", "-0123456789abcdef", "-d7c32a86", ".012345", "-01234", "_d7c32a86",
              "-D7C32A86", "-"],
             [".so"] * 6 + [".s", ".so.so", "so", ".SO"],
             ["", "", ".12", ".0", ".123456789", ".1234567890", "12", ".a", "..", "."],
             ["", "", "", ".6", ".6.77", ".", "a", "-1", " ", ".so"]]
    for _ in range(5000):
        yield "".join(map(choose.choice, parts))


@pytest.mark.parametrize("name", REAL)
def test_a_name_is_read_as_it_is_meant(c_says, name):
    meant = REAL[name]
    assert c_reads(c_says, [name]) == {name: meant}
    said = python_reads(name)
    assert said == (meant and (meant[0], -1 if meant[0] in names.DRIVER else meant[1]))


def test_both_read_generated_names_alike(c_says):
    made = sorted(set(generated()))
    read = c_reads(c_says, made)
    assert len(made) > 2000 and sum(map(bool, read.values())) > 100
    for name, meant in read.items():
        expected = meant and (meant[0], -1 if meant[0] in names.DRIVER else meant[1])
        assert python_reads(name) == expected, name


def test_both_know_stubs_alike(c_says):
    made = sorted(set(generated("_stub")))
    read = c_reads(c_says, made, "_stub")
    assert sum(map(bool, read.values())) > 100
    for name, meant in read.items():
        assert names.stub(name) == (meant and meant[0]), name
