# SPDX-License-Identifier: MIT
"""lazycuda.link on real compilers and linkers, and without any."""
import json

import pytest

import build
import handles
from handles import PTX, fatbin, inputs, pair
from lazycuda import link, link_library

CLASSES = {"ptx": "PTXSource", "cubin": "Cubin", "ltoir": "LTOIR", "fatbin": "Fatbin",
           "object": "Object", "archive": "Archive", "source": "CUSource"}


@pytest.mark.parametrize("kind", CLASSES)
def test_every_kind_from_a_path_and_from_memory(world, python, installed, kind):
    words = inputs(world, installed.version, kind)
    said = python(f"""
kind = {CLASSES[kind]}
paths = sys.argv[1:]
for inputs in ([kind.from_path(path) for path in paths],
               [kind(open(path, "rb").read(), path) for path in paths],
               [Input(open(path, "rb").read(), path) for path in paths]):
    linker = Linker("sm_80", symbols=["kernel"], lto={kind == "ltoir"}).add(*inputs)
    planned = linker.plan()
    made = linker.link()
    names = [symbol.name for symbol in inspect(made).entries[0].symbols if symbol.kernel]
    say(elf=made[:4] == b"\\x7fELF", names=names, plan=planned.backend.name,
        versions=[planned.nvjitlink, linker.result.plan.nvjitlink, planned.choice],
        same=planned.steps == linker.result.plan.steps, linked=len(linker.result.linked),
        bytes=made.hex())
""", *words)
    assert len(said) == 3
    for one in said:
        assert one["elf"] and one["names"] == ["kernel"] and one["plan"] == "NVJITLINK"
        assert one["versions"] == [installed.version, installed.version, None]
        assert one["same"] and one["linked"] == len(words)
        assert one["bytes"] == said[0]["bytes"]


def test_of_code_without_a_kernel_nothing_stays(python, installed):
    said, = python("""
say(roots=[not inspect(PTXSource(text)).entries[0].no_root for text in sys.argv[1:]],
    plan=Linker("sm_80").add(PTXSource(sys.argv[2])).plan().code.name)
""", PTX, PTX.replace(".visible .entry kernel() { ret; }", ""))
    assert said == {"roots": [True, False], "plan": "NO_DEVICE_CODE"}


def test_an_error_has_all_that_is_known(python, installed):
    said, = python("""
error = refusal(Linker("sm_80").add(PTXSource(open(sys.argv[1]).read(), "good"),
                                    PTXSource(sys.argv[2], "bad")))
say(code=error.code.name, input=error.input.name, index=error.index, log=error.log,
    call=error.call, status=error.status, text=str(error), backend=error.plan.backend.name)
""", pair(installed.version, "ptx")[1], PTX.replace("ret;", "frobnicate;"))
    assert (said["code"], said["input"], said["index"]) == ("LINK_FAILED", "bad", 1)
    assert "frobnicate" in said["log"] and (said["call"], said["status"]) == ("nvJitLinkAddData", 4)
    assert said["text"].startswith("LINK_FAILED: nvJitLink ") and said["backend"] == "NVJITLINK"


def test_a_refusal_says_what_it_had_and_needs(python):
    said = python("""
import pickle
environment = Environment(driver="12.9", branch=575, nvjitlink="12.9", nvrtc=None)
for inputs, error_class in (([PTXSource(sys.argv[1])], VersionRefused),
                            ([CUSource("int x;")], NotInstalled),
                            ([Input(b"nothing")], BadInput), ([], BadRequest)):
    linker = Linker("sm_80", environment=environment).add(*inputs)
    planned = linker.plan()
    again = plan(inputs, "sm_80", environment=environment)
    error = raised(error_class, linker.link)
    copy = pickle.loads(pickle.dumps(error))
    say(code=error.code.name, had=error.had, needed=error.needed, one=planned.code.name,
        agreed=planned == error.plan == again, copy=[str(copy) == str(error), copy.code.name])
    assert inputs == [] or str(raised(error_class, planned.check)) == str(error)
""", PTX.replace("7.0", "9.0"))
    assert [(one["code"], one["one"]) for one in said] == [
        (code, code) for code in ("PTX_TOO_NEW", "NVRTC_REQUIRED", "UNKNOWN_KIND", "NO_INPUTS")]
    assert "9.0" in said[0]["had"] and "13.0" in said[0]["needed"]
    assert all(one["agreed"] and one["copy"] == [True, one["code"]] for one in said)


def test_callbacks_and_support_modules(python, installed):
    said = python("""
kernel, helper = sys.argv[1:]
calls = []
def note(what):
    return (lambda module: calls.append(f"{what} {module}"))
module = SupportModule("helpers", PTXSource(open(helper, "rb").read(), "helper", note("up 2"),
                                             note("down 2")), ["helper"])
other = SupportModule("others", PTXSource(""), ["nobody"])
main = PTXSource.from_path(kernel, main=True, setup_callback=note("up 1"),
                           teardown_callback=note("down 1"))
linker = Linker("sm_80", support=[other, module]).add(main)
say(steps=[(step.input, step.support) for step in linker.plan().steps])
linker.link()
linker.result.setup("m")
linker.result.teardown("m")
say(calls=calls)
by_need = Linker("sm_80", support=[other, module]).add(PTXSource.from_path(kernel, needs=["helpers"]))
say(names=[one.name for one in by_need.run().linked])
def fails(module):
    raise KeyError(module)
failing = Linker("sm_80").add(PTXSource.from_path(kernel, setup_callback=fails),
                              PTXSource.from_path(helper)).run()
say(error=str(raised(KeyError, failing.setup, "m")))
""", *pair(installed.version, "ptx"))
    assert said[0]["steps"] == [[0, None], [None, 1]]
    assert said[1]["calls"] == ["up 1 m", "up 2 m", "down 2 m", "down 1 m"]
    assert said[2]["names"][-1] == "helper" and len(said[2]["names"]) == 2
    assert said[3]["error"] == "'m'"


