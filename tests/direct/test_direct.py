# SPDX-License-Identifier: MIT
"""Situations of processes, run both ways: a program that works if it is linked directly to the
real library works through the stub, too, in the same world.

A situation is one line here and one source beside this file.  situation.py says what a row
may have, tests/lib/sanitizer_skips.py which rows mean nothing under a sanitizer.
"""
import dataclasses
import re
import shutil
import signal

import pytest

import build
import fakes
import situation
from fakes import answer
from situation import (THREAD_SANITIZER, Fake, Listed, Outcome, Real, Row, Shared, StandIn, beside,
                       on_library_path, on_library_path_and_listed)
from world import chowned

LINKERS = ("12.9", "13.5")
RUNTIME = (Real("cudart", "12.9"),)
IN_CUDA = ("-Wl,-rpath,$ORIGIN/../cuda",)
# Bound lazily, it works as long as nobody calls its one function that calls what is nowhere.
LAZY = (StandIn("cudart", 12, "lazy_binding_real.c", flags=("-Wl,-z,lazy",)),)
# cuSPARSE calls what only the nvJitLink has that is installed with it.
OLD, NEW = Fake("nvJitLink", "12.0"), Fake("nvJitLink", "12.9")
CUSPARSE = StandIn("cusparse", 12, "siblings_real.c", soname="libcusparse.so.12", needs=(NEW,),
                   flags=("-DPROPERTY=cusparseGetProperty", "-DCALLS=__nvJitLinkComplete_12_9",
                          "-Wl,-z,lazy,--enable-new-dtags,-rpath,$ORIGIN/../../nvjitlink/lib"))

OLD_LT = StandIn("cublasLt", 12, "siblings_cublaslt.c", soname="libcublasLt.so.12")
NEW_LT = dataclasses.replace(OLD_LT, flags=("-DNEWEST",))
CUBLAS = StandIn("cublas", 12, "siblings_real.c", soname="libcublas.so.12", needs=(NEW_LT,),
                 flags=("-DPROPERTY=cublasGetProperty", "-DCALLS=newest",
                        "-Wl,-z,lazy,--enable-new-dtags,-rpath,$ORIGIN"))

CUBLASLT = Listed("cublasLt", "12.9")
CUDNN = (StandIn("cudnn", 12, "copied_real.c", soname="libcudnn.so.9", flags=("-Wl,-rpath,$ORIGIN",)),
         StandIn("cudnn_graph", 12, "copied_part.c", soname="libcudnn_graph.so.9"))


def beside_an_old_one(world, cusparse, linker):
    """A pair in a site-packages, and an nvJitLink of 12.0 that LD_LIBRARY_PATH leads to."""
    site = "lib/python3/site-packages/nvidia"
    world.search(world.put("old", OLD.file(None)))
    world.put(f"{site}/nvjitlink/lib", linker)
    world.search(world.put(f"{site}/cusparse/lib", cusparse))


def with_a_link_elsewhere(world, cusparse, linker):
    """LD_LIBRARY_PATH leads to a link to one of a pair, and the run path to both."""
    site = "lib/python3/site-packages/nvidia"
    world.put(f"{site}/nvjitlink/lib", linker)
    real = world.put(f"{site}/cusparse/lib", cusparse) / cusparse.name
    links = world.folder("links")
    (links / cusparse.name).symlink_to(real)
    world.search(links)


def beside_an_old_cublaslt(world, *pair):
    world.search(world.put("old", OLD_LT.file(None)))
    world.search(world.put("lib/python3/site-packages/nvidia/cublas/lib", *pair))


def without_run_path(world, cudart):
    """A plugin of the program's needs the runtime, and only the program knows where that is."""
    world.put("cuda", cudart)
    world.put("app", situation.made("asks.c", "libasks.so", flags=("-shared", "-fPIC", *ONE),
                                    link=[cudart]))


def in_another_toolkit(version, whole):
    def place(world, cudart, *cudnn):
        world.search(world.put("cuda", cudart))
        world.search(world.put(f"cuda-{version}/lib64", *cudnn,
                               *([fakes.fake("cudart", version)] if whole else [])))
    return place


def to_be_installed(world, *files):
    world.put("later", *files)
    world.search(world.folder("cuda"))


def with_a_later_one(world, cudart):
    world.search(world.put("cuda", cudart))
    world.search(world.put("later", fakes.fake("cudart", "13.5")))


def deep(world, cudart):
    world.search(world.put("/".join(["folder"] * 100), cudart))


def underlinked(world, cudart):
    """The extension needs no library: it gets the program's."""
    situation.on_library_path(world, cudart)
    world.put("app", situation.made("asks.c", "libasks.so", flags=("-shared", "-fPIC")))


def beside_another_major(world, cudart):
    """Something else has brought CUDA 12 into the process."""
    world.loader(cudart, fakes.fake("cudart", "12.9"))
    world.env["LD_PRELOAD"] = "libcudart.so.12"


def in_two_toolkits(world, linker, _compiler):
    """The run path of the program leads to CUDA 12, and its extension's to 13."""
    world.put("cuda12", linker, fakes.fake("nvrtc", "12.9"))
    world.put("cuda13", *[fakes.fake(name, "13.5") for name in ("nvrtc", "nvJitLink")])


def beside_an_older_one(world, cudart):
    beside(world, cudart)
    world.put("old", fakes.fake("cudart", "12.0"))


def beside_an_auditor(world, cudart):
    on_library_path(world, cudart)
    world.env["LD_AUDIT"] = str(Shared("wraps.c").file())


