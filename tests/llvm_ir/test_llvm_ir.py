# SPDX-License-Identifier: MIT
"""LLVM IR that is linked: on fakes of libnvvm, and on real ones with their libdevice."""
import json

import pytest

import build
import handles
import made_up
import programs

HERE = build.TESTS / "llvm_ir"
DEVICE = "BC\xc0\xdelibdevice"
TOOLKITS = ["12.9", "13.5"]
# Where a library's toolkit or package has libnvvm, and libdevice.
LAYOUTS = {
    "toolkit": ("cuda/lib64", "cuda/nvvm/lib64/libnvvm.so.4", "cuda/nvvm/libdevice"),
    "targets": ("cuda/targets/x86_64-linux/lib", "cuda/nvvm/lib64/libnvvm.so.4",
                "cuda/nvvm/libdevice"),
    "wheel of 12": ("nvidia/nvjitlink/lib", "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so",
                    "nvidia/cuda_nvcc/nvvm/libdevice"),
    "wheel of 13": ("nvidia/cu13/lib", "nvidia/cu13/lib/libnvvm.so.4", "nvidia/cu13/nvvm/libdevice"),
    "debian": ("usr/lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/libnvvm.so.4",
               "usr/lib/nvidia-cuda-toolkit/libdevice"),
}


def fake_nvvm():
    return build.compile("libnvvm.so.4", "-std=gnu11", "-g", "-O1", "-w", "-shared", "-fPIC",
                         *handles.FLAGS, "-Wl,-soname,libnvvm.so.4", HERE / "fake_nvvm.c")


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("latin-1"))
    return path


def install(world, layout="toolkit", nvvm=True, device=True, version="13.0", names=("nvJitLink",)):
    """Fakes of a toolkit; where its parts lie."""
    library, compiler, libdevice = LAYOUTS[layout]
    for name in names:
        source = build.TESTS / "isolation" / "fake_nvjitlink.c" if name == "nvJitLink" else None
        world.put(library, handles.fake(name, version, source))
    world.search(world.root / library)
    major, minor = version.split(".")
    put(world.root / library.split("/")[0] / "include" / "cuda.h",
        f"#define CUDA_VERSION {int(major) * 1000 + int(minor) * 10}\n")
    if nvvm:
        put(world.root / compiler, fake_nvvm().read_bytes())
    if device:
        put(world.root / libdevice / "libdevice.10.bc", DEVICE)
    return world.root / compiler


@pytest.fixture
def installed(world):
    """Fakes of a toolkit."""
    return install(world)


FUNCTION = made_up.ptx(body=".visible .func f()\n{\n\tret;\n}\n")
LIST = '@llvm.used = appending global [1 x ptr] [ptr @k], section "llvm.metadata"\n'


def text(does="well"):
    return f'target triple = "nvptx64-nvidia-cuda"\n; DO {does}\n'


def say(world, *words, does="well", command="link", source=None, arch="sm_80", **options):
    """What the command says in JSON of one input."""
    path = put(world.root / "k.ll", source or text(does))
    output = ["-o", world.root / "image"] if command == "link" else []
    return json.loads(world.cli(command, "--json", f"--arch={arch}", *output, *words, path, check=False,
                                **options).out)


def both_say(world, *words, **options):
    """What link says, which plan said before."""
    plan = say(world, *words, command="plan", **options)
    done = say(world, *words, **options)
    for key in ("decision", "code", "rule", "nvjitlink", "nvrtc", "nvvm", "choice", "compile_ir",
                "inputs", "notes", "environment"):
        assert plan[key] == done[key], (key, plan, done)
    return done


# ---- fakes ----

@pytest.mark.parametrize("layout", LAYOUTS)
def test_where_libnvvm_is(world, layout):
    install(world, layout, version="12.9" if layout == "wheel of 12" else "13.0")
    said = both_say(world)
    assert (said["code"], said["decision"]) == (None, "nvjitlink")
    assert said["inputs"][0]["reason"].endswith("to PTX for compute_80, with libdevice")
    assert said["environment"]["nvvms"] and said["notes"] == []
    assert said["info_log"].startswith(f"module {world.root}/k.ll of {len(text())}, libdevice of 13: ")
    assert said["info_log"].endswith(" -arch=compute_80")


def test_beside_nvrtc_alone_and_for_the_driver(world):
    install(world, names=("nvrtc",))
    world.loader(handles.fake_driver())
    said = say(world, command="plan")
    assert (said["code"], said["decision"], said["nvvm"]) == (None, "driver", "13.0")