def test_threads(python, installed):
    """Each links while the others do, with a linker of its own and with one for all."""
    said, = python("""
import concurrent.futures, threading
inputs = [PTXSource.from_path(path) for path in sys.argv[1:]]
shared = Linker("sm_80").add(*inputs)
alone = shared.link()
ran = []
def spin():
    while not done:
        ran.append(1)
done = []
spinner = threading.Thread(target=spin)
spinner.start()
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    made = list(pool.map(lambda n: (Linker("sm_80").add(*inputs) if n % 2 else shared).link(),
                         range(40)))
done.append(1)
spinner.join()
say(same=sum(one == alone for one in made), ran=len(ran) > 100)
""", *pair(installed.version, "ptx"))
    assert said == {"same": 40, "ran": True}


def test_the_interpreter_is_not_held_during_a_call(python):
    """A call that waits for another thread of Python gets what it waits for."""
    names = "".join(f"void {name}(void) {{}}\n" for name in link_library.FUNCTIONS
                    if name != "lazycuda_get_environment")
    waits = build.text(names + """
#include <poll.h>
#include <lazycuda_link.h>
struct lazycuda_environment lazycuda_get_environment(void)
{
	struct pollfd fd = { .fd = 50, .events = POLLIN };
	return (struct lazycuda_environment){ .driver = 1000 * poll(&fd, 1, 5000) };
}
""".replace("#include <lazycuda_link.h>", "struct lazycuda_environment "
            "{ unsigned long size; int driver, branch, nvjitlink, nvrtc; };"), "c")
    said, = python("""
import os, threading
reading, writing = os.pipe()
os.dup2(reading, 50)
thread = threading.Timer(0.05, os.write, (writing, b"x"))
thread.start()
say(waited_for=environment().driver)
""", LAZYCUDA_LINK_LIBRARY=str(build.shared(waits, name="libwaits.so")))
    assert said == {"waited_for": "1.0"}


def test_inspection_and_payloads(world, python, installed):
    file = fatbin(world, "k.fatbin", pair(installed.version, "ptx")[0])
    said, = python("""
seen = inspect(sys.argv[1])
data = open(sys.argv[1], "rb").read()
same = inspect(data)
entry, = seen.entries
errors = [type(raised(Exception, what)).__name__ for what in (
    lambda: seen.payload(1), lambda: inspect(inspect(data).payload(0)).fatbin(0))]
say(kind=seen.kind.name, entry=entry.kind.name, arch=entry.arch, isa=entry.isa,
    relocatable=entry.relocatable, same=same.entries == seen.entries, errors=errors,
    payload=seen.payload(0).decode(), again=inspect(seen.fatbin(0)).kind.name,
    names=[symbol.name for symbol in entry.symbols], nothing=inspect(b"").kind.name,
    damaged=inspect(data[:70]).error, absent=repr(inspect("/absent")),
    view=inspect(memoryview(data)).entries == seen.entries)
""", file)
    assert (said["kind"], said["entry"], said["arch"]) == ("FATBIN", "PTX", "sm_80")
    assert said["isa"] and said["relocatable"] and said["same"] and said["view"]
    assert said["errors"] == ["IndexError", "ValueError"]
    assert ".entry kernel" in said["payload"] and said["again"] == "FATBIN"
    assert {"kernel", "helper"} <= set(said["names"]) and said["nothing"] == "UNKNOWN"
    assert said["damaged"] and "does not exist" in said["absent"]


NOTHING = {"driver": None, "branch": 0, "nvjitlink": None, "nvrtc": None, "nvvm": None}


def test_what_is_installed(python, installed):
    assert python("say(**vars(environment()))") == [
        {**NOTHING, "nvjitlink": installed.version, "nvrtc": installed.version}]


def test_without_cuda(python):
    said = python("""
say(**vars(environment()))
error = refusal(Linker("sm_80").add(PTXSource(sys.argv[1])))
say(code=error.code.name, plan=error.plan.code.name, type=type(error).__name__)
""", PTX)
    assert said == [NOTHING, {"code": "NO_BACKEND", "plan": "NO_BACKEND", "type": "NotInstalled"}]


@pytest.mark.parametrize("named", ["/absent/liblazycuda_link.so", "libc.so.6"])
def test_a_library_that_is_not_there_or_is_another(python, named):
    said, = python("say(error=str(raised(LibraryNotFound, environment)))", LAZYCUDA_LINK_LIBRARY=named)
    assert named in said["error"] and "names another file" in said["error"]
    assert "lazycuda's wheel" in said["error"]


@pytest.mark.parametrize("error, wrong", [
    (TypeError, lambda: link.Linker("sm_80", options="-lineinfo")),
    (TypeError, lambda: link.Linker("sm_80").add("k.ptx")),
    ("PTXSource.from_path", lambda: link.PTXSource(__file__)),
    ("a driver is str", lambda: link.plan([], environment=link.Environment(driver=12.4))),
    (ValueError, lambda: link.Linker("sm_80").add(link.PTXSource(PTX, needs=["nrt"])).plan()),
    *[(ValueError, lambda version=version: link._number(version)) for version in ("12.x", "newest", "", "12.100")],
    *[(ValueError, lambda limit=limit: link.Linker("sm_80", time_limit=limit)) for limit in (-1, float("nan"))],
    (TypeError, lambda: link.CUSource("", name=5)),
    (ValueError, lambda: link.Linker((9, 0, "b"))), (TypeError, lambda: link.Linker((9, 0, "a", 1))),
    *[("one string", wrong) for wrong in (
        lambda: link.CUSource("", name_expressions="k<int>"), lambda: link.CUSource("", needs=b"nrt"),
        lambda: link.Linker("sm_80", symbols="kernel"), lambda: link.Linker("sm_80", support=[
            link.SupportModule("m", link.CUSource(""), "helper")]).plan())]])
def test_what_is_wrong_is_refused_at_once(error, wrong):
    """One string is not several, and is said not to be."""
    said = error if isinstance(error, str) else ""
    with pytest.raises((TypeError, ValueError) if said else error, match=said):
        wrong()