def below_another_plugin(world, cudart):
    """A copy of the plugin lies where its run path leads to the runtime."""
    world.put("later/cuda", cudart)
    world.put("later", world.root / "app/libasks.so")


def below_another_plugin_apart(world, cudart, nvrtc):
    below_another_plugin(world, cudart)
    world.put("later/rtc", nvrtc)


def beside_a_plugin_of_12(world, cudart):
    """The plugin is linked directly."""
    older = fakes.fake("cudart", "12.9")
    world.loader(cudart, older)
    world.put("app", situation.made("asks.c", "libasks.so", link=[older],
                                    flags=("-shared", "-fPIC", "-DASKS=cudaSetDoubleForDevice")))


BUNDLED = "libcudart-1a2b3c4d.so.12"


def beside_a_bundled_one(world, cudart):
    beside(world, cudart)
    world.put("other.libs", fakes.fake("cudart", "12.0", own=BUNDLED, node="libcudart.so.12"))


def for_some_cpus(world, cudart):
    """The folder itself has an older one."""
    folder = world.put("cuda", fakes.fake("cudart", "12.0"))
    world.put("cuda/glibc-hwcaps/x86-64-v2", cudart)
    world.put("cuda/tls", cudart)       # of glibc up to 2.36
    world.env["LD_LIBRARY_PATH"] = str(folder)


def open_to_all(world, cudart):
    world.put("cuda", cudart).chmod(0o777)
    world.env["LD_LIBRARY_PATH"] = str(world.root / "cuda")


def by_a_relative_path(world, cudart):
    world.put("cuda", cudart)
    world.env["LD_LIBRARY_PATH"] = "cuda"


SITE = "lib/python3.11/site-packages"


def python_searches(site, venv=None, **env):
    """CUDA lies in a site-packages.  Python, which is the program, lies in image/bin; env/bin has a
    link to it, and pyvenv.cfg says `venv`.  Variables name folders."""
    def place(world, cudart):
        world.put(f"{site}/nvidia/cuda_runtime/lib", cudart)
        shutil.copy(world.root / "app/editable", world.folder("image/bin") / "python3")
        (world.folder("env/bin") / "python3").symlink_to("../../image/bin/python3")
        if venv is not None:
            (world.root / "env/pyvenv.cfg").write_text(
                f"home = {world.root}/image/bin\n"
                f"include-system-site-packages = {venv}\nversion = 3.11.7\n")
        for variable, folder in env.items():
            world.env[variable] = str(world.root / folder)
    return place


def before_pythons_own(world, cudart):
    python_searches(f"other/{SITE}", "false", PYTHONPATH=f"other/{SITE}")(world, cudart)
    world.put(f"env/{SITE}/nvidia/cuda_runtime/lib", fakes.fake("cudart", "12.0"))


def among_other_pythons(world, cudart):
    """The program is called like its Python; others have an older CUDA."""
    python_searches(f"env/{SITE}", "false")(world, cudart)
    (world.root / "image/bin/python3").rename(world.root / "image/bin/python3.11")
    (world.root / "image/bin/python3").symlink_to("python3.11")
    for minor in (8, 9, 10, 12, 13):
        world.put(f"env/lib/python3.{minor}/site-packages/nvidia/cuda_runtime/lib",
                  fakes.fake("cudart", "12.0"))


def among_left_overs(world, cudart):
    """What is left of a toolkit of 13 that was removed, and an empty file, as images have them."""
    old = world.folder("old")
    (old / "libcudart.so.13").symlink_to("nowhere")
    (old / "libcuda.so.1").touch()
    world.put("cuda", cudart)
    world.env["LD_LIBRARY_PATH"] = f"{old}:{world.root / 'cuda'}"


def by_two_names(world, cudart):
    """As somebody does who wants a program for 13 to start."""
    beside(world, cudart)
    (world.root / "cuda/libcudart.so.13").symlink_to(cudart.name)


def left_overs_alone(world, cudart):
    among_left_overs(world, cudart)
    (world.root / "cuda" / cudart.name).unlink()


def in_nvidias_hpc_sdk(world, *files):
    """Without the variables that its module sets besides."""
    world.put("sdk/math_libs/12.9/lib64", *files)
    world.env["CUDA_HOME"] = str(world.folder("sdk/cuda/12.9"))


def beside_a_strangers_home(world, linker):
    """/home/nvidia beside /home/alice."""
    on_library_path(world, linker)
    folder = world.put("nvidia/cu13/lib", fakes.fake("nvJitLink", "13.5"))
    for path in (world.root / "nvidia", folder.parent, folder, *folder.iterdir()):
        chowned(path, STRANGER)


def below_a_sticky_folder(world, cudart):
    world.put("scratch/cuda", cudart)
    (world.root / "scratch").chmod(0o1777)
    world.env["LD_LIBRARY_PATH"] = str(world.root / "scratch/cuda")


def by_a_link(world, cudart):
    world.put("real", cudart)
    (world.root / "cuda").symlink_to("real")
    world.search(world.root / "cuda")


def in_front(*flags):
    """A library that has the runtime's SONAME alone, and leads to the runtime."""
    def place(world, _cudart):
        real = fakes.fake("cudart", "12.9", own="libruntime.so.1", node="libcudart.so.12")
        front = build.compile("libcudart.so.12", "-shared", "-Wl,-soname,libcudart.so.12,-rpath,$ORIGIN", *flags,
                              "-Wl,--no-as-needed", *([real] if not flags else []))
        world.search(world.put("cuda", real, front))
    return place


def strangers(world, cudart):
    below_a_sticky_folder(world, cudart)
    chowned(world.root / "scratch/cuda", STRANGER)