@pytest.mark.parametrize("how", [(), ("--isolated",)], ids=["here", "isolated"])
@pytest.mark.parametrize("does, code, message", [
    ("invalid", "COMPILE_FAILED", "libnvvm 13.0: nvvmVerifyProgram of {path} returned 6"
     " (NVVM_ERROR_INVALID_IR): k.ll (3, 15): error: parse expected type"),
    ("fail", "COMPILE_FAILED", "libnvvm 13.0: nvvmCompileProgram of {path} returned 9"
     " (NVVM_ERROR_COMPILATION): module {path} of"),
    ("newer-bitcode", "COMPILE_FAILED", "Reader: 'LLVM 20.0.0'); have LLVM 20 or earlier write the"
     " bitcode, or take a later libnvvm"),
    ("warn-and-fail", "COMPILE_FAILED", "(NVVM_ERROR_COMPILATION): It cannot be compiled"),
    ("no-memory", "NO_MEMORY", "nvvmCompileProgram of {path} returned 1"),
    ("reject", "COMPILE_FAILED", "nvvmAddModuleToProgram of {path} returned 4"),
    ("reject-lazily", "COMPILE_FAILED", "nvvmLazyAddModuleToProgram of libdevice returned 4"),
    ("no-result", "COMPILE_FAILED", "nvvmGetCompiledResultSize of {path} returned 5"),
    ("bad-size", "BAD_IMAGE", "reported success"),
    ("garbage", "KIND_MISMATCH", "after compiling: {path}"),
    ("newer", "PTX_TOO_NEW", "after compiling: {path}: PTX 99.0"),
    ("bad-log", None, None), ("well", None, None)])
def test_how_it_fails_is_typed(world, installed, how, does, code, message):
    said = say(world, *how, does=does)
    assert said["code"] == code
    if code:
        assert message.format(path=world.root / "k.ll") in said["message"] and said["input"] == 0
    if does in ("invalid", "fail"):
        assert said["error_log"] and not said["info_log"]
        assert said["backend_call"].startswith("nvvm") and said["backend_status"] in (6, 9)


def test_damaged_bitcode_is_not_called_too_new(world, installed):
    assert say(world, does="bad-bitcode")["message"].endswith("Reader: 'LLVM 20.0.0')")


def test_how_it_ends_is_a_result(world, installed):
    """tests/isolation has other ends."""
    said = say(world, "--isolated", does="crash")
    assert said["code"] == "CRASHED" and said["input"] == 0
    assert said["message"].startswith("libnvvm, in a process of its own, ")
    assert said["message"].endswith(f"in nvvmCompileProgram of {world.root}/k.ll")


@pytest.mark.parametrize("mode, expected", [(0o755, "nvjitlink"), (0o777, "refused")])
def test_a_libnvvm_that_is_a_link(world, mode, expected):
    compiler = install(world)
    other = put(world.root / "other" / "libnvvm.so.4", compiler.read_bytes())
    other.parent.chmod(mode)
    compiler.unlink()
    compiler.symlink_to(other)
    assert say(world, command="plan")["decision"] == expected


def test_the_file_that_is_named_is_the_only_one(world):
    compiler = install(world)
    other = put(world.root / "other" / "libnvvm.so.4", compiler.read_bytes())
    world.env["LAZYCUDA_NVVM"] = str(other)
    said = both_say(world)
    # Nothing says of which toolkit it is, and no libdevice goes with it.
    assert (said["code"], said["nvvm"]) == (None, None) and len(said["notes"]) == 2
    assert any("the linker checks more than is known here" in note for note in said["notes"])
    assert said["inputs"][0]["reason"] == "compiled by libnvvm of unknown version to PTX for compute_80"
    assert both_say(world, "--policy=strict")["code"] == "INSUFFICIENT_METADATA"
    said = say(world, "--isolated")
    assert said["code"] is None


@pytest.mark.parametrize("named, why", [
    ("none", "LAZYCUDA_NVVM=none hides it"), ("libnvvm.so.4", "it is not an absolute path"),
    ("{root}/nowhere/libnvvm.so.4", "there is no such file"), ("{root}/k.ll", "is not an ELF file"),
    ("{root}/stub/libnvvm.so.4", "it is a stub"), ("{root}/open/libnvvm.so.4", "anybody")])
def test_a_named_file_that_is_none(world, named, why):
    compiler = install(world)
    put(world.root / "stub" / "libnvvm.so.4", build.stub("nvJitLink").read_bytes())
    put(world.root / "open" / "libnvvm.so.4", compiler.read_bytes()).parent.chmod(0o777)
    world.env["LAZYCUDA_NVVM"] = named.format(root=world.root)
    said = both_say(world)
    assert said["code"] == "NVVM_REQUIRED" and said["environment"]["nvvms"] == []
    assert "install one (nvidia-cuda-nvcc-cu12 or nvidia-nvvm of PyPI" in said["message"]
    # As a program has it, which gives no versions.
    program = handles.link(world, world.root / "k.ll")
    assert program["code"] == "NVVM_REQUIRED" and why in program["message"]


def test_without_one(world):
    install(world, nvvm=False, device=False)
    assert both_say(world)["code"] == "NVVM_REQUIRED"
    said = handles.link(world, world.root / "k.ll")
    assert said["code"] == "NVVM_REQUIRED"
    assert "none lies where the toolkit or the packages of an nvJitLink" in said["message"]