@pytest.mark.parametrize("error, make, wrong", [
    *[(TypeError, link.Linker, one) for one in (
        {"output": 1.5}, {"policy": None}, {"unpack_limit": 1.5}, {"time_limit": "1"}, {"constraint": 12},
        {"environment": "12.9"}, {"support": [1]}, {"options": [1]}, {"options": "-g"}, {"symbols": 1},
        {"lto": "no"}, {"lto": None}, {"isolated": None}, {"optimize": "fast"}, {"log": 1}, {"misspelt": 1})],
    *[(ValueError, link.Linker, one) for one in (
        {"policy": "strickt"}, {"output": "obj"}, {"fast_compile": "fast"}, {"time_limit": 0})],
    *[(TypeError, lambda **more: link.plan([], **more), one) for one in ({"misspelt": 1}, {"lto": None})],
    *[(TypeError, lambda **more: link.CUSource("", **more), one) for one in (
        {"headers": ["a"]}, {"headers": {"a": 1}}, {"needs": [1]}, {"main": "no"}, {"library": None},
        {"setup_callback": 1})]])
def test_an_error_names_the_parameter(error, make, wrong):
    with pytest.raises(error, match=next(iter(wrong))):
        make(**wrong)


def test_a_precompiled_header(world, python, installed):
    """nvrtc lacks the memory at first, and gets it."""
    (world.root / "all.h").write_text("".join(
        f"template <class T> struct s{number} {{ T x; __device__ T f() {{ return x; }} }};\n" for number in range(999)))
    said, = python("""
import ctypes
ctypes.CDLL(find_components()[0].library).nvrtcSetPCHHeapSize(ctypes.c_size_t(1 << 20))
source = CUSource('#include "all.h"\\nextern "C" __global__ void f(int *x) { *x = 1; }', "f.cu")
def log(**more):
    return Linker("sm_80", compile_options=["-I."], **more).add(source).run().info_log
say(none=log(), made=log(pch=True, pch_dir="."), used=log(pch=True, pch_dir="."),
    file=log(create_pch="all.pch"), again=log(use_pch="all.pch"))
""")
    assert said["none"] == "" and "nvrtc made no" not in said["used"]
    assert "using precompiled" in said["used"] and "using precompiled" in said["again"]
    assert said["made"].endswith("nvrtc made a precompiled header") and "#639" not in said["made"]
    assert said["file"].endswith("nvrtc made a precompiled header") and (world.root / "all.pch").exists()


def test_names_and_suffixes_as_arguments():
    linker = link.Linker((10, 3, "f"), output="ptx", policy="Strict")
    assert (linker.arch, linker.output, linker.policy) == ("sm_103f", link.Output.PTX, link.Policy.STRICT)
    with pytest.raises(ValueError, match="is one of best_effort, strict, off, not 'bogus'; the default is best_effort"):
        link.Linker("sm_80", policy="bogus")


WRONG = """
def refused(make):
    try:
        return make().plan().message
    except ValueError as error:
        return str(error)
def linker(**settings):
    return lambda: Linker("sm_80", **settings)
def source(*given, **more):
    return lambda: Linker("sm_80").add(CUSource(*given, **more))
def environment(**versions):
    return lambda: Linker("sm_80", environment=Environment(**versions))
def support(*given):
    return lambda: Linker("sm_80", support=[SupportModule(*given)])
say(said=[refused(one) for one in (
    linker(max_registers=2**32 + 32), linker(optimize=-2**32), linker(device=2**32),
    linker(unpack_limit=2**64), linker(memory_limit=-1), environment(nvjitlink="9999999.0"),
    environment(branch=2**32), lambda: Linker("sm_80\\0x"), linker(constraint=">=12\\0,<11"),
    linker(options=["-g\\0x"]), linker(compile_options=["-G\\0x"]), linker(symbols=["k\\0x"]),
    source("", name_expressions=["k<1>\\0x"]), source("", headers={"a.h\\0x": ""}),
    source("", headers={"a.h": b"int\\0x;"}), source("", "k.cu\\0x"),
    lambda: Linker("sm_80").add(CUSource.from_path("k.cu\\0x")),
    support("m", CUSource(""), ["f\\0x"]), support("m\\0x", CUSource("")))])
"""


def test_what_c_cannot_hold_is_not_cut(python):
    said, = python(WRONG)
    assert len(said["said"]) == 19
    assert not [one for one in said["said"]
                if not one.startswith(("there is a NUL in ", "C cannot hold "))]


# ---- names that stop a link ----

DECLARES = """\
extern "C" __device__ int helper(int), other(int);
extern "C" __global__ void kernel(int *out) { *out = helper(1) + other(2); }
"""
NEEDS = """\
extern "C" __device__ int helper(int), third(int);
extern "C" __device__ int mine(int x) { return helper(x) + third(x); }
"""
ERRORS = """
for more in ({}, {"lto": True}, {"isolated": True}):
    linker = Linker("sm_80", **more)
    error = refusal(linker.add(*(CUSource(text, f"{n}.cu") for n, text in enumerate(sys.argv[1:]))))
    say(code=error.code.name, errors=[vars(one) for one in error.symbol_errors])
"""


def test_what_nothing_defines_is_listed(python, installed):
    said = python(ERRORS, DECLARES, NEEDS)
    assert [one["code"] for one in said] == ["UNDEFINED_SYMBOL"] * 3
    listed = [{(one["name"], one["input"]) for one in each["errors"]} for each in said]
    # LTO-IR shows no names: ptxas stops at the first that it misses.
    assert listed[0] == listed[2] == {("helper", 0), ("other", 0), ("third", 1)}
    assert len(listed[1]) == 1 and listed[1] < {(name, None) for name in
                                                ("helper", "other", "third")}
    assert not any(one["twice"] for each in said for one in each["errors"])


