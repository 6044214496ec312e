#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus that fuzzing begins with, some KB of made-up files.

    tests/fuzz/corpus.py [FOLDER]
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "inspection"), str(HERE.parent / "lib")]

import relocatable  # noqa: E402
import lists  # noqa: E402
import loadable  # noqa: E402
import made_up as c  # noqa: E402

SHORT_PTX = c.ptx(body=".extern .func f;\n.visible .global .u32 x = 1;\n")
FATBIN = c.fatbin(c.entry(c.PTX, SHORT_PTX, flags=c.PLAIN | c.LZ4, options=b"-c", version=(8, 0)),
                  c.entry(c.LTOIR, c.ltoir(), name=b"n", version=(1, 64)))

INSPECT = {
    "ptx": c.ptx(),
    "cubin": c.cubin(code=b"\0" * 8),
    # Of each ABI, and with a second set of sections.
    **{f"cubin-{arch}": relocatable.cubin(arch, toolkit)
       for arch, toolkit in ((80, 129), (90, 130), (100, 135))},
    "ltoir": c.ltoir(),
    "bitcode": c.wrapped(c.bitcode()),
    "llvm-ir": b'; a\rtarget datalayout = "e"\ndeclare double @"__nv_sin"(double)\n',
    "source": b'/* x */ #include "a.h"\nextern "C" __global__ void k() { char c = \'"\'; }\n',
    "fatbin": FATBIN,
    "zstd": c.fatbin(c.entry(c.CUBIN, c.cubin(code=b"\0" * 8), flags=c.PLAIN | c.ZSTD),
                     c.entry(c.LTOIR, c.ltoir(), flags=c.PLAIN | c.ZSTD | c.OBFUSCATED)),
    "object": c.elf([("__nv_relfatbin", FATBIN + bytes(8) + FATBIN)]),
    "offload": c.offload(c.image(c.cubin(code=b"\0" * 8), label=c.IS_OBJECT),
                         c.image(c.naming("a", "w:b"), "sm_90a", label=c.IS_BITCODE), version=2),
    "offload-object": c.compiled(c.offload(
        c.image(SHORT_PTX), c.image(FATBIN, label=c.IS_FATBIN), c.image(b"GPU", "gfx90a", "amdgcn"))),
    "stripped": c.elf(type=3, headers=False, segments=[(1, 120, 8 + len(FATBIN))]) +
    bytes(8) + FATBIN,
    "archive": c.archive(c.member(b"/", bytes(4)), c.member(b"//", b"a_long_name.o/\n"),
                         c.member(b"/0", c.elf([(".nv_fatbin", FATBIN)])),
                         c.member(b"#1/4", b"bsd\0" + SHORT_PTX)),
}

VERSIONS = ["13.2", "12.9.86", ">=13.2,<14", "~=12.4, !=12.6,==12.*", "sm_90a", "compute_100f",
            "lto_75", "-arch=sm_80", "-lto", "-O3", "-maxrregcount=64", "-split-compile=2",
            "-kernels-used=a,b", "-Xptxas=-v", "-ftz=1", "-Ofc=min"]


CALLER = dict(soname="libcaller.so", runpath="$ORIGIN/../cuda:",
              needed=["libcudart.so.12", "libnvrtc-09529672.so.12.6", "libcudart_stub.so"],
              imports=[("cudaMalloc", "libcudart.so.12", "libcudart.so.12"),
                       ("cudaMemAdvise", "libcudart.so.13", "libcudart.so.13"),
                       ("malloc", "libc.so.6", "GLIBC_2.17"), ("cudaFree", None, None)])
REAL = dict(soname="libcudart.so.12", nodes=["libcudart.so.12", "libcudart.so.12"],
            more=["cudaMalloc", "cudaLaunchKernelExC"])
STUB = dict(soname="libcudart_stub.so", nodes=["libcudart_stub.so", "LAZYCUDA_1",
                                               "libcudart.so.11.0", "libcudart.so.13"])
# Libraries of `lazycuda stub`.
OWN = dict(soname="libuser.so", needed=["libfft.so.11", "libbar-09529672.so.2", "libbar_stub.so"],
           imports=[("fftPlan", "libfft.so.11", "libfft.so.11"),
                    ("fftNew", "libfft.so.12", "libfft.so.12"), ("barA", "libbar.so.2", "BAR_1"),
                    ("barNew", "libbar.so.2", "BAR_2"), ("barB", None, None)])
OPENS = b"libcudart.so.12\0/usr/lib/libnvrtc.so.13.0\0/cudart.shm.\0"

OBJECTS = {"caller": loadable.library(**CALLER), "real": loadable.library(**REAL),
           "stub": loadable.library(**STUB, gnu_hash=False)}
IMAGES = {**OBJECTS,
          # A name that ends where the file does.
          "bare": loadable.library(needed=["libcudart"], strings_last=True),
          "own": loadable.library(**OWN),
          "plain": loadable.library(soname="libbar.so.2", more=["barA"]),
          "opens": OBJECTS["caller"] + OPENS,
          "sections": c.elf([(".rodata", OPENS), (".rodata.str", b"libcudart.so.11.0\0")], type=3),
          **{f"loaded-{name}": loadable.loaded(**tables) for name, tables in
             (("caller", CALLER), ("real", REAL), ("own", OWN),
              ("stub", {**STUB, "gnu_hash": False}))}}