@pytest.mark.parametrize("content, why", [(b"\x7fELF", None), (None, "lacks functions")])
def test_a_damaged_one(world, content, why):
    """One that is no library is passed over; what it lacks is seen when it is loaded."""
    compiler = install(world)
    put(compiler, content or (world.root / "cuda/lib64/libnvJitLink.so.13").read_bytes())
    said = say(world)
    assert said["code"] == ("BACKEND_MISSING" if why else "NVVM_REQUIRED")
    assert not why or why in said["message"]


def test_another_version_than_those_here(world):
    compiler = install(world)
    have = ("--driver=none", "--nvjitlink=13.0", "--nvrtc=none", "--nvvm=12.9")
    said = say(world, *have)
    assert said["code"] == "BACKEND_MISSING"
    assert said["message"] == "no libnvvm 12.9 is here: what is here is 13.0"
    said = say(world, *have, LAZYCUDA_NVVM=str(compiler))
    assert said["message"] == (f"no libnvvm 12.9 is here: LAZYCUDA_NVVM={compiler} is the only one here,"
                               " of version 13.0")
    said = say(world, *have, LAZYCUDA_NVVM="none")
    assert said["message"] == "no libnvvm 12.9 is here: LAZYCUDA_NVVM=none hides it"


def test_a_constraint_is_for_it_too(world, installed):
    assert both_say(world, LAZYCUDA_CONSTRAINT=">=13")["code"] is None
    install(world, "wheel of 12", version="12.9")
    world.env["LAZYCUDA_NVJITLINK"] = str(world.root / "cuda/lib64/libnvJitLink.so.13")
    assert both_say(world)["nvvm"] == "13.0"


def test_without_libdevice(world):
    install(world, device=False)
    said = both_say(world)
    assert said["code"] is None and "no libdevice.10.bc goes with libnvvm 13.0" in said["notes"][0]
    # What comes in the name of a call, or in a comment, declares nothing.
    for more, code in (("declare float @__nv_sinf(float)\n", "LIBDEVICE_REQUIRED"),
                       ("  %declare @__nv_x\n; declare float @__nv_sinf(float)\n", None),
                       ('c"declare " @__nv_sinf(float)\ndeclares @__nv_sinf\n', None),
                       ("declare ; libdevice's\n float\r@__nv_sinf(float)\n", "LIBDEVICE_REQUIRED"),
                       ("declare float @__nvvm_reflect(float)\n@__nv_sinf\n", None),
                       # as llvmlite writes names
                       ('declare double @"__nv_sin"(double %".1")\n', "LIBDEVICE_REQUIRED"),
                       ('declare void @f(i8*)\n@g = global i8* @"__nv_x"\n', None),
                       ("declare void @f()\n" * 400 + "declare i32 @__nv_abs(i32)", "LIBDEVICE_REQUIRED")):
        assert both_say(world, source=text() + more)["code"] == code


def test_a_libdevice_of_another_major_is_none(world, installed):
    put(world.root / "nvidia_cuda_nvcc_cu12-12.9.86.dist-info" / "RECORD",
        LAYOUTS["toolkit"][2] + "/libdevice.10.bc,,\n")
    assert not both_say(world)["inputs"][0]["reason"].endswith("libdevice")


def test_settings_and_support_modules(world, installed):
    said = both_say(world, "--setting=debug", "--setting=ftz=1", "--setting=lineinfo")
    assert said["compile_ir"]["options"] == ["-arch=compute_80", "-g", "-opt=0", "-ftz=1"]
    assert said["info_log"].endswith(" -arch=compute_80 -g -opt=0 -ftz=1")
    main, ptx = put(world.root / "main.ll", text("calls")), put(world.root / "f.ptx", FUNCTION)
    said = handles.link(world, "--main", main, "--support", f"{ptx}:f")
    assert said["code"] == "OK", said


def test_bitcode_in_an_archive_is_to_be_taken_out(world, installed):
    for name, content in ((b"g.bc", made_up.bitcode()), (b"g.ll", text().encode())):
        archive = made_up.archive(made_up.member(name + b"/", content))
        said = both_say(world, source=archive.decode("latin-1"))
        assert said["code"] == "UNSUPPORTED_KIND" and f"({name.decode()}): " in said["message"]
        assert "take it out of the archive" in said["message"]


def used(*names):
    """A list with these."""
    return f'@llvm.used = appending global [{len(names)} x ptr] [{", ".join("ptr " + n for n in names)}]\n'


KERNEL = "define ptx_kernel void @k() {\n  ret void\n}\n"
BY_NODE = 'define void @k() { ret void }\n!nvvm.annotations = !{!0}\n!0 = !{ptr @k, !"kernel", i32 1}\n'
LONG = "k" * 2048