def test_what_is_defined_twice_is_listed(python, installed):
    one = PTX + ".visible .func one() { ret; }\n.visible .func two() { ret; }\n"
    said, = python("""
linker = Linker("sm_80").add(PTXSource(sys.argv[1], "a"), PTXSource(sys.argv[2], "b"),
                             PTXSource(sys.argv[1], "c"))
planned, error = linker.plan(), refusal(linker)
say(code=error.code.name, errors=[vars(one) for one in error.symbol_errors],
    same=error.symbol_errors == planned.symbol_errors, checked=error.plan == planned)
""", one, PTX.replace("kernel", "other") + ".visible .func one() { ret; }\n")
    assert said["code"] == "DUPLICATE_SYMBOL" and said["same"] and said["checked"]
    assert all(each["twice"] for each in said["errors"])
    assert [(each["name"], each["input"], each["other"]) for each in said["errors"]] == [
        ("one", 0, 1), ("kernel", 0, 2), ("one", 0, 2), ("two", 0, 2)]


def test_the_command_lists_them(world, installed):
    (world.root / "k.cu").write_text(DECLARES)
    said = json.loads(world.cli("link", "--json", "--arch", "sm_80", "-o", "out", "k.cu",
                                check=False).out)
    assert said["symbol_errors"] == [
        {"name": name, "is": "undefined", "input": 0, "other": None} for name in
        sorted(("helper", "other"), key=[one["name"] for one in said["symbol_errors"]].index)]


# ---- support modules of source ----

CALLS = '''\
extern "C" __device__ int helper(int);
#ifdef MORE
extern "C" __device__ int other(int);
#else
static __device__ int other(int x) { int y; return x; }
#endif
extern "C" __device__ int unused(int);
extern "C" __global__ void kernel(int *x) { x[0] = helper(x[0]) + other(x[1]); }
'''
DEFINES = 'extern "C" __device__ int {}(int x) {{ return x / 3; }}'


@pytest.mark.parametrize("more", ["", "lto=True", "isolated=True"])
def test_source_decides_on_support_modules_once_it_is_compiled(python, installed, more):
    said = python(f"""
ltoir = open(sys.argv[3], "rb").read()
def made(*modules, **options):
    told = []
    main = CUSource(sys.argv[1], "k.cu", main=True)
    linker = Linker("sm_80", log=lambda kind, text, input: told.append([kind.name, text]),
                    support=modules, **options).add(main)
    planned = linker.plan()
    result = linker.run()
    say(linked=[one.name for one in result.linked], planned=len(planned.steps),
        notes=[note for note in planned.notes if "support" in note],
        forms=[step.form.name for step in result.plan.steps],
        to=result.plan.compile_to.name, warnings=result.info_log.count("never referenced"),
        told=sum(text.count("never referenced") for _, text in told))
helper = SupportModule("helper", CUSource(sys.argv[2].format("helper"), "helper.cu"), ["helper"])
other = SupportModule("other", CUSource(sys.argv[2].format("other"), "other.cu"), ["other"])
unused = SupportModule("unused", CUSource("this is not compiled", "unused.cu"),
                       ["unused", "kernel"])
ready = SupportModule("ready", LTOIR(ltoir, "ready"), ["helper"])
made(unused, helper, {more})
made(other, unused, helper, compile_options=["-DMORE"], {more})
made(unused, ready, {more})
error = refusal(Linker("sm_80", support=[helper], use_support=False, {more}).add(
    CUSource(sys.argv[1], "k.cu", main=True)))
say(code=error.code.name, names=[one.name for one in error.symbol_errors])
""", CALLS, DEFINES, pair(installed.version, "ltoir")[1])
    one, two, ready, without = said
    assert one["linked"] == ["k.cu", "helper.cu"] and one["forms"] == ["COMPILED"] * 2
    assert two["linked"] == ["k.cu", "other.cu", "helper.cu"]
    assert ready["linked"] == ["k.cu", "ready"] and ready["to"] == "LTOIR"
    assert one["to"] == ("LTOIR" if "lto" in more else "PTX")
    for each in (one, two, ready):
        assert each["planned"] == 1 and each["notes"] == [
            "k.cu: which support modules it needs is seen once it is compiled"]
        assert each["warnings"] == each["told"] == (0 if each is two else 1)
    assert without == {"code": "UNDEFINED_SYMBOL", "names": ["helper"]}


# ---- without what is not LTO-IR ----

def test_ptx_of_the_part_that_is_optimised(python, installed):
    kernel, _ = pair(installed.version, "ltoir")
    _, helper = pair(installed.version, "ptx")
    said = python("""
told = []
for output, ignore in ((Output.PTX, False), (Output.PTX, True), (Output.CUBIN, True)):
    linker = Linker("sm_80", output=output, ignore_non_lto=ignore,
                    log=lambda *what: told.append(what[1]))
    linker.add(LTOIR.from_path(sys.argv[1], "kernel"), PTXSource.from_path(sys.argv[2], "helper"),
               CUSource("__device__ int more;", "more.cu"))
    try:
        text = linker.link().decode()
        say(extern=".extern .func" in text, linked=[one.name for one in linker.result.linked],
            notes=linker.result.plan.notes, told=told[0])
    except LinkError as error:
        say(code=error.code.name)
""", kernel, helper)
    note = "helper is left out: it is not LTO-IR"
    assert said == [{"code": "PTX_NEEDS_LTO"},
                    {"extern": True, "linked": ["kernel", "more.cu"], "notes": [note],
                     "told": note},
                    {"code": "UNDEFINED_SYMBOL"}]


# ---- name expressions ----

TEMPLATE = """\
template <typename T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
namespace n { __constant__ int table[4]; }
"""


@pytest.mark.parametrize("more", ["", "lto=True", "isolated=True"])
def test_name_expressions_have_lowered_names(python, installed, more):
    said = python(f"""
source = CUSource(sys.argv[1], "k.cu", name_expressions=["&scale<float>", "scale<int>", "&n::table"])
linker = Linker("sm_80", {more}).add(source)
image = linker.link()
say(names=linker.result.lowered_names,
    notes=linker.result.plan.notes,
    kernels=[one.name for one in inspect(image).entries[0].symbols if one.kernel])
for expression in ("&nothing", "scale<"):
    linker = Linker("sm_80", {more}).add(CUSource(sys.argv[1], name_expressions=[expression]))
    say(code=refusal(linker).code.name)
""", TEMPLATE)
    names = said[0]["names"]
    assert names == {"&scale<float>": "_Z5scaleIfEvPT_S0_", "scale<int>": "_Z5scaleIiEvPT_S0_",
                     "&n::table": "_ZN1n5tableE"}
    assert set(said[0]["kernels"]) == {names["&scale<float>"], names["scale<int>"]}
    assert [one["code"] for one in said[1:]] == ["COMPILE_FAILED"] * 2