CACHE = [("libcudart.so.13", "/opt/cuda/lib64/libcudart.so.13"), ("libz.so.1", "/lib/libz.so.1"),
         ("libcuda.so.1", "/usr/lib/libcuda.so.1")]
CACHES = {"new": loadable.cache(*CACHE),
          "relative": loadable.cache(("libcuda.so.1", "libcuda.so.1")),
          "old": loadable.cache(*CACHE[:1], before=b"ld.so-1.7.0".ljust(48, b"\0"))}

SETTINGS = ["strict\0" "12\0/opt/libcudart.so.12\0" "1", "off\0" "13", "off\0" "42", "none",
            "best_effort\0" "-1", "STRICT\0" "12.9\0lib\033[2J\u009b\u202e.so\0" "1",
            "\0" "011\0" "%n%s", "\0" "99999999999"]

PLACES = ["/opt/app/libuser.so\0$ORIGIN/../cuda:\0\0/a/b::c\0/opt/cuda\0/opt/conda",
          "./libuser.so\0\0${ORIGIN}:$LIB:/${LIB}/x:$PLATFORM\0:.:\0cuda\0.",
          "/\0/\0:\0;/a;\0/\0/"]

SHARED = OBJECTS["caller"]
WHEELS = {"stored": loadable.wheel((b"a/b.so", SHARED, False), (b"a/", b"", False)),
          "deflated": loadable.wheel((b"a/b.so", SHARED, True), (b"a.py", b"pass", True),
                                     comment=b"PK"),
          "wide": loadable.wheel((b"a/b.so", SHARED, True), wide=True)}

LISTS = {
    "library": """toolkits 1.0 1.1 2.0
library thing
    stub libthing_stub.so
    soname libthing.so.1 1.0-1.1
    soname libthing.so.2 2.0-
    node libthing.so.0 1
    folder a/lib 1.0-
    variable THING
    companion data.so.%M.%m
    error missing 1
    error absent 2
    error refused 3
    error driver 4
    error incoherent 5
    status thingStatus
enum thingStatus
    thingBad -3 1.0-
functions
    changed 1.0-1.1 (i32, out ptr) -> ptr
    changed 2.0- (i64, buf i8, inout u16) hook
    changed_v2 1.1 (i64, buf i8, inout u16) family changed
    counts 1.0- (ptr, u64) -> i64 negative
    gone 1.0,2.0 (?) undeclared apart
""",
    "structs": """# by value
toolkits 1.0 2.0
library t
    stub t_stub.so
    soname t.so.1 1.0
    soname t.so.2 2.0-
    variable T
    error missing 1
    error absent 2
    error refused 3
    error driver 4
    error incoherent 5
    status s
enum s
    bad 1 1.0-
struct big
    size 24 1.0- layout A
    .a u64[2] 0 1.0-
    .b.c u8 16 1.0-
    .b.d f32 20 1.0-
struct choice
    size 16 1.0 layout A
    size 24 2.0- layout B tail union
    .a ptr 0 1.0-
    .b u64 0 1.0-
    .c u64[3] 0 2.0-
    .next *choice 8 1.0
functions
    f 1.0- (big, in choice) -> big
    g 2.0- (choice) -> void
    h 1.0- (out big)
""",
}

LISTS["driver"] = "toolkits 1.0 1.1\n" + lists.WITHOUT_MAJORS
LISTS["own"] = """toolkits 3.0 4.0
library foo
    stub libfoo_stub.so
    soname libfoo.so.3 3.0
    soname libfoo.so.4 4.0-
    majors own
    nodes other
    node FOO_1 3
    node FOO_2 4
    package foo-lib
    folder a/lib 3.0
    folder b/lib 3.0-
    variable FOO
    advice Ask for it.
    error missing 9
    error absent 9
    error refused 9
functions
    fooA 3.0- (?) undeclared
    fooB 3.0 (f64) -> f64
    fooText 3.0- (i32) -> ptr text
    fooLast 3.0- (ptr) -> ptr text
"""
# What a library is before anything is known of it.
LISTS["empty"] = LISTS["library"].partition("    changed")[0]

PACKAGES = [
    "nvidia_cudnn_cu12-9.1.0.70.dist-info\0nvidia/__init__.py,,\n"
    "nvidia/cudnn/lib/libcudnn.so.9,sha256=aa,104664\nx/RECORD,,\n",
    "nvidia.cudnn.cu13-9.dist-info\0nvidia/cudnn/lib/libcudnn.so.9,,\r\n",
    "cutensor_cu11-2.dist-info\0nvidia/cudnn/lib/libcudnn.so.9,104664",
    "a_cu0-.dist-info", "_cu99-1.dist-info\0,,,\n\n", "",
]

CORPUS = {
    "inspect": INSPECT,
    "versions": {str(i): text.encode() for i, text in enumerate(VERSIONS)},
    "object": OBJECTS,
    "image": IMAGES,
    "ldcache": CACHES,
    "packages": {str(i): text.encode() for i, text in enumerate(PACKAGES)},
    "settings": {str(i): text.encode() for i, text in enumerate(SETTINGS)},
    "places": {str(i): text.encode() for i, text in enumerate(PLACES)},
    "wheel": WHEELS,
    "symbols": {name: text.encode() for name, text in LISTS.items()},
}


def main(folder):
    for target, files in CORPUS.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus")