@pytest.mark.parametrize("module", [
    used("@k") + KERNEL, used("@k", "@v") + "@v = global i32 1\n" + KERNEL,
    # typed, as numba and clang write it
    BY_NODE.replace("ptr", "void ()*") + "@llvm.used = appending global [1 x i8*] [i8* bitcast (void ()* @k to i8*)],"
    ' section "llvm.metadata"\n',
    "@v = addrspace(1) externally_initialized global [2 x i32] zeroinitializer, align 4\n"
    "@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @v to ptr)]\n",
    # in other words, in other lines, and escaped
    'define ptx_kernel void @"a b"() { ret void }\n' + used(r'@"\61 b"'),
    "@llvm.used\n=\nappending global[1 x ptr][ptr @k];, ptr @v\ndefine\nptx_kernel\nvoid\n@k(){ret void}\n",
    # what is not offered
    used() + "define void @f() { ret void }\ndeclare ptx_kernel void @g()\n@e = external global i32\n",
    used() + "@a = internal global i32 0 @b = private unnamed_addr constant i32 0\n@0 = private global i8 1\n"
    "@llvm.compiler.used = appending global [1 x ptr] [ptr @a]\n",
    # a list is for what is offered alone
    "define void @f() { ret void }\n@e = external global i32\n@i = internal global i32 0\n",
    KERNEL + "\0\0 ; \0\n" + used("@k"),
    "@s = external addrspace(3) global [0 x float], align 4\n" + KERNEL + used("@k"),
    used() + "@e = available_externally global i32 1\n@w = extern_weak global i32\n",
    used() + 'define void @f(ptr %k) { ret void }\n!0 = !{ptr @f, !"align", i32 8}\n!1 = !{!"kernel"}\n',
    used() + 'define {i32, i32} @f() "k"="v" prefix {i32} {i32 1} personality ptr @g { ret {i32, i32} undef }\n',
    used("@k") + 'source_filename = "a"\ntarget triple = "nvptx64"\n$c = comdat any\n%t = type { i32 }\n' + KERNEL +
    'attributes #0 = { nounwind "a"="b" }\n!x = !{!0}\n!0 = distinct !{!0, !"; @k = {"}\n',
])
def test_where_all_is_listed_it_is_ltoir(world, installed, module):
    assert both_say(world, "--lto", source=text() + module)["compile_ir"]["to"] == "ltoir"


@pytest.mark.parametrize("module, lacks", [
    (KERNEL, "kernel k"), (KERNEL + "; @llvm.used \n", "kernel k"), (KERNEL + "!x = !{!0}; @llvm.used.x\n", "kernel k"),
    (KERNEL + used("@other"), "kernel k"), (BY_NODE + used("@other"), "kernel k"),
    (KERNEL + "define ptx_kernel void @l() { ret void }\n" + used("@k"), "kernel l"),
    ("define cc 71 void @k() { ret void }\n" + used(), "kernel k"),
    (r'define void @k() { ret void } !0 = !{ptr @k, !"\6bernel", i32 1}' + used(), "kernel k"),
    ('define void @k() { ret void }\n!0 = !{\nvoid()* @k,; !"no"\n!"maxntidx", i32 1, !"kernel", i32 1}\n'
     + used(), "kernel k"),
    (used() + "@v = global i32 1", "variable v"),
    ("@v = addrspace(4) externally_initialized global [4 x float] zeroinitializer\n" + used(), "variable v"),
    ("@v = weak hidden constant i32 1\n" + used(), "variable v"),
    ("@v = alias i32, ptr @w\n" + used(), "variable v"),
    ("@v = linkonce_odr externally_initialized global i32 7\n" + used(), "variable v"),
    ("@llvm = global i32 0\n" + used(), "variable llvm"),
    ("define ptr @f() { ret ptr @v }\n@v = common global i8 0\n" + used(), "variable v"),
    ("@v = common global i8 0\n@w = alias i8, ptr @v\n" + used("@w"), "variable v"),
    # what comes after the list is not in it
    (used() + "uselistorder ptr getelementptr (i8, ptr @k), { 1, 0 }\n" + KERNEL, "kernel k"),
    (used() + "@w = internal global [1 x ptr] [ptr @k]\n" + KERNEL, "kernel k"),
    (used().strip() + "; [ptr @k]\n" + KERNEL, "kernel k"), (used().strip() + ', section "@k"\n' + KERNEL, "kernel k"),
    ("@llvm.compiler.used = appending global [1 x ptr] [ptr @k]\n" + used() + KERNEL, "kernel k"),
    ('define ptx_kernel void @"1"() { ret void }\n@1 = internal global i32 0\n' + used("@1"), "kernel 1"),
    # what is not understood
    (used("@k") + 'module asm ".visible .entry l() { ret; }"\n' + KERNEL, None),
    (used("@k") + KERNEL + "/* define ptx_kernel */\n", None), (used("@k") + KERNEL + "\1", None),
    ("define internal ptx_kernel void @k() { ret void }\n" + used("@k"), None),
    (BY_NODE.replace("define", "define internal") + used("@k"), None),
    (used("@k") + KERNEL + "declare void\n", None), (used("@k") + KERNEL + "{", None),
    (used("@k") + KERNEL + "define ptx_kernel void\n", None), (used("@k") + KERNEL + "@v = other\n", None),
    (used("@0") + "@0 = global i32 0\n", None),
    (used("@0") + 'define void @0() { ret void }\n!0 = !{ptr @0, !"kernel"}\n', None),
    (used("@" + LONG) + KERNEL.replace("@k", "@" + LONG), None), (used('@"k\\00"') + KERNEL, None),
    (KERNEL + "@llvm.used = appending global [1 x ptr] [ptr inttoptr (i64 sub (i64 ptrtoint (ptr @k to i64), i64 1)"
     " to ptr)]\n", None),
])
def test_where_not_all_is_listed_it_is_ptx(world, installed, module, lacks):
    """nvJitLink reports success for an image without it."""
    said = both_say(world, "--lto", source=text() + module)
    assert said["compile_ir"]["to"] == "ptx"
    assert said["notes"][0].endswith(f"that of {world.root}/k.ll lacks the {lacks}" if lacks else
                                     f"not all of {world.root}/k.ll was understood")


