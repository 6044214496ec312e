#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes build/lazycuda-gpu.tar.gz, what `run.sh` needs on a machine with a device: docs/gpu.md.

    tests/gpu/bundle.py [BUILD]         after `make`; BUILD is where that was made

The headers and libraries are those in build/toolkits, which are fetched if they are not there.
"""
import gzip
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import symbols  # noqa: E402
import toolkits  # noqa: E402

ROOT = toolkits.ROOT
CALLERS = {"11": "11.8", "12": "12.9", "13": "13.5"}
LINKER = "12.9"         # its nvJitLink: of what it makes, drivers of 12 and 13 load all
ARCHITECTURES = "75 80 86 87 89 90 100 103 120".split()
LIMIT = 60 * 2**20
DRIVER = ("context", "names", "nvml")
STUBS = ("libcudart_stub.so", "libcuda_stub.so", "libnvidia-ml_stub.so", "libnvJitLink_stub.so",
         "libnvrtc_stub.so", "liblazycuda_link.so")
CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ["-std=gnu11", "-O1", "-g0", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include"]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          **options)
    if done.returncode:
        sys.exit(f"gpu-bundle: {shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")


def python(*words):
    run(sys.executable, HERE / "compile_code.py", *words)


class Bundle:
    def __init__(self, build):
        self.built = build / "lib"
        self.folder = build / "gpu" / "lazycuda-gpu"
        self.work = build / "gpu" / "work"
        self.archive = build / "lazycuda-gpu.tar.gz"
        self.toolkit = {version: toolkits.Toolkit(version) for version in CALLERS.values()}

    def fetch(self):
        some = ["cudart", "nvrtc", "nvjitlink", "nvfatbin", "crt"]
        failures = toolkits.fetch.fetch(toolkits.TOOLKITS, CALLERS.values(), some,
                                        platform.machine())
        for version, toolkit in self.toolkit.items():
            if not toolkit.present():
                sys.exit(f"gpu-bundle: CUDA {version} could not be fetched: "
                         f"{'; '.join(map(str, failures))}")

    # ---- device code ----

    def made(self, name):
        return self.work / name

    def fatbin(self, name, *entries):
        python("nvfatbin", self.toolkit[LINKER].file("nvfatbin"), self.made(name), *entries)

    def of_each_architecture(self, stem):
        return [f"cubin:{arch}:{path}" for arch in ARCHITECTURES
                for path in [self.made(f"{stem}_{arch}.cubin")] if path.exists()]

    def device_code(self):
        for version, toolkit in self.toolkit.items():
            python("nvrtc", toolkit.file("nvrtc"), version, HERE, self.work, *ARCHITECTURES)
        self.fatbin("kernels.fatbin", f"ptx:75:{self.made('kernels.ptx')}",
                    *self.of_each_architecture("kernels"))
        self.fatbin("container.fatbin", f"ptx:52:{self.made('whole_52.ptx')}",
                    *[f"ltoir:{arch}:{self.made(f'whole_{arch}.ltoir')}" for arch in ("52", "61")])
        for half in ("linked", "helper"):
            self.fatbin(f"{half}_all.fatbin", f"ptx:75:{self.made(f'{half}_all.ptx')}",
                        *self.of_each_architecture(half))
            self.host_file(half)
            shutil.copy(HERE / f"{half}.cu", self.made(f"{half}_all.cu"))
        code = self.folder / "code"
        code.mkdir()
        for path in self.work.iterdir():
            if not path.name.startswith(("kernels", "whole")) and path.suffix != ".s":
                shutil.copy(path, code)

    def host_file(self, half):
        """A host object with relocatable device code, as nvcc -dc makes it, and an archive."""
        source = self.made(f"{half}.s")
        source.write_text('.section __nv_relfatbin, "a"\n.balign 8\n'
                          f'fatbin: .incbin "{self.made(f"{half}_all.fatbin")}"\n'
                          '.section .nvFatBinSegment, "aw"\n.balign 8\n'
                          ".long 0x466243b1, 1\n.quad fatbin, 0\n"
                          '.section .note.GNU-stack, "", %progbits\n')
        run(*CC, "-c", source, "-o", self.made(f"{half}_all.o"))
        run("ar", "rcD", self.made(f"{half}_all.a"), self.made(f"{half}_all.o"))

    # ---- programs ----

    def link(self, output, source, *arguments):
        output.parent.mkdir(parents=True, exist_ok=True)
        run(*CC, *FLAGS, source, *arguments, "-ldl", "-o", output)

    def runtime_programs(self, major, version):
        """Of every source two programs, one of the stub and one of the real library."""
        toolkit = self.toolkit[version]
        headers = [f"-isystem{path}" for path in sorted(toolkit.site.glob("nvidia/*/include"))]
        define = f'-DFATBIN="{self.made("kernels.fatbin")}"'
        libraries = {"stub": self.built / f"cuda{major}" / "libcudart_stub.so",
                     "direct": toolkit.file("cudart")}
        folder = self.folder / "bin" / major
        for source in sorted((HERE / "runtime").glob("*.c")):
            for side, library in libraries.items():
                words = (source, define, *headers, library, "-Wl,--allow-shlib-undefined")
                if source.stem != "plugin":
                    self.link(folder / f"{source.stem}.{side}", *words)
                    continue
                for copy in "ab":
                    self.link(folder / f"plugin-{copy}.{side}.so", *words, "-shared", "-fPIC")

    def stand_in(self, library, soname):
        """To link against where there is no driver."""
        source = self.made(f"{library}.c")
        source.write_text("".join(f"void {f.name}(void);\nvoid {f.name}(void) {{ }}\n"
                                  for f in symbols.read().libraries[library].functions))
        output = self.made(soname)
        run(*CC, "-shared", "-fPIC", "-fno-builtin", f"-Wl,-soname,{soname}", source, "-o", output)
        return output

    def driver_programs(self):
        names = [f.name for f in symbols.read().libraries["cuda"].functions]
        self.made("names.h").write_text("static const char *const names[] = {\n" + "".join(
            f'\t"{name}",\n' for name in sorted(set(names))) + "};\n")
        real = [self.stand_in("cuda", "libcuda.so.1"), self.stand_in("nvml", "libnvidia-ml.so.1")]
        stubs = [self.built / "cuda13" / name for name in ("libcuda_stub.so", "libnvidia-ml_stub.so")]
        folder = self.folder / "bin" / "driver"
        for name in DRIVER:
            source = HERE / "driver" / f"{name}.c"
            for side, libraries in (("stub", stubs), ("direct", real)):
                self.link(folder / f"{name}.{side}", source, "-I", self.work, "-Wl,--as-needed",
                          *libraries)
        self.link(folder / "link", HERE / "dispatch" / "link.c", stubs[0],
                  self.built / "liblazycuda_link.so", "-Wl,--allow-shlib-undefined",
                  f"-Wl,-rpath-link,{self.built}")

    def programs(self):
        for name in ("judge", "there", "first"):
            self.link(self.folder / "bin" / name, HERE / f"{name}.c")
        for major, version in CALLERS.items():
            self.runtime_programs(major, version)
        self.driver_programs()

    # ---- the archive ----

    def libraries(self):
        (self.folder / "lib").mkdir()
        for name in STUBS:
            shutil.copy(self.built / name, self.folder / "lib")
        for version, toolkit in self.toolkit.items():
            folder = self.folder / "cuda" / version
            folder.mkdir(parents=True)
            shutil.copy(toolkit.file("cudart"), folder)
        shutil.copy(self.toolkit[LINKER].file("nvJitLink"), self.folder / "cuda" / LINKER)

    def pack(self):
        part = self.archive.with_suffix(".part")
        with open(part, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, \
                tarfile.open(fileobj=packed, mode="w") as archive:
            for path in [self.folder, *sorted(self.folder.rglob("*"))]:
                member = archive.gettarinfo(path, str(path.relative_to(self.folder.parent)))
                member.uid = member.gid = member.mtime = 0
                member.uname = member.gname = ""
                with open(path if path.is_file() else os.devnull, "rb") as file:
                    archive.addfile(member, file if path.is_file() else None)
        size = part.stat().st_size
        if size > LIMIT:
            sys.exit(f"gpu-bundle: {size} bytes are more than {LIMIT}")
        part.replace(self.archive)

    def make(self):
        self.fetch()
        for folder in (self.folder, self.work):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self.device_code()
        self.programs()
        self.libraries()
        shutil.copy(HERE / "run.sh", self.folder)
        shutil.copy(ROOT / "LICENSE", self.folder)
        self.pack()


if __name__ == "__main__":
    Bundle(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()).make()