# ---- as people write it ----

def test_inputs_are_text_buffers_paths_and_files(world, python, installed):
    (world.root / "k.ptx").write_text(PTX)
    said, = python("""
import io, pathlib
path, text = sys.argv[1:]
given = [text, text.encode(), bytearray(text.encode()), memoryview(text.encode()),
         io.StringIO(text), io.BytesIO(text.encode()), pathlib.Path(path), open(path),
         open(path, "rb")]
def refused(make):
    return type(raised((TypeError, ValueError), make)).__name__
say(images=len({Linker((8, 0)).add(PTXSource(one)).link() for one in given}),
    data=[refused(lambda: PTXSource(one)) for one in (5, None, ["a"], 2.5)],
    arch=[refused(lambda: Linker(one)) for one in (90, (9,), (9, 0, 1), None, (9.0, 0), b"sm_90",
                                                   (9, 10), (-9, 0))],
    more=[refused(lambda: PTXSource(text, headers={"a": ""})),
          refused(lambda: Cubin(b"", name_expressions=["f"])),
          refused(lambda: Linker("sm_80", optimize=2.7))])
""", world.root / "k.ptx", PTX)
    assert said == {"images": 1, "data": ["TypeError"] * 4, "arch": ["TypeError"] * 6 + ["ValueError"] * 2,
                    "more": ["ValueError", "ValueError", "TypeError"]}


# nvrtc works on it for some minutes.
LONG = "".join(f"__device__ float f{i}(float x) {{ {'x = sinf(x) * cosf(x + 1);' * 60} return x; }}\n"
               for i in range(300)) + 'extern "C" __global__ void k(float *x) {' + "".join(
               f"x[{i}] = f{i}(x[{i}]);" for i in range(300)) + "}"


def test_ctrl_c_ends_an_isolated_link(world, python, installed):
    (world.root / "long.cu").write_text(LONG)
    said, = python("""
import os, signal, threading, time
linker = Linker("sm_120", isolated=True).add(CUSource.from_path(sys.argv[1]))
def press():
    global pressed
    pressed = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1, press).start()
error = raised(KeyboardInterrupt, linker.link)
say(quick=error is not None and time.monotonic() - pressed < 5)     # the machine may be busy
""", world.root / "long.cu")
    assert said["quick"]


@pytest.mark.parametrize("does", [
    # As 3.12 does at exit.
    'raise RuntimeError("can\'t create new thread at interpreter shutdown")',
    # As where there is no memory for the call.
    'start(lambda *_: None, arguments)'])
def test_no_thread_for_an_isolated_link(python, installed, does):
    said, = python(f"""
import _thread
start = _thread.start_new_thread
def start_none(run, arguments):
    {does}
_thread.start_new_thread = start_none
say(code=len(Linker("sm_80", isolated=True).add(PTXSource(sys.argv[1])).link()) > 0)
""", PTX)
    assert said["code"]


def test_a_driver_is_given_by_either_version(python):
    said, = python("""
def message(driver):
    try:
        return Linker("sm_80", environment=Environment(driver=driver)).add(
            PTXSource(sys.argv[1])).plan().message.split(" links")[0]
    except ValueError:
        return "ValueError"
say(each=[message(one) for one in ("12.4", "550.120", "300", "five")])
""", PTX)
    assert said["each"] == 2 * ["the driver (CUDA 12.4)"] + 2 * ["ValueError"]


TILE = """\
extern "C" __tile_global__ void tile(int *p) { }
extern "C" __global__ void simt(int *p) { *p = 1; }
"""


def test_a_tile_kernel_is_not_dropped_with_success(python, installed):
    said = python("""
for ignore in (False, True):
    source = CUSource(sys.argv[1], "k.cu", name_expressions=["tile", "simt"])
    linker = Linker("sm_100", compile_options=["--enable-tile"], ignore_tile=ignore)
    try:
        image = linker.add(source).link()
        say(names=linker.result.lowered_names, notes=linker.result.plan.notes,
            kernels=[one.name for one in inspect(image).entries[0].symbols if one.kernel])
    except BadInput as error:
        say(code=error.code.name, text=str(error), input=error.index)
""", TILE)
    assert (said[0]["code"], said[0]["input"]) == ("UNSUPPORTED_KIND", 0)
    assert "tileiras" in said[0]["text"] and "--ignore-tile" in said[0]["text"]
    assert said[1]["names"] == {"simt": "simt"} and said[1]["kernels"] == ["simt"]
    assert any("bytes of Tile IR are left out" in note for note in said[1]["notes"])
    assert any("does not define tile" in note for note in said[1]["notes"])


# ---- headers in memory ----

INCLUDES = '''\
#include "inner/scale.h"
#include <count.h>
extern "C" __global__ void kernel(float *x) { for (int i = 0; i < COUNT; i++) x[i] *= scale(); }
'''
HEADERS = {"inner/scale.h": "#include <factor.h>\n__device__ float scale() { return FACTOR; }\n",
           "factor.h": "#define FACTOR 7.0f\n", "count.h": "#define COUNT 3\n"}