def test_of_ltoir_the_names_are_found_in_ptx(world, installed):
    """What IR declares of support modules is seen in PTX alone: the module is linked, then."""
    ptx, made = put(world.root / "f.ptx", FUNCTION), []
    for does in ("calls", "well"):
        main = put(world.root / "main.ll", text(does) + LIST)
        said = handles.link(world, "--lto", "--main", main, "--support", f"{ptx}:f")
        assert said["code"] == "OK" and "-gen-lto" in str(said), said
        made.append(said)
    assert made[0] != made[1]


def offloading(*images, version=1):
    """An object of clang's newer driver."""
    return made_up.compiled(made_up.offload(*images, version=version))


COMPILED = made_up.image(made_up.bitcode(made_up.block(8, b"; DO well")), "sm_80")


def test_each_source_of_an_object_is_compiled(world, installed):
    function = made_up.image(FUNCTION)

    def object_of(*sources):
        return made_up.elf([(".llvm.offloading", b"".join(
            made_up.offload(one, version=2) for one in sources))])

    said = both_say(world, source=object_of(COMPILED, function))
    assert said["code"] is None and [one["entry"] for one in said["inputs"]] == [0, 1]
    # Both define the kernel, which is seen once both are compiled.
    said = say(world, source=object_of(function, COMPILED, COMPILED))
    assert said["code"] == "DUPLICATE_SYMBOL" and said["info_log"].count("module ") == 2, said


def test_a_refusal_says_that_images_are_left_out(world, installed):
    said = both_say(world, source=offloading(made_up.image(made_up.cubin(), producer=made_up.OPENMP)))
    assert said["code"] == "NO_DEVICE_CODE"
    assert "there is no device code in it: " in said["message"] and "is of OpenMP, for nvptx64" in said["message"]


# ---- real ones ----

def real(world, *words, arch="sm_90", check=True, **options):
    said = say(world, *words, arch=arch, **options)
    assert not check or said["code"] is None, said
    return said


@pytest.mark.parametrize("version", TOOLKITS)
@pytest.mark.parametrize("source, arch", [
    (programs.kernel(), "sm_90"), (programs.kernel("opaque"), "sm_100"), (programs.BITCODE, "sm_80")],
    ids=["typed-90", "opaque-100", "bitcode-80"])
def test_a_kernel_that_calls_libdevice(world, here, version, source, arch):
    made = []
    for how in ([], ["--isolated"]):
        said = real(world, *how, source=source, arch=arch)
        assert (said["decision"], said["nvvm"], said["nvjitlink"]) == ("nvjitlink", version, version)
        assert said["notes"] == []
        handles.check_image(world.root / "image")
        made.append((world.root / "image").read_bytes())
    assert made[0] == made[1]
    plan = real(world, source=source, arch=arch, command="plan")
    assert {key: plan[key] for key in ("inputs", "compile_ir", "nvvm", "options")} == {
        key: said[key] for key in ("inputs", "compile_ir", "nvvm", "options")}


@pytest.mark.parametrize("version", TOOLKITS)
@pytest.mark.parametrize("dialect, arch", [("typed", "sm_90a"), ("opaque", "sm_120")])
def test_optimised_at_link_time(world, here, version, dialect, arch):
    """A function of another input is inlined, be that LLVM IR or source."""
    source = put(world.root / "helper.cu", 'extern "C" __device__ float helper(float x) { return x + x; }')
    helper = put(world.root / "helper.ll", programs.listed(programs.helper(), "helper"))
    kernel = programs.listed(programs.kernel(dialect, "@helper"), dialect=dialect)
    for other in (source, helper):
        said = real(world, "--lto", other, source=kernel, arch=arch)
        assert said["lto"] and [one["kind"] for one in said["inputs"]] == ["ltoir"] * 2
        assert said["notes"] == [] and said["info_log"] == ""
        handles.check_image(world.root / "image")
        assert b".text.kernel" in (world.root / "image").read_bytes()
    said = real(world, "--ptx", source, source=kernel, arch=arch)
    assert said["compile_ir"]["to"] == "ltoir"
    ptx = (world.root / "image").read_text()
    assert ".entry kernel" in ptx and "call" not in ptx and ".func" not in ptx