def before_an_old_one(world, cudart):
    """The extension's run path leads to a runtime, and the program's to an older one."""
    world.put("run", cudart)
    world.put("old", fakes.fake("cudart", "12.0"))


def needed_by_another(world, cudart):
    """The same, but it is the run path of an extension that needs the one that calls."""
    before_an_old_one(world, cudart)
    inner = world.folder("app/inner") / "libinner.so"
    outer = world.root / "app/libasks.so"
    outer.rename(inner)
    shutil.copy(situation.made("plugin.c", "libouter.so", link=[inner], flags=(
        "-shared", "-fPIC", f"{OLD_TAGS},--no-as-needed,-rpath,$ORIGIN/inner:$ORIGIN/../run",
        "-Wl,--allow-shlib-undefined")), outer)


def calls_the_pair(_direct, stub):
    """The stub calls by plain names; in a stand-in they are other functions.  What the one answers is
    its value, and the other's its status."""
    return {f"{sign}{answer('nvJitLink', f'nvJitLink{name}', '12.9')}" for name, sign in (
        ("Complete", ""), ("Destroy", "-"))} <= set(stub.out.splitlines())


def called(needing, needed):
    """A library's ...GetProperty(), and a function of the library that it needs."""
    return "-DCALLS", f"-DASKS={needing}", "-DARGUMENTS=NULL,out", f"-DSECOND={needed}"


def frames(said):
    """[[function and file of each frame, from the inside]] of each backtrace in gdb's output."""
    found = []
    for number, function, file in re.findall(r"^#(\d+)  (\w+) \(.*\) (?:from|at) .*?([^/\n]*)$", said, re.M):
        if number == "0":
            found.append([])
        found[-1].append((function.removeprefix("lc_entry_"), file.partition(":")[0]))
    return found


def stops_in_both(direct, stub):
    callers = [("ask", "asks.h"), ("begin", "asks.c"), ("main", "asks.c")]
    real, entry = ("cudaMalloc", "libcudart.so.12"), ("cudaMalloc", "libcudart_stub.so")
    return frames(direct.out) == [[real, *callers], callers] and \
        frames(stub.out) == [[entry, *callers], [real, *callers], [real, *callers]]


def asks_version(name, own, others, *arguments, flags=(), folders=(), **env):
    """The program works with nvJitLink 12.9, which lies in the folder `own`; others, {folder:
    version}, lie elsewhere, and have all that it imports.  "cuda" is on LD_LIBRARY_PATH, and ld.so's cache lists "cached";
    variables name folders, too."""
    def place(world, file):
        world.put(own, file)
        if own == "cached":
            world.cached(world.root / own)
        for folder, version in others.items():
            world.put(folder, fakes.fake("nvJitLink", version))
        for folder in folders:
            world.folder(folder)
        for variable, folder in {"LD_LIBRARY_PATH": "cuda", **env}.items():
            world.env[variable] = str(world.root / folder)
    return Row(name, "host.c", (Real("nvJitLink", "12.9"),), arguments=(*arguments, "call"),
               flags=("-DCALLS", "-DASKS=nvJitLinkVersion", *flags), place=place)