@pytest.mark.parametrize("more", ["", "lto=True", "isolated=True"])
def test_source_includes_headers_from_memory(world, python, installed, more):
    # A file of the same name comes after them.
    (world.folder("headers") / "count.h").write_text("#error the file\n")
    said = python(f"""
source, headers, folder = sys.argv[1], json.loads(sys.argv[2]), "-I" + sys.argv[3]
linker = Linker("sm_80", symbols=["kernel"], compile_options=[folder], {more})
made = linker.add(CUSource(source, "k.cu", headers=headers)).link()
headers["factor.h"] = headers["factor.h"].replace("7", "8")
other = Linker("sm_80", {more}).add(CUSource(source, "k.cu", headers=headers)).link()
say(made=made[:4] == b"\\x7fELF", other=made != other)
del headers["factor.h"]
for headers in (headers, None):
    error = refusal(Linker("sm_80", {more}).add(CUSource(source, "k.cu", headers=headers)))
    say(code=error.code.name, log=error.log)
""", INCLUDES, json.dumps(HEADERS), world.root / "headers")
    assert said[0] == {"made": True, "other": True}
    assert [one["code"] for one in said[1:]] == ["COMPILE_FAILED"] * 2
    assert "factor.h" in said[1]["log"] and "inner/scale.h" in said[2]["log"]


def test_the_command_takes_headers_from_files(world, installed):
    folder = world.folder("some headers")
    words = []
    for number, (name, text) in enumerate(HEADERS.items()):
        (folder / f"{number} = x").write_text(text)
        words += ["--header", f"{name}={folder / f'{number} = x'}"]
    (world.root / "k.cu").write_text(INCLUDES)
    said = json.loads(world.cli("link", "--json", "--arch", "sm_80", "-o", "out", *words,
                                "k.cu").out)
    assert said["code"] is None and said["size"]
    for words, status, what in ((words[:-2], 1, "COMPILE_FAILED"), (["--header=a"], 2, "--header"),
                                (["--header", "a=none"], 2, "none does not exist"),
                                (["--header", "a=out"], 2, "out: there is a NUL in it")):
        done = world.cli("link", "--arch", "sm_80", "-o", "out", *words, "k.cu", check=False)
        assert done.status == status and what in done.out + done.err


# ---- logs as they come ----

@pytest.mark.parametrize("more", ["", "isolated=True"])
def test_notes_and_logs_are_told_once(python, installed, more):
    said = python(f"""
import threading
told = []
def note(kind, text, input):
    told.append([kind.name, text, input.name if input else None])
    assert threading.current_thread() is threading.main_thread()
warns = "static __device__ int unused(int x) {{ int y; return x; }}"
linker = Linker("sm_80", lto=True, options=["-verbose"], log=note, {more})
linker.add(CUSource(warns + sys.argv[1], "k.cu"))
linker.link()
say(told=told, info=linker.result.info_log)
linker = Linker("sm_80", lto=True, log=note, {more}).add(PTXSource(sys.argv[2], "good"),
                                                         PTXSource(sys.argv[3], "bad"))
for expected in (LinkFailed, KeyError):
    told.clear()
    error = raised(expected, linker.link)
    say(told=told, log=getattr(error, "log", ""))
    def linker_log(kind, text, input):
        told.append([kind.name, text, None])
        raise KeyError(text)
    linker.log = linker_log
""", 'extern "C" __global__ void k() {}', PTX,
                  PTX.replace("ret;", "frobnicate;").replace("kernel", "k"))
    logs = [text for kind, text, _ in said[0]["told"] if kind == "INFO"]
    assert "\n".join(logs) == said[0]["info"] and len(logs) == 2
    assert "unused" in logs[0] and [input for kind, _, input in said[0]["told"]
                                    if kind == "INFO"] == ["k.cu", None]
    assert [kind for kind, *_ in said[0]["told"]] == ["INFO", "INFO"]
    notes = [text for kind, text, _ in said[1]["told"] if kind == "NOTE"]
    assert any("-lto is left out" in text for text in notes) and len(set(notes)) == len(notes)
    kind, log, input = said[1]["told"][-1]
    assert (kind, log, input) == ("ERROR", said[1]["log"], "bad") and "frobnicate" in log
    # The first that it was told of was the last.
    assert said[2]["told"] == [["NOTE", notes[0], None]]


def test_what_a_callback_may_do(python, installed):
    said = python("""
import threading, time
warns = "#warning here\\n" + sys.argv[1]
def cancel(kind, text, input):
    time.sleep(.5)          # for which the link waits
    linker.cancel()
linker = Linker("sm_80", isolated=True, log=cancel).add(CUSource(warns, "k.cu"))
say(code=refusal(linker).code.name)
images, threads = [], set()
def work():
    def link(kind, text, input):
        threads.add((threading.get_ident(), own))
        images.append(Linker("sm_80").add(CUSource(sys.argv[1])).link())
    own = threading.get_ident()
    images.append(Linker("sm_80", log=link).add(CUSource(warns)).link())
workers = [threading.Thread(target=work) for _ in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
say(images=len(images), own=[one == other for one, other in threads])
say(error=str(raised(TypeError, lambda: Linker("sm_80", log="not a function"))))
""", 'extern "C" __global__ void k() {}')
    assert said[0] == {"code": "CANCELLED"}
    assert said[1]["images"] == 8 and all(said[1]["own"]) and said[1]["own"]
    assert "cannot be called" in said[2]["error"]


# ---- settings ----

DIVIDES = 'extern "C" __global__ void k(float *x) { *x = sqrtf(x[1]) / x[2] * x[3] + x[4]; }'