@pytest.mark.parametrize("words", [["--lto"], ["--ptx", "--lto"]])
def test_what_numba_cuda_writes(world, here, version, words):
    """Of dump_numba.py: nothing needs the environment, and no list has it."""
    source = (build.TESTS / "llvm_ir" / "numba_cuda.ll").read_text()
    said = real(world, *words, source=source, arch="sm_90")
    assert said["compile_ir"]["to"] == "ltoir" and said["lto"] and said["notes"] == []
    assert b"_ZN8__main__6kernelB2v1B108" in (world.root / "image").read_bytes()


def ptx_file(world, name, body):
    return put(world.root / name, f".version 8.0\n.target sm_80\n.address_size 64\n{body}")


HELPER_PTX = """.visible .func (.param .b32 r) helper (.param .b32 a)
{
	.reg .f32 %f<3>;
	ld.param.f32 %f1, [a];
	mul.f32 %f2, %f1, 0f41100000;
	st.param.f32 [r], %f2;
	ret;
}
"""
CALLER_PTX = """.extern .func (.param .b32 r) {callee} (.param .b32 a);
.visible .entry caller(.param .u64 p)
{{
	.reg .f32 %f<3>; .reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	{{
	.param .b32 a0; st.param.b32 [a0], 0f40400000; .param .b32 r0;
	call.uni (r0), {callee}, (a0);
	ld.param.f32 %f1, [r0];
	}}
	st.global.f32 [%rd1], %f1;
	ret;
}}
"""
HELPER_SOURCE = 'extern "C" __device__ float helper(float x) { return x + x; }\n'


@pytest.mark.parametrize("version", TOOLKITS)
def test_what_other_code_calls_is_linked_with_optimisation_too(world, here, version):
    """nvJitLink keeps nothing of LTO-IR for PTX: what PTX calls is compiled to PTX."""
    source = put(world.root / "helper.cu", HELPER_SOURCE)
    caller = ptx_file(world, "caller.ptx", CALLER_PTX.format(callee="helper"))
    graph = ptx_file(world, "graph.ptx", CALLER_PTX.format(callee="cudaGraphLaunch"))
    listed = programs.listed(programs.kernel("typed", "@helper"))
    for kernel, other, lto in ((listed, graph, True), (listed, caller, False),
                               (programs.kernel("typed", "@helper"), graph, False)):
        said = real(world, "--lto", source, other, source=kernel)
        notes = [note for note in said["notes"] if "says in its header" not in note]
        assert said["lto"] == lto and len(notes) == (0 if lto else 3)
        assert {"kernel", "caller"} <= handles.symbols(world.root / "image")


@pytest.mark.parametrize("version", TOOLKITS)
def test_a_container_gives_the_code_that_others_call(world, here, version):
    """The LTO-IR in it is none; linked it would be an error."""
    helper = ptx_file(world, "helper.ptx", HELPER_PTX).read_bytes()
    lto = made_up.ltoir(container=(1, 64) if version == "12.9" else (1, 67),
                        ir=(2, 93) if version == "12.9" else (2, 131))
    container = put(world.root / "both.fatbin", made_up.fatbin(
        made_up.entry(8, lto), made_up.entry(1, helper)))
    caller = ptx_file(world, "caller.ptx", CALLER_PTX.format(callee="called"))
    calls = ('extern "C" __device__ float helper(float x);\n'
             'extern "C" __device__ float called(float x) { return helper(x); }\n')
    source = put(world.root / "called.cu", calls)
    said = real(world, "--lto", container, source, source=caller.read_text())
    assert [one["kind"] for one in said["inputs"]] == ["ptx"] * 3
    assert {"caller", "called", "helper"} <= handles.symbols(world.root / "image")
    put(source, HELPER_SOURCE + HELPER_SOURCE.replace("helper", "called"))
    said = real(world, "--lto", container, source, source=caller.read_text(), check=False)
    assert said["code"] == "DUPLICATE_SYMBOL" and said["message"].startswith("after compiling: ")