STRANGER = 4711
OLD_TAGS = "-Wl,--disable-new-dtags"
RUNPATH = ("-Wl,--enable-new-dtags,-rpath,$ORIGIN/../run",)
RPATH = (f"{OLD_TAGS},-rpath,$ORIGIN/../run",)
RPATH_TO_OLD = (f"{OLD_TAGS},-rpath,$ORIGIN/../old",)
CONFINED = ("chroot", "nofile", "user", "unlink", "filter", "memory", "mount")
LOSES = ("valgrind", "-q", "--leak-check=full", "--error-exitcode=9")
LOADER = ({"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}[build.ARCH],)
STOPS = ("gdb", "-batch", "-nx", "-x", situation.HERE / "stops.gdb")
SLOWLY_LOADED = (StandIn("curand", 12, "statics_real.cpp", "libcurand.so.10", flags=("-DSLOW",)),)
SLOW = StandIn("cudart", 12, "slow_registration_real.c")

# What a search asks libc for, where ld.so makes its own system calls.
FAILURES = [("__lxstat", "-303 0\n"), *[(function, "-303 -303\n") for function in (
    "open", "mprotect", "dlinfo")]]

# What CUDA 12.0 has not yet is among its imports.
UNLOADS = ("-DASKS=cudaRuntimeGetVersion", "-DSECOND=cudaLibraryUnload")
ONE = ("-DASKS=cudaRuntimeGetVersion",)
CUBLAS_PROPERTY = ("-DASKS=cublasGetProperty", "-DARGUMENTS=NULL,out")
NEEDING_OR_NEEDED = {"needing": "call", "needed": "call_second"}
PLUGIN = ("open:app/libasks.so", "begin")
# A program opens an extension by a relative path, and uses it elsewhere.
ASKS, RELATIVE = ("asks.c",), ("cd:app", "open:./libasks.so", "cd:/", "begin")

ROWS = [
    # The end of a process: what was made is given back when the library's exit handlers have run.
    *[row for version in LINKERS for linker in [(Real("nvJitLink", version),)] for row in [
        Row(f"a static object owns a handle, {version}", "static_handle.cpp", linker),
        Row(f"a static object of an extension of Python owns a handle, {version}", "begin.py",
            linker, ("static_handle.cpp",), ("static_handle",), flags=("-DEXTENSION",)),
        Row(f"Python's atexit ends an extension, {version}", "begin.py", linker,
            ("static_handle.cpp",), ("static_handle",), flags=("-DEXTENSION", "-DEND")),
        Row(f"a plugin is closed by an exit handler, {version}", "host.c", linker,
            ("static_handle.cpp",), ("at_exit", "open:app/libstatic_handle.so", "begin"),
            flags=("-DEXTENSION",)),
        Row(f"an exit handler from after the first call, {version}", "early_handler.c", linker,
            flags=("-DLATE",)),
        Row(f"an exit handler from before it, {version}", "early_handler.c", linker),
        Row(f"a thread leaves, {version}", "early_handler.c", linker, env={"THREAD": "1"}),
        Row(f"a destructor of C, {version}", "early_handler.c", linker, flags=("-DFINI",)),
        Row(f"quick_exit, {version}", "early_handler.c", linker, flags=("-DLEAVE=quick_exit",)),
        Row(f"a static object waits for threads that link, {version}", "pool.cpp", linker),
        Row(f"a static object makes a handle when it is destroyed, {version}", "static_handle.cpp",
            linker, flags=("-DAGAIN",), differs=Outcome("create 0\ndestroy 0\ncreate 6\n")),
    ]],
    # Later ones crash if linked directly, too.
    Row("a static object waits for threads that compile", "pool.cpp", (Real("nvrtc", "12.0"),),
        flags=("-DCOMPILES",),      # nothing, without its builtins
        place=lambda world, nvrtc: world.loader(nvrtc, *nvrtc.parent.glob("libnvrtc-builtins.*"))),
    Row("a thread goes on during exit", "threads.cpp", (Real("cudart", "12.9"),)),
    Row("a static object owns a generator, of a library that has static objects", "static_handle.cpp",
        (StandIn("curand", 12, "statics_real.cpp", "libcurand.so.10"),), flags=("-DGENERATOR",)),
    *[Row(f"the process ends in a thread's first call, by {who}", "call_during_exit.cpp",
          SLOWLY_LOADED, arguments=(who,), differs=difference)
      for who, difference in (("main", None), ("main before it", None), ("a thread's child", None),
                              ("another", Outcome("create 101\n")))],
    Row("the process ends in the first call of a thread that opened an extension", "host.c",
        SLOWLY_LOADED, ASKS, ("in_a_thread", *PLUGIN), flags=("-DASKS=curandGetVersion",),
        differs=Outcome("-101\n")),
    Row("a static object owns a context, of a driver without exit handlers", "context.cpp",
        (Fake("cuda", "12.9"),)),
    # What is loaded in a process, and by whom.
    Row("exit() waits once for other threads", "naps.c", (*RUNTIME, Real("nvrtc", "12.9")),
        flags=("-rdynamic",)),
    Row("the program has kept the list of loaded objects", "cached_objects.c", RUNTIME,
        flags=("-rdynamic",)),
    *[Row(f"a {how} program opens an extension", "host.c", RUNTIME, ASKS, RELATIVE, static=how)
      for how in ("static", "static-pie")],
    Row("a static program opens an extension where there is no /proc", "host.c", RUNTIME, ASKS,
        ("no_proc", *RELATIVE), static="static"),
    Row("ld.so starts a program whose run path has $ORIGIN", "asks.c", RUNTIME, place=beside,
        flags=IN_CUDA, under=LOADER),
    Row("a filter lets through what the program calls without a stub", "asks.c", RUNTIME, place=by_a_link,
        preload=(Shared("refuses.c"),)),
    Row("a thread that a constructor starts", "asks.c", (StandIn("cudart", 12, "thread_real.c"),)),
    # What forwards calls elsewhere need not have any.
    Row("the runtime has no version nodes", "asks.c", RUNTIME, place=lambda world, _: world.search(
        world.put("cuda", fakes.fake("cudart", "12.9", node="")))),
    Row("the runtime is a library that needs it", "asks.c", RUNTIME, place=in_front()),
    Row("the runtime is a filter of it", "asks.c", RUNTIME, place=in_front("-Wl,-F,libruntime.so.1")),
    Row("an extension with $ORIGIN is opened by a relative path", "host.c", RUNTIME, ASKS, RELATIVE,
        place=beside, flags=IN_CUDA),
    Row("an extension is opened by a path that leads elsewhere later", "host.c", RUNTIME, ASKS,
        ("cd:app", "open:/proc/self/cwd/libasks.so", "cd:/", "begin"), place=beside,
        flags=IN_CUDA, differs=Outcome("-303\n")),
    Row("an extension was opened by a relative path, and the current folder is removed",
        "host.c", RUNTIME, ASKS, ("cd:app", "open:./libasks.so", "gone:gone", "begin"),
        place=beside, flags=IN_CUDA, differs=Outcome("-303\n")),
    *[Row(f"a preloaded {function}() always fails", "asks.c", RUNTIME,
          preload=(Shared("fails.c", flags=(f"-DNAME={function}",)),), differs=Outcome(said))
      for function, said in FAILURES],
    Row("a preloaded readlink() tells another program", "asks.c", RUNTIME, place=beside,
        flags=IN_CUDA, preload=(Shared("other_program.c"),)),
    Row("a hook of one function has the runtime's node", "asks.c", RUNTIME,
        preload=(Shared("hooks.c", "libcudart.so.12", names=("cudaRuntimeGetVersion",)),)),
    Row("a hook of all functions has the runtime's node", "asks.c", RUNTIME,
        preload=(Shared("hooks.c", "libcudart.so.12", names=Fake("cudart", "12.9")),)),
    *[Row(f"every name of {library.name} {library.version} is looked up without a version",
          "host.c", (library,), arguments=("look_for_all:app/names",), place=on_library_path_and_listed,
          flags=("-Wl,--no-as-needed",))
      for library in (Real("cudart", "12.9"), CUBLASLT)],
    Row("a hook of all functions of cublasLt asks for the next, one that differs between majors",
        "host.c", (CUBLASLT,), arguments=("call_second",), preload=(Shared(
            "hooks.c", "libcublasLt.so.12", names=CUBLASLT),), flags=(
                *called("cublasLtGetProperty", "cublasLtMatmulDescInit_internal"),)),
    Row("a preloaded hook asks for the next cudaGetDeviceProperties()", "asks.c", RUNTIME,
        flags=("-DASKS=cudaGetDeviceProperties", "-DARGUMENTS=(char[4096]){ 0 }, NULL"),
        preload=(Shared("hooks.c", names=("cudaGetDeviceProperties",)),)),
    *[Row(f"a hook is written into a function's code, {when}", "patches.c", RUNTIME, env=env,
          differs=difference, shared=True)
      for when, env, difference in (("lazy", None, Outcome("12090\n")),
                                    ("eager", {"LAZYCUDA_EAGER": "1"}, None))],
    Row("an auditor wraps a function", "host.c", RUNTIME, ASKS, RELATIVE, place=beside_an_auditor,
        flags=("-Wl,-z,lazy",)),
    *[Row(f"a hook holds a lock that its dlopen() takes, {when}", "asks.c", RUNTIME, env=env,
          preload=(Shared("locks.c"),), timeout=timeout, differs=difference)
      for when, env, timeout, difference in (("lazy", None, 3, Outcome("", "hangs")),
                                             ("eager", {"LAZYCUDA_EAGER": "1"}, 60, None))],
    Row("malloc() is a collector's, and a thread makes the first call", "collects.c", RUNTIME),
    Row("plugins come and go beside a library that is refused", "plugins_come_and_go.c", RUNTIME,
        extensions=("plugin.c",), env={"LAZYCUDA_MAJOR": "13"}),
    Row("the program closes the runtime too often", "host.c", RUNTIME, flags=("-DCALLS",),
        arguments=("call", "open:libcudart.so.12", "close", "close", "close", "call")),
    Row("another project's library has the stub's SONAME", "asks.c", RUNTIME,
        preload=(Shared("plugin.c", flags=("-Wl,-soname,libcudart_stub.so",)),),
        differs=Outcome("", 127)),
    Row("a preloaded dlsym() looks names up globally", "asks.c", (Fake("cuda", "12.9"),),
        flags=("-DASKS=cuDriverGetVersion",), preload=(Shared("global_dlsym.c"),)),
    Row("another major is in the process", "asks.c", (Real("cudart", "13.5"),),
        place=beside_another_major,
        differs=Outcome(f"12090 -{answer('cudart', 'cudaDriverGetVersion', '12.9')}\n")),
    Row("a plugin that comes after the first call needs what the later of two majors dropped",
        "host.c", (Fake("cudart", "12.9"),), ASKS, ("call", *PLUGIN), place=with_a_later_one,
        flags=("-DASKS=cudaSetDoubleForDevice",), program_flags=("-DCALLS",),
        differs=Outcome("13050\n-302\n")),
    *[Row(f"another wheel bundles an older one under another name, {version}", "host.c",
          (Fake("cudart", version),), ASKS, (f"open:other.libs/{BUNDLED}", *PLUGIN),
          place=beside_a_bundled_one, flags=(*IN_CUDA, *UNLOADS), shared=True)
      for version in ("12.9", "13.5")],
    *[Row(f"another object brings an older one before the first call, {when}", "host.c",
          (Fake("cudart", "12.9"),), ASKS, (PLUGIN[0], "open:old/libcudart.so.12", "begin"), env,
          place=beside_an_older_one, flags=(*IN_CUDA, *UNLOADS), differs=difference)
      for when, env, difference in (("lazy", None, Outcome("12000\n")),
                                    ("eager", {"LAZYCUDA_EAGER": "1"}, None))],
    Row("a plugin with a run path of its own comes after a call in vain", "host.c", RUNTIME, ASKS,
        ("try:app/libasks.so", "open:later/libasks.so", "begin"), place=below_another_plugin,
        flags=("-Wl,-rpath,$ORIGIN/cuda",), program_flags=("-Wall",)),
    Row("such a plugin comes when another was closed", "host.c", RUNTIME, ASKS,
        ("try:app/libasks.so", "open:libm.so.6", "close", "open:libutil.so.1", "close",
         "open:later/libasks.so", "begin"),
        place=below_another_plugin, flags=("-Wl,-rpath,$ORIGIN/cuda",), program_flags=("-Wall",)),
    Row("such a plugin needs two libraries, each in a folder of its own", "host.c",
        (*RUNTIME, Real("nvrtc", "12.9")), ASKS,
        ("try:app/libasks.so", "open:later/libasks.so", "begin", "second"),
        place=below_another_plugin_apart, program_flags=("-Wall",),
        flags=("-Wl,-rpath,$ORIGIN/cuda:$ORIGIN/rtc", *ONE, "-DSECOND=nvrtcVersion")),
    Row("a plugin that is linked directly finds the program's stub", "host.c",
        (Fake("cudart", "13.5"),), (), ("call", *PLUGIN), place=beside_a_plugin_of_12,
        flags=("-DCALLS",), differs=Outcome("13050\n-302\n"), shared=True),
    Row("a plugin needs no library", "host.c", RUNTIME, (), ("call", *PLUGIN), place=underlinked,
        flags=("-DCALLS",), shared=True),
    Row("the program asks for the address of what its runtime lacks", "weak.c",
        (Fake("cudart", "12.0"),), flags=("-Wl,--no-as-needed",),
        differs=Outcome("0 there\n")),
    Row("a function of C++ that a library of NVIDIA's calls in another", "asks.c",
        (StandIn("cufile", 12, "mangled_real.c", soname="libcufile.so.0", node=False),),
        flags=("-DASKS=_Z15cuFileLoggerDbgPKcS0_", '-DARGUMENTS="two", "texts"')),
    # What a library needs and calls, and who needs it.
    Row("a function that nobody calls is undefined", "asks.c", LAZY, flags=ONE),
    # Linked directly it ends at the call: LD_LIBRARY_PATH goes before the run path.
    *[Row(f"an older {name} on LD_LIBRARY_PATH, {order[0]} first", "host.c", pair,
          arguments=("look:main", *(NEEDING_OR_NEEDED[one] for one in order)),
          flags=("-Wl,-z,lazy", *flags), place=place, status=127, better=better)
      for name, pair, place, better, *flags in (
          ("nvJitLink", (CUSPARSE, NEW), beside_an_old_one,
           lambda direct, stub: len(direct.out.splitlines()) < 3 and calls_the_pair(direct, stub),
           *called("cusparseGetProperty", "nvJitLinkDestroy")),
          ("cublasLt", (CUBLAS, NEW_LT), beside_an_old_cublaslt,
           lambda direct, stub: "12900" not in direct.out and {"129", "-12900"} <= set(stub.out.splitlines()),
           *called("cublasGetProperty", "cublasLtGetVersion")))
      for order in (("needing", "needed"), ("needed", "needing"))
      # A stand-in with two of cublasLt's functions counts as another project's, once it is loaded.
      if (name, order[0]) != ("cublasLt", "needing")],
    Row("LD_LIBRARY_PATH has a link to one of a pair", "host.c", (CUSPARSE, NEW),
        arguments=("call", "call_second"), place=with_a_link_elsewhere, better=calls_the_pair, flags=(
            *called("cusparseGetProperty", "nvJitLinkDestroy"), "-Wl,-rpath,$ORIGIN/../" +
            ":$ORIGIN/../".join(f"lib/python3/site-packages/nvidia/{folder}/lib"
                                for folder in ("nvjitlink", "cusparse")))),
    Row("a function of a library that another one brings along", "host.c", (CUBLAS, NEW_LT),
        arguments=("call", "look:cublasLtGetVersion"), flags=("-DCALLS", *CUBLAS_PROPERTY),
        differs=Outcome("129\nnot there\n")),
    *[Row(f"a plugin without a run path, {when}", "host.c", LAZY, (), (*first, PLUGIN[0], "call"),
          env, flags=("-DCALLS", *ONE, *IN_CUDA), place=without_run_path, differs=difference)
      for when, first, env, difference in (
          ("opened before the first call", (), None, Outcome("cannot open\n12090\n")),
          ("opened after the first call", ("call",), None, None),
          ("eager by the environment", (), {"LAZYCUDA_EAGER": "1"}, None))],
    *[Row(f"a linker of 12 and a compiler of 13, each with a run path to its own, {first} first",
          "host.c", (Fake("nvJitLink", "12.9"), Fake("nvrtc", "13.5")), ASKS,
          (PLUGIN[0], *{"compiler": ("begin",), "linker": ()}[first], "call", "begin"),
          place=in_two_toolkits, better=lambda _, stub: "-" not in stub.out,
          flags=("-DASKS=nvrtcVersion", "-Wl,-rpath,$ORIGIN/../cuda13"),
          program_flags=("-DCALLS", "-DASKS=nvJitLinkVersion", "-Wl,-rpath,$ORIGIN/../cuda12"))
      for first in ("compiler", "linker")],
    # Where it is looked for.
    asks_version("LD_LIBRARY_PATH before a RUNPATH", "cuda", {"run": "12.4"}, flags=RUNPATH),
    asks_version("an RPATH before LD_LIBRARY_PATH", "run", {"cuda": "12.4"}, flags=RPATH),
    Row("a program's RPATH does not count for a RUNPATH", "host.c", RUNTIME, ASKS, RELATIVE,
        place=before_an_old_one, flags=RUNPATH, program_flags=RPATH_TO_OLD),
    Row("the RPATH of what needs an extension before the program's", "host.c", RUNTIME, ASKS, RELATIVE,
        place=needed_by_another, flags=(f"{OLD_TAGS},-soname,libinner.so",), program_flags=RPATH_TO_OLD),
    Row("a folder with a dollar in its name", "asks.c", RUNTIME,
        flags=("-Wl,--enable-new-dtags,-rpath,$ORIGIN/../$LIBRARY",),
        place=lambda world, cudart: world.put("$LIBRARY", cudart)),
    asks_version("a RUNPATH before CUDA_HOME", "run", {"home/lib64": "12.4"}, flags=RUNPATH,
                 CUDA_HOME="home"),
    asks_version("LD_LIBRARY_PATH before an environment of conda that the program is not in", "cuda",
                 {"conda/lib": "12.4"}, folders=["conda/conda-meta"], CONDA_PREFIX="conda"),
    asks_version("ld.so's cache before an environment of conda that the program is not in", "cached",
                 {"conda/lib": "12.4"}, folders=["conda/conda-meta"], CONDA_PREFIX="conda"),
    *[asks_version(f"{name} is set for children, to {version}", "cuda", {"late/lib": version},
                   f"set:{name}={folder}")
      for name, folder in (("LD_LIBRARY_PATH", "late/lib"), ("CONDA_PREFIX", "late"))
      for version in ("12.4", "13.5")],
    asks_version("an environment of conda in the base", "app/lib", {"lib": "13.5"},
                 flags=("-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib",),
                 folders=["conda-meta", "app/conda-meta"], CONDA_PREFIX="app"),
    Row("a relative folder on LD_LIBRARY_PATH", "asks.c", RUNTIME, place=by_a_relative_path,
        differs=Outcome("-303 0\n")),
    Row("a folder that anybody may write to", "asks.c", RUNTIME, place=open_to_all,
        differs=Outcome("-303 0\n")),
    Row("a folder for some CPUs below one of ld.so's", "asks.c", RUNTIME, place=for_some_cpus,
        differs=Outcome(f"12000 -{answer('cudart', 'cudaDriverGetVersion', '12.0')}\n")),
    asks_version("a folder called nvidia beside the program's", "cuda",
                 {"nvidia/cu13/lib": "13.5"}),
    Row("a stranger's home is called nvidia", "asks.c", (Real("nvJitLink", "12.9"),),
        place=beside_a_strangers_home, flags=("-DASKS=nvJitLinkVersion",)),
    Row("left-overs of another CUDA and of the driver", "asks.c", RUNTIME,
        place=among_left_overs),
    Row("the next major is a link to this one", "asks.c", RUNTIME, place=by_two_names, flags=IN_CUDA),
    Row("a plugin meets left-overs alone, and no driver", "host.c", RUNTIME, ASKS,
        ("plugin:app/libasks.so",), flags=("-DASKS=cudaGetDeviceCount",), place=left_overs_alone),
    # Linked directly it cannot be opened.
    Row("NVIDIA's HPC SDK, by CUDA_HOME alone", "host.c", (CUBLAS, NEW_LT), ASKS,
        ("plugin:app/libasks.so",), flags=CUBLAS_PROPERTY, place=in_nvidias_hpc_sdk,
        better=lambda direct, stub: stub == Outcome("uses it\n")),
    Row("in a user namespace, below root's sticky folder", "confined.c", RUNTIME,
        arguments=("namespace",), place=below_a_sticky_folder),
    Row("a folder that anybody may write to, mounted read-only", "confined.c", RUNTIME,
        arguments=("readonly",)),
    Row("a stranger's folder in a sticky one", "asks.c", RUNTIME, place=strangers,
        differs=Outcome("-303 0\n")),
    Row("a stranger's folder in a sticky one, mounted there", "confined.c", RUNTIME,
        arguments=("stranger",), place=below_a_sticky_folder),

    *[Row(f"cuDNN of CUDA 12 was copied into {where}, {order[0]} first, {guard}", "host.c",
          (Fake("cudart", "12.9"), *CUDNN), place=place, env={"LAZYCUDA_GUARD": guard},
          arguments=order, flags=("-DCALLS", *ONE, "-DSECOND=cudnnGetCudartVersion"))
      for where, place in (("an empty toolkit of 11", in_another_toolkit("11.8", False)),
                           ("a whole toolkit of 11", in_another_toolkit("11.8", True)),
                           ("a whole toolkit of 13", in_another_toolkit("13.0", True)))
      for order, guard in ((("call", "call_second"), "best_effort"),
                           (("call_second", "call"), "strict"))],

    # Threads, fork() and locks.
    Row("the main thread has ended before another makes the first call", "host.c", RUNTIME,
        arguments=("instead", "pause", "call"), place=beside, flags=("-DCALLS", *IN_CUDA)),
    Row("a slow registration and a launch in another thread", "slow_registration.c", (SLOW,)),
    Row("a registration asks ld.so while a constructor waits for it", "constructor_calls.c",
        (StandIn("cudart", 12, "slow_registration_real.c", flags=("-DOPENS",)),),
        extensions=("constructor.c",)),
    Row("a registration sets a signal handler", "late_handler.c",
        (StandIn("cudart", 12, "slow_registration_real.c", flags=("-DTELLS",)),), flags=("-rdynamic",), timeout=20),
    Row("fork() waits for a thread in its first call", "fork_handler.c", RUNTIME,
        arguments=("waits",)),
    Row("threads come into a fork() that lasts, and one holds a lock", "held_at_fork.c",
        (Fake("cudart", "12.9"),), flags=("-rdynamic",)),
    *[Row(f"the process is copied without fork() during a first call, {when}", "cloned.c",
          SLOWLY_LOADED, env=env, differs=difference)
      for when, env, difference in (
          ("lazy", None, Outcome("0, the child ends with 15\n")),
          ("eager", {"LAZYCUDA_EAGER": "1"}, None))],
    Row("a signal handler leaves a first call by longjmp()", "left_by_jump.c", SLOWLY_LOADED,
        flags=("-DASKS=curandGetVersion",)),
    *[Row(f"a signal handler within a first call {does}", "handler_calls.c", RUNTIME,
          arguments=(does,)) for does in ("calls", "forks")],
    *[Row(f"the first call in a handler of fork(), {when}", "fork_handler.c", RUNTIME,
          arguments=(when,)) for when in ("before", "parent", "child")],

    *[Row(f"an editable extension, and CUDA in {where}", "editable.c", RUNTIME,
          extensions=ASKS, arguments=arguments, place=python_searches(site, venv, **variables), env={"SITE": site}, differs=difference)
      for where, arguments, site, venv, variables, difference in (
          ("a virtual environment", ("again",), f"env/{SITE}", "false", {}, None),
          ("an environment that is named by a relative path", ("relative",), f"env/{SITE}", "false",
           {"PWD": ""}, None),
          ("what that was made of", ("again",), f"image/{SITE}", "true", {}, None),
          ("what that shares with a capital", ("again",), f"image/{SITE}", "True", {}, None),
          ("what that does not share", ("again",), f"image/{SITE}", "false", {},
           Outcome("-303\n")),
          ("the prefix of a Python that a link leads to", ("again",), f"image/{SITE}", None, {}, None),
          ("the user's site-packages", ("again",), f"home/.local/{SITE}", None, {"HOME": "home"}, None),
          ("what PYTHONUSERBASE names", ("again",), f"mine/{SITE}", "true",
           {"PYTHONUSERBASE": "mine"}, None),
          ("what a .pth file names", ("again",), f"other/{SITE}", None, {}, Outcome("-303\n")),
          ("what PYTHONPATH names", (), f"other/{SITE}", None, {"PYTHONPATH": f"other/{SITE}"}, None),
          *[(f"another wheel of {script}, by PEX", ("again", script),
             "x.pex/.deps/nvidia_cuda_runtime_cu12.whl", None, {}, None)
            for script in ("x.pex", "x.pex/__main__.py")])],
    Row("an editable extension, and an older CUDA behind what PYTHONPATH names", "editable.c", RUNTIME,
        extensions=ASKS, place=before_pythons_own, arguments=("again",),
        env={"SITE": f"other/{SITE}"}),
    Row("an editable extension, and CUDA for several Pythons", "editable.c", RUNTIME,
        extensions=ASKS, place=among_other_pythons, arguments=("again",),
        env={"SITE": f"env/{SITE}"}),
    Row("two libraries are installed after calls in vain", "host.c",
        (*RUNTIME, Real("nvJitLink", "12.9")), ASKS,
        ("try:app/libasks.so", "install:libcudart.so.12", "install:libnvJitLink.so.12", "wait",
         *PLUGIN, "second"), flags=(*ONE, "-DSECOND=nvJitLinkVersion"), place=to_be_installed),

    # What runs short or is interrupted during the first call.
    Row("memory runs short and comes back", "recovers.c", RUNTIME, arguments=("as",)),
    Row("descriptors run short and come back", "recovers.c", RUNTIME, arguments=("nofile",)),
    Row("signals interrupt the first call", "interrupted.c", RUNTIME,
        preload=(Shared("interrupts.c"),)),
    Row("errno and dlerror() stay", "interrupted.c", RUNTIME),
    Row("dlerror() has something to say", "interrupted.c", RUNTIME, arguments=("/nowhere/lib.so",),
        differs=Outcome("12090 errno is kept nothing\n")),

    *[Row(f"the first call in a small {where}", "small_stack.c", RUNTIME, arguments=(where,))
      for where in ("coroutine", "signal")],
    Row("the first call in a small coroutine, and folders in folders", "small_stack.c", RUNTIME,
        arguments=("coroutine",), place=deep),

    # What looks at programs, or runs them.
    Row("proot runs a program whose run path has $ORIGIN", "asks.c", RUNTIME, place=beside,
        flags=IN_CUDA, under=("proot",)),
    Row("valgrind looks for memory that is lost", "asks.c", RUNTIME, under=LOSES),
    Row("the thread sanitizer watches four threads", "four_threads.c", RUNTIME,
        flags=(THREAD_SANITIZER,)),
    # One more stop, in the stub: gdb stops in every library that has a function of that name.
    Row("gdb stops at a function", "asks.c", RUNTIME, under=STOPS, better=stops_in_both, shared=True,
        flags=("-DASKS=cudaMalloc", "-DARGUMENTS=out, NULL")),

    # Programs that give up rights when they start, and those that ask for their library before.
    *[Row(f"a first call after {how}, lazy", "confined.c", RUNTIME, arguments=(how,),
          differs=Outcome("", -signal.SIGSYS) if how == "filter" else Outcome("-303\n"))
      for how in ("chroot", "nofile", "filter")],
    *[Row(f"a first call after {how}, eager by the environment", "confined.c", RUNTIME,
          arguments=(how,), env={"LAZYCUDA_EAGER": "1"}) for how in CONFINED],
    Row("a first call that opens nothing, eager by the source", "confined.c", RUNTIME,
        arguments=("filter",), flags=("-DEAGER", "-I", build.ROOT / "include")),
    Row("kernels are registered while the library is there", "slow_registration.c", (SLOW,),
        env={"LAZYCUDA_EAGER": "1"}),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_situation(row, tmp_path, real):
    situation.check(row, tmp_path, real)


@pytest.mark.minute
@pytest.mark.parametrize("row", [row for row in ROWS if not row.static and not row.shared], ids=lambda row: row.name)
def test_situation_of_an_embedded_stub(row, tmp_path, real):
    situation.check(row, tmp_path, real, situation.embedded)


def with_a_stub(world, *files):
    beside(world, *files)
    world.put("app", build.stub("nvJitLink"))


@pytest.mark.parametrize("place, difference", [(with_a_stub, None), (beside, Outcome("-6 0\n"))])
def test_a_folder_is_called_like_a_token_of_ld_so(place, difference, tmp_path, real):
    """It is a difference only where the stub lies outside of it."""
    situation.check(Row("$LIB", "asks.c", (Fake("nvJitLink", "12.9"),), place=place, differs=difference,
                        flags=("-DASKS=nvJitLinkVersion", *IN_CUDA, "-Wl,-rpath,$ORIGIN")),
                    tmp_path / "$LIB", real)