@pytest.mark.parametrize("more", ["", "lto=True", "isolated=True"])
def test_settings_reach_compiler_and_linker(python, installed, more):
    said = python(f"""
def made(**settings):
    linker = Linker("sm_80", options=["-verbose"], **settings, {more})
    linker.add(CUSource(sys.argv[1], "k.cu"))
    linker.link()
    plan = linker.result.plan
    say(compile=plan.compile_options[2:], link=[one for one in plan.options[1:] if one != "-lto"],
        code=linker.result.image.hex(), lines=b".debug_line" in linker.result.image)
made()
made(lineinfo=True)
made(debug=True)
made(fast_math=True)
made(fast_math=True, ftz=False, prec_div=True, prec_sqrt=True, fma=True)
made(max_registers=24, optimize=3, split_compile=1, fast_compile="0")
""", DIVIDES)
    plain, lines, debug, fast, precise, others = said
    assert [one["compile"] for one in said] == [
        [], ["-lineinfo"], ["-G"], ["-use_fast_math"],
        ["-use_fast_math", "-ftz=false", "-prec-div=true", "-prec-sqrt=true", "-fmad=true"],
        ["-maxrregcount=24", "-Ofc=0", "-split-compile=1"]]
    assert [one["link"] for one in said] == [[*words, "-verbose"] for words in (
        [], ["-lineinfo"], ["-g"], ["-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"],
        ["-ftz=0", "-prec-div=1", "-prec-sqrt=1", "-fma=1"],
        ["-O3", "-maxrregcount=24", "-Ofc=0", "-split-compile=1"])]
    assert [one["lines"] for one in said] == [False, True, True, False, False, False]
    assert len(fast["code"]) < len(plain["code"]) < len(debug["code"])
    assert len(precise["code"]) == len(plain["code"])


def test_a_setting_that_a_tool_lacks(python):
    said = python("""
def refused(nvjitlink, nvrtc, driver=None, **settings):
    here = Environment(driver=driver, nvjitlink=nvjitlink, nvrtc=nvrtc)
    planned = Linker("sm_80", environment=here, **settings).add(
        CUSource("int x;", "k.cu"), CUSource("int y;", "l.cu")).plan()
    say(code=planned.code.name, had=planned.had, needed=planned.needed, options=planned.options)
refused("12.9", "11.8", split_compile=2)
refused("12.9", "12.8", fast_compile="mid")
refused("12.4", "12.4", fast_compile="max")
refused("12.9", "12.9", optimize=2)
refused(None, "12.0", "12.4", optimize=2, max_registers=32, lineinfo=True, debug=True)
refused(None, "12.0", "12.4", split_compile=2)
refused("12.9", "12.9", optimize=3, options=["-O0"])
refused("12.9", "12.9", max_registers=3, compile_options=["--maxrregcount=4"])
""")
    assert [(one["code"], one["had"], one["needed"]) for one in said] == [
        ("OPTION_UNSUPPORTED", "nvrtc 11.8", "nvrtc 12.0 or later"),
        ("OPTION_UNSUPPORTED", "nvrtc 12.8", "nvrtc 12.9 or later"),
        ("OPTION_UNSUPPORTED", "nvrtc 12.4", "nvrtc 12.5 or later"),
        ("OPTION_UNSUPPORTED", "-O2", "no such option"), ("OK", None, None),
        ("OPTION_UNSUPPORTED", "-split-compile=2", "nvJitLink"),
        ("BAD_OPTION", "-O0", None), ("BAD_OPTION", "--maxrregcount=4", None)]
    assert said[4]["options"][1:] == [
        "CU_JIT_GENERATE_LINE_INFO=1", "CU_JIT_GENERATE_DEBUG_INFO=1",
        "CU_JIT_OPTIMIZATION_LEVEL=2", "CU_JIT_MAX_REGISTERS=32"]


# Settings, options of the compiler that say the same or a part of it, and others that do not.
SAID_TWICE = [
    ({"lineinfo": True}, ["-lineinfo", "--generate-line-info"], ["-G"]),
    ({"debug": True}, ["-G", "--device-debug"], ["-lineinfo", "--dopt=on"]),
    ({"max_registers": 32}, ["--maxrregcount=4"], ["-use_fast_math"]),
    ({"fast_math": True}, ["--use_fast_math", "-ftz=false", "--prec-div=true", "-prec-sqrt=true",
                           "--fmad=false"], ["-fmad-x", "-G"]),
    *[({name: False}, ["--use_fast_math", f"--{option}=true"], ["--maxrregcount=4"])
      for name, option in (("ftz", "ftz"), ("prec_div", "prec-div"), ("prec_sqrt", "prec-sqrt"),
                           ("fma", "fmad"))],
    ({"ftz": True}, [], ["-fmad=true"]),
    ({"fast_compile": "max"}, ["-Ofc=min", "--Ofast-compile=min"], ["-split-compile=2"]),
    ({"split_compile": 2}, ["--split-compile=1"], ["-lineinfo"]),
]


def test_what_a_setting_and_an_option_say_is_refused_in_every_spelling(python):
    said = python("""
for settings, same, others in json.loads(sys.argv[1]):
    for option in same + others:
        planned = Linker("sm_80", environment=Environment(nvjitlink="12.9", nvrtc="12.9"),
                         compile_options=[option], **settings).add(CUSource("int x;")).plan()
        say(option=option, code=planned.code.name, had=planned.had)
""", json.dumps(SAID_TWICE))
    assert said == [
        {"option": option, **({"code": "BAD_OPTION", "had": option} if option in same else
                              {"code": "OK", "had": None})}
        for _, same, others in SAID_TWICE for option in same + others]


def test_the_command_takes_settings(world, installed):
    (world.root / "k.cu").write_text(DIVIDES)
    said = json.loads(world.cli("link", "--json", "--arch", "sm_80", "-o", "out", "--setting",
                                "lineinfo", "--setting=max-registers=32", "k.cu").out)
    assert said["options"] == ["-arch=sm_80", "-lineinfo", "-maxrregcount=32"]
    for wrong in ("lines", "ftz", "ftz=2"):
        done = world.cli("link", "--arch", "sm_80", "-o", "out", "--setting", wrong, "k.cu",
                         check=False)
        assert done.status == 2 and ": give a setting that --help lists" in done.err


# ---- in a process of its own ----

DOES = PTX + "//DO {}\n"


@pytest.fixture
def fake(world):
    world.loader(handles.fake("nvJitLink", "13.0",
                              build.TESTS / "isolation" / "fake_nvjitlink.c"))