@pytest.mark.parametrize("version", TOOLKITS)
def test_what_is_defined_twice_is_not_linked_with_optimisation(world, here, version):
    """nvJitLink reports success, and drops one of the two."""
    kernel = ptx_file(world, "kernel.ptx", ".visible .entry kernel(.param .u64 p, .param .f32 x)\n{\n\tret;\n}\n")
    helper = ptx_file(world, "helper.ptx", HELPER_PTX)
    variable = ptx_file(world, "variable.ptx", ".visible .global .u32 state = 7;\n")
    source = 'extern "C" __global__ void kernel(float *p, float x) { *p = x; }\n'
    state = 'extern "C" { __device__ int state = 5; }\n'
    ir = programs.listed(programs.kernel("typed"))
    for other, one in ((kernel, ir), (helper, programs.listed(programs.helper(), "helper")),
                       (kernel, source), (variable, source + state), (helper, source + HELPER_SOURCE)):
        said = real(world, "--lto", other, source=one, check=False)
        assert said["code"] == "DUPLICATE_SYMBOL", said
        planned = real(world, "--lto", other, source=one, command="plan", check=False)
        assert planned["code"] == ("DUPLICATE_SYMBOL" if one.startswith(";") else None)
        if not one.startswith(";"):
            assert ("reported success, but in its log: " if other is kernel else "after compiling: ") in said["message"]
    assert real(world, "--lto", helper, source=source)["lto"]
    weak = put(kernel, kernel.read_text().replace(".visible", ".weak"))
    for one in (ir, source):
        real(world, "--lto", weak, source=one)


