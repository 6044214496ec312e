# SPDX-License-Identifier: MIT
"""What a failed link says to do, done."""
import pytest

import handles
from samples import Sample, make

HEAD = """
def tried(*inputs, **more):
    error = refusal(Linker("sm_80", **more).add(*inputs))
    say(**{"code": error.code.name, "message": error.message} if error else {"code": "OK"})
def read(at):
    return open(sys.argv[at], "rb").read()
CALLS = 'extern "C" __device__ int helper(int); extern "C" __global__ void kernel(int *a) { *a = helper(*a); }'
HELPER = 'extern "C" __device__ __noinline__ int helper(int x) { return x + 1; }'
"""


@pytest.fixture
def say(world, real, python):
    handles.install(world, real("13.5"))
    return lambda code, *words: python(HEAD + code, *words)


def test_a_function_of_ltoir_with_a_kernel(say):
    made = [Sample("13.5", kind, "sm_80", unit) for kind, unit in (
        ("ptx", "k"), ("ltoir", "k"), ("ltoir", "h"))]
    make(made)
    bad, *good = say("""
def ltoir(source):
    return LTOIR(Linker("sm_80", output=Output.LTOIR).add(CUSource(source)).link())
OTHER = ' extern "C" __global__ void other(int *a) {}'
tried(PTXSource(read(1)), ltoir(HELPER + OTHER))
tried(PTXSource(read(1)), CUSource(HELPER + OTHER))
tried(LTOIR(read(2)), ltoir(HELPER + OTHER))
tried(PTXSource(read(1)), LTOIR(read(3)))       # without one, nvJitLink keeps all
""", *(one.path for one in made))
    assert bad["code"] == "UNDEFINED_SYMBOL"
    assert "give that input as PTX, or the caller as LTO-IR" in bad["message"]
    assert good == 3 * [{"code": "OK"}]


def test_a_function_of_a_support_module(say):
    bad, listed, off, *good = say("""
def module(source=HELPER, **more):
    return [SupportModule("nrt", CUSource(source), ["helper"], **more)]
tried(CUSource(CALLS), support=module())
tried(CUSource(CALLS, main=True), support=module("__device__ int other;"))
tried(CUSource(CALLS, main=True), support=module(enabled=False))
tried(CUSource(CALLS, needs=["nrt"]), support=module())
tried(CUSource(CALLS, main=True), support=module())
tried(CUSource(CALLS, main=True), support=module(enabled=True))
""")
    assert bad["code"] == "UNDEFINED_SYMBOL" and "the support module nrt defines it" in bad["message"]
    assert "the support module nrt is linked and lists it, and does not define it" in listed["message"]
    assert "the support module nrt defines it, and is not enabled" in off["message"]
    assert good == 3 * [{"code": "OK"}]


def test_a_list_of_kernels_with_none_of_the_link(say):
    bad, good = say("""
for name in ("kernle", "kernel"):
    tried(CUSource('extern "C" __global__ void kernel(int *a) { *a = 1; }'), options=[f"-kernels-used={name}"])
""")
    assert bad["code"] == "BAD_IMAGE" and bad["message"].endswith("; -kernels-used= keeps only the kernels that it names")
    assert good == {"code": "OK"}


def test_a_bad_name_expression(say):
    bad, good = say("""
code = "template <class T, class U> __global__ void k(T *a, U) {}"
tried(CUSource(code, name_expressions=["k<int, int>", "k< nope,int>"]))
tried(CUSource(code, name_expressions=["k<int, int>"]))
""")
    assert bad["code"] == "COMPILE_FAILED"
    assert bad["message"].endswith("; that is the name expression k < nope, int >")
    assert good == {"code": "OK"}


def test_ltoir_that_defines_a_name_twice(say):
    made = [Sample("13.5", "ltoir", "sm_80", unit) for unit in ("kh", "h")]
    make(made)
    twice, two, other, one = say("""
for inputs in ([LTOIR(read(1), "a"), LTOIR(read(1), "b")], [LTOIR.from_path(sys.argv[1]) for _ in "ab"],
               [LTOIR(read(1), "a"), LTOIR(read(2), "b")], [LTOIR(read(1), "a")]):
    tried(*inputs)
""", *(one.path for one in made))
    assert "'helper'" in twice["message"] and twice["message"].endswith(
        "; it is the same as a, and is given twice: leave one out")
    assert "is given twice: leave one out" in two["message"] and one == {"code": "OK"}
    assert other["message"].endswith("; a defines it, too: leave one out")


def test_what_is_given_twice(say):
    made = Sample("13.5", "ptx", "sm_80", "kh")
    make([made])
    bytes_, files, other = say("""
ptx = read(1)
tried(PTXSource(ptx, "one"), PTXSource(ptx, "two"))
tried(*2 * [PTXSource.from_path(sys.argv[1])])
tried(PTXSource(ptx, "one"), PTXSource(ptx + b" ", "two"))
""", made.path)
    assert "two: it is the same as one, and is given twice, so that helper is" in bytes_["message"]
    assert "is given twice" in files["message"]
    assert "two: it defines helper, and so does one" in other["message"]