def test_isolated(python, fake):
    said = python("""
import math, pickle
for what, more in (("well", {"isolated": True}), ("crash", {"isolated": True}),
                   ("exit", {"time_limit": math.inf}), ("hang", {"time_limit": 0.5}),
                   ("eat", {"memory_limit": 64 << 20})):
    linker = Linker("sm_80", environment=Environment(nvjitlink="13.0"), **more)
    error = refusal(linker.add(PTXSource(sys.argv[1].format(what), "it")))
    say(code=error.code.name, input=error.input.name, log=error.log, call=error.call) if error else \
        say(code="OK", image=len(linker.result.image) > 0)
""", DOES.replace("{ ret; }", "{{ ret; }}"))
    assert [one["code"] for one in said] == ["OK", "CRASHED", "CRASHED", "TIME_LIMIT",
                                             "MEMORY_LIMIT"]
    for one, what in zip(said[1:], ("crash", "exit", "hang", "eat")):
        assert f"fake: {what}" in one["log"]
        assert (one["input"], one["call"]) == ("it", "nvJitLinkAddData")


def test_no_input_is_named_of_what_has_not_begun(python, fake):
    said, = python("""
linker = Linker("sm_90", environment=Environment(nvjitlink="13.0"), time_limit=1e-6)
error = refusal(linker.add(PTXSource(sys.argv[1], "it"), PTXSource(sys.argv[1].replace("kernel", "other"), "that")))
say(code=error.code.name, input=error.input is not None, call=error.call)
""", PTX)
    assert said["code"] == "TIME_LIMIT" and (not said["input"] or said["call"] == "nvJitLinkAddData")


def test_cancelled_from_another_thread(python, fake):
    said = python("""
import threading, time
linker = Linker("sm_80", environment=Environment(nvjitlink="13.0"), isolated=True)
linker.add(PTXSource(sys.argv[1], "it"))
codes = []
threads = [threading.Thread(target=lambda: codes.append(refusal(linker).code.name)) for _ in range(4)]
for thread in threads:
    thread.start()
while len(linker._running) < 4:
    time.sleep(0.01)
linker.cancel()
for thread in threads:
    thread.join()
say(codes=codes, running=len(linker._running))
say(error=str(raised(ValueError, Linker("sm_80").cancel)))
""", DOES.replace("{}", "hang"))
    assert said[0] == {"codes": ["CANCELLED"] * 4, "running": 0}
    assert "isolated" in said[1]["error"]


def test_ltoir_is_linked_in_steps(python, installed):
    said = python("""
class To(Linker):
    def __init__(self, output, *inputs):
        super().__init__("sm_80", output=output, environment=Environment(nvrtc="13.5", nvjitlink="13.5"))
        self.add(*inputs)
calls = CUSource('extern "C" __device__ int f(int); extern "C" __global__ void kernel(int *a) { *a = f(*a); }')
half = LTOIR(To(Output.LTOIR, calls).link())
error = refusal(To(Output.CUBIN, half))
say(code=error.code.name, names=[one.name for one in error.symbol_errors])
whole = To(Output.LTOIR, half, CUSource('extern "C" __device__ int f(int x) { return x + 1; }')).link()
say(image=b"kernel" in To(Output.CUBIN, LTOIR(whole)).link())
""")
    assert said == [{"code": "UNDEFINED_SYMBOL", "names": ["f"]}, {"image": True}]


KEYS = """
import hashlib, os
def key(*inputs, arch="sm_80", at=("12.9", "12.9"), driver="12.9", **more):
    return Linker(arch, environment=Environment(driver=driver, nvrtc=at[0], nvjitlink=at[1]),
                  **more).add(*inputs).key()
text = "__global__ void k() {}"
source, other = CUSource(text), PTXSource(".version 8.0\\n.target sm_80\\n.address_size 64\\n"
                                          ".visible .entry p() { ret; }")
def helper(body, **more):
    return SupportModule("helper", CUSource(body), ["f"], **more)
open("k.cu", "w").write(text)
say(same=[key(source), key(source), key(CUSource(text)), key(source, isolated=True),
          key(source, driver="12.8"), key(CUSource.from_path("k.cu", "<unnamed-cu>"))])
say(different=[
    key(source), key(CUSource(text + " ")), key(CUSource(text, "name")), key(source, other),
    key(other, source), key(source, arch="sm_90"), key(source, lto=True), key(source, lineinfo=True),
    key(source, at=("12.8", "12.9")), key(source, at=("12.9", "13.0"), driver="13.0"),
    key(source, at=("12.4", None)), key(source, at=("12.4", None), driver="12.8"),
    key(source, symbols=["k"]), key(CUSource(text, name_expressions=["k"])),
    key(CUSource(text, headers={"a": "b"})), key(CUSource(text, headers={"a": "c"})),
    key(source, compile_options=["-DA", "-DB"]), key(source, compile_options=["-DA-DB"]),
    key(CUSource(text, main=True), support=[helper("a")]),
    key(CUSource(text, main=True), support=[helper("b")])])
say(refused=raised(LinkError, lambda: key(source, at=(None, "12.9"))).code.name)
"""


def test_a_key_is_of_all_that_makes_the_image(python):
    same, different, refused = python(KEYS)
    assert len(set(same["same"])) == 1 and len(same["same"][0]) == 64
    assert len(set(different["different"])) == len(different["different"])
    assert different["different"][0] == same["same"][0]
    assert refused == {"refused": "NVRTC_REQUIRED"}
    assert python(KEYS)[0] == same      # in another process, too


CONTRADICTION = """
def link_both(**options):
    linker = Linker("sm_90", **options).add(CUSource("extern \\"C\\" __device__ int f(int x) { return x; }"))
    linker.add(PTXSource(".version 8.0\\n.target sm_90\\n.address_size 64\\n.extern .func f;\\n"
                         ".visible .entry k() { call f; ret; }"))
    linker.link()
Linker("sm_90", output=Output.LTOIR).add(CUSource("__device__ int g() { return 1; }")).link()
"""


def test_a_crash_of_nvjitlink_alone_after_a_link_to_ltoir(python, installed):
    """The page says so; once it is gone, take it from there."""
    say = CONTRADICTION + "link_both(isolated=True)\nsay(linked=True)\n"
    assert python(say) == [{"linked": True}]
    with pytest.raises(AssertionError, match="ended with -11"):
        python(CONTRADICTION + "link_both()\n")