@pytest.mark.parametrize("version", ["13.5"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_a_kernel_in_an_offload_binary(world, here, version, arch):
    images = [made_up.image(programs.BITCODE, one, label=made_up.IS_OBJECT)
              for one in ("sm_80", "sm_100")]
    made = []
    for source in (offloading(*images), programs.BITCODE):
        real(world, source=source, arch=arch)
        handles.check_image(world.root / "image")
        made.append((world.root / "image").read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("version", TOOLKITS)
def test_the_newer_dialect_is_not_for_older_targets(world, here, version):
    said = real(world, source=programs.kernel("opaque"), check=False)
    assert said["code"] == "COMPILE_FAILED" and "parse expected type" in said["error_log"]
    assert said["backend_call"] == "nvvmVerifyProgram" and said["backend_status"] == 6
    if version == "13.5":
        real(world, "--option=-nvvm-latest", source=programs.kernel("opaque"))
        handles.check_image(world.root / "image")


LAYOUT = programs.HEAD.split("\n")[1].split('"')[1]
# (the lines in place of the one with the layout, whether there is one)
LAYOUTS_OF_IR = {
    "none": ("", False),
    "commented": (f'; target datalayout = "{LAYOUT}"', False),
    "quoted": (f'source_filename = "target datalayout = {LAYOUT}"', False),
    "the last counts": (f'target datalayout = "{LAYOUT}"\ntarget datalayout = ""', False),
    "spread": (f'target triple = "nvptx64-nvidia-cuda"\ntarget\n datalayout ; "\n\t= ; "\r"{LAYOUT}"', True),
    "of numba": (f'target triple="nvptx64-nvidia-cuda" target datalayout = "{LAYOUT}"', True)}


@pytest.mark.parametrize("version", TOOLKITS)
@pytest.mark.parametrize("lines, there", LAYOUTS_OF_IR.values(), ids=LAYOUTS_OF_IR)
def test_without_a_data_layout(world, here, version, lines, there):
    """libnvvm aborts the process that asks it for sm_100 or later."""
    source = programs.kernel().replace(f'target datalayout = "{LAYOUT}"', lines)
    said = real(world, source=source, arch="sm_100", check=False)
    assert said["code"] == (None if there else "BAD_INPUT")
    assert there or "it has no data layout, without which libnvvm aborts" in said["message"]
    assert real(world, source=source, arch="sm_90", check=False)["code"] == (
        None if there else "COMPILE_FAILED")


@pytest.mark.parametrize("version", TOOLKITS)
@pytest.mark.parametrize("old, new, arch, advice", [
    ("i32 2, i32 0", "i32 1, i32 0", "sm_100", "; write !nvvmir.version = !{!9999}"),
    ('target triple = "nvptx64-nvidia-cuda"', "", "sm_100", '; write target triple = "nvptx64-nvidia-cuda"'),
    (LAYOUT, "", "sm_90", "; write target datalayout = \"e-p:64:64:64-i1:8:8-"),
    ("float*", "ptr", "sm_90", "; IR with opaque pointers is for sm_100 and later")])
def test_what_to_do(world, here, version, old, new, arch, advice):
    source = programs.kernel()
    assert old in source
    said = real(world, source=source.replace(old, new), arch=arch, check=False)
    assert said["code"] == "COMPILE_FAILED" and advice in said["message"]


@pytest.mark.parametrize("version", ["13.5"])
def test_each_setting_is_taken(world, here, version):
    for setting in ("lineinfo", "debug", "optimize=0", "max-registers=32", "fast-math", "ftz=1",
                    "prec-div=0", "prec-sqrt=0", "fma=0", "fast-compile=max", "split-compile=2"):
        real(world, f"--setting={setting}", source=programs.kernel())
        handles.check_image(world.root / "image")


@pytest.mark.parametrize("version", ["13.5"])
def test_of_two_each_is_compiled_by_itself(world, here, version):
    helper = put(world.root / "helper.ll", programs.helper())
    kernel = programs.kernel(function="@helper")
    real(world, helper, source=kernel)
    handles.check_image(world.root / "image")
    both = put(world.root / "both.ll", programs.kernel().replace("@kernel", "@other"))
    real(world, both, source=programs.kernel())     # libdevice in both
    assert {"kernel", "other"} <= handles.symbols(world.root / "image")
    said = real(world, source=kernel, check=False)
    assert said["code"] == "UNDEFINED_SYMBOL" and said["symbol_errors"][0]["name"] == "helper"
    said = real(world, helper, helper, source=kernel, check=False)
    assert said["code"] == "DUPLICATE_SYMBOL"


def test_two_toolkits(world, site):
    """The libnvvm of the linker, which is the one that fits the target."""
    for version in reversed(TOOLKITS):
        site(version)
    for arch, version in (("sm_60", "12.9"), ("sm_90", "13.5"), ("sm_110", "13.5")):
        said = real(world, source=programs.kernel(), arch=arch)
        assert (said["nvvm"], said["nvjitlink"]) == (version, version)
        handles.check_image(world.root / "image")
    assert real(world, source=programs.kernel(), command="plan")["environment"]["nvvms"] == [
        "13.5", "12.9"]


SECOND = programs.BITCODE[4:]


@pytest.mark.parametrize("version", ["13.5"])
@pytest.mark.parametrize("source, sound", [
    (made_up.wrapped(programs.BITCODE), True), (programs.BITCODE + b"junkjunk", True),
    (programs.BITCODE + b"more junk...", False), (programs.BITCODE + SECOND, False),
    (programs.BITCODE + programs.BITCODE, False), (programs.BITCODE[:-4], False),
    (made_up.wrapped(programs.BITCODE, length=len(programs.BITCODE) + 4), False)])
def test_bitcode_that_is_not_whole(world, here, version, source, sound):
    """What is refused no libnvvm takes: some end the process on it."""
    said = real(world, source=source, arch="sm_80", check=False)
    assert said["code"] == (None if sound else "BAD_INPUT")


# ---- libraries ----

@pytest.mark.parametrize("version", TOOLKITS)
@pytest.mark.parametrize("words", [(), ("--lto",), ("--isolated",)])
def test_a_library_gives_what_is_called(world, site, version, words):
    """libdevice is one, here where libnvvm has none beside it."""
    device, = site(version).rglob("libdevice.10.bc")
    library = put(world.root / "functions.bc", device.read_bytes())
    device.unlink()
    program = put(world.root / "k.ll", programs.kernel())
    command = ["--json", "--arch=sm_90", "-o", world.root / "image", *words, program]
    said = json.loads(world.cli("link", *command, check=False).out)
    assert said["code"] == "LIBDEVICE_REQUIRED"
    said = json.loads(world.cli("link", *command, "--library", library).out)
    assert len(said["inputs"]) == 1 and said["inputs"][0]["reason"].endswith(", with 1 library")
    handles.check_image(world.root / "image")
    # Of the library nothing but what is called is in it.
    assert not [name for name in handles.symbols(world.root / "image") if name.startswith("__nv_")]


def test_a_library_that_is_not_declared(world, site):
    device, = site("13.5").rglob("libdevice.10.bc")
    said = real(world, device, source=programs.kernel(), arch="sm_90", check=False)
    assert said["code"] == "COMPILE_FAILED"
    assert said["message"].endswith("; declare libdevice, or what else other LLVM IR calls, a library")
    real(world, "--library", device, source=programs.kernel(), arch="sm_90")


@pytest.mark.parametrize("library, program, code, why", [
    (programs.BITCODE, "__global__ void k() {}", "UNSUPPORTED_KIND", "no other input is LLVM IR that could"),
    (text(), text(), "UNSUPPORTED_KIND", "takes as bitcode alone, and is llvm ir"),
    ("__global__ void k() {}", text(), "UNSUPPORTED_KIND", "as bitcode alone, and is source"),
    ("what is this?", text(), "UNSUPPORTED_KIND", "and is nothing that is known")])
def test_what_is_no_library(world, library, program, code, why):
    install(world, names=("nvJitLink", "nvrtc"))
    said = both_say(world, "--library", put(world.root / "library", library), source=program)
    assert said["code"] == code and why in said["message"]


def test_the_target_lines_come_first(world, site):
    site("13.5")
    late = programs.kernel().splitlines(keepends=True)
    lines = [line for line in late if line.startswith("target ")]
    source = put(world.root / "k.ll", "".join(["; late\n", *(line for line in late if line not in lines), *lines]))
    said = world.cli("link", "--arch=sm_100", "-o", world.root / "image", source, check=False)
    assert 'target triple = "nvptx64-nvidia-cuda", and target datalayout' in said.err
