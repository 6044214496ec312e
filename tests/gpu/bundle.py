#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes build/lazycuda-gpu.tar.gz, what `run.sh` needs on a machine with a device: docs/reference/gpu.md.

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
sys.path[:0] = [str(HERE.parent / room) for room in ("lib", "agreement", "fakes")]
import containers  # noqa: E402
import fakes  # noqa: E402
import nvcc_of_majors  # noqa: E402
import samples  # noqa: E402
import symbols  # noqa: E402
import toolkits  # noqa: E402

ROOT = toolkits.ROOT
CALLERS = {"11": "11.8", "12": "12.9", "13": "13.5"}
PTX_BY = "11.8"         # what every driver takes that has a device of sm_75
LINKER = "12.9"         # its nvJitLink: of what it makes, drivers of 12 and 13 load all
ARCHITECTURES = "75 80 86 87 89 90 100 103 120".split()
DRIVER = ("names", "nvml")
STUBS = ("libcudart_stub.so", "libcuda_stub.so", "libnvidia-ml_stub.so", "libnvJitLink_stub.so",
         "libnvrtc_stub.so", "liblazycuda_link.so")
CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ["-std=gnu11", "-O1", "-g0", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include"]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          **options)
    if done.returncode:
        sys.exit(f"gpu-bundle: {shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Bundle:
    def __init__(self, build):
        self.build = build
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

    def find_nvcc(self):
        """One for callers of each major; or none of any, and why."""
        fetched = self.build / "nvcc"
        self.without_nvcc = nvcc_of_majors.fetch(fetched)
        self.nvcc = {}
        for major, version in CALLERS.items():
            if not self.without_nvcc:
                self.nvcc[major] = nvcc_of_majors.Nvcc(fetched, self.toolkit[version],
                                                       self.work / f"nvcc-{major}")
                self.without_nvcc = self.nvcc[major].why_not()

    # ---- device code ----

    def made(self, name):
        return self.work / name

    def fatbin(self, name, *entries):
        run(sys.executable, HERE / "make_fatbin.py", self.toolkit[LINKER].file("nvfatbin"),
            self.made(name), *entries)

    def compile(self, version):
        """What the nvrtc of a version makes of the sources here."""
        wanted = [("small", f"{version}_{arch}", kind, f"-arch=sm_{arch}", "-rdc=true")
                  for arch in ARCHITECTURES for kind in ("cubin", "ptx")
                  if samples.compiles(version, f"sm_{arch}")]
        if version == PTX_BY:
            wanted += [(stem, "all", "ptx", "-arch=compute_75", "-rdc=true")
                       for stem in ("linked", "helper")]
            wanted.append(("kernels", "all", "ptx", "-arch=compute_75"))
        if version == LINKER:
            wanted += [("whole", "52", "ptx", "-arch=compute_52", "-rdc=true"),
                       *[("whole", arch, "ltoir", f"-arch=compute_{arch}", "-rdc=true", "-dlto")
                         for arch in ("52", "61")]]
            for arch in ARCHITECTURES:
                wanted.append(("kernels", arch, "cubin", f"-arch=sm_{arch}"))
                for stem in ("linked", "helper"):
                    wanted += [(stem, arch, "cubin", f"-arch=sm_{arch}", "-rdc=true"),
                               (stem, arch, "ltoir", f"-arch=compute_{arch}", "-rdc=true", "-dlto")]
        library = self.toolkit[version].file("nvrtc")
        jobs = "".join("\t".join([str(HERE / f"{stem}.cu"), str(self.made(f"{stem}_{of}.{kind}")),
                                  kind, *options]) + "\n" for stem, of, kind, *options in wanted)
        said = run(sys.executable, samples.HERE / "producer.py", library, input=jobs,
                   env=samples.in_its_folder(library)).splitlines()
        if said != ["ok"] * len(wanted):
            sys.exit(f"gpu-bundle: nvrtc {version} says {said}")
        for stem, of, kind, *_ in wanted:
            if kind == "ptx":       # whose NUL belongs to it, for the driver
                with open(self.made(f"{stem}_{of}.ptx"), "ab") as made:
                    made.write(b"\0")

    def of_each_architecture(self, stem):
        return [f"cubin:{arch}:{path}" for arch in ARCHITECTURES
                for path in [self.made(f"{stem}_{arch}.cubin")] if path.exists()]

    def device_code(self):
        for version in self.toolkit:
            self.compile(version)
        self.fatbin("kernels.fatbin", f"ptx:75:{self.made('kernels_all.ptx')}",
                    *self.of_each_architecture("kernels"))
        self.fatbin("container.fatbin", f"ptx:52:{self.made('whole_52.ptx')}",
                    *[f"ltoir:{arch}:{self.made(f'whole_{arch}.ltoir')}" for arch in ("52", "61")])
        for half in ("linked", "helper"):
            self.fatbin(f"{half}_all.fatbin", f"ptx:75:{self.made(f'{half}_all.ptx')}",
                        *self.of_each_architecture(half))
            # As nvcc -dc makes it, and an archive of it.
            made = containers.host_object(self.made(f"{half}_all.fatbin"))
            shutil.copy(made, self.made(f"{half}_all.o"))
            shutil.copy(containers.archive(made), self.made(f"{half}_all.a"))
            shutil.copy(HERE / f"{half}.cu", self.made(f"{half}_all.cu"))
        code = self.folder / "code"
        code.mkdir()
        for path in self.work.iterdir():
            if path.is_file() and not path.name.startswith(("kernels", "whole")):
                shutil.copy(path, code)
        if self.without_nvcc:
            print(f"gpu-bundle: without the programs of nvcc: {self.without_nvcc}")
            (code / "no-nvcc").write_text(f"{self.without_nvcc}\n")

    # ---- programs ----

    def link(self, output, *arguments):
        output.parent.mkdir(parents=True, exist_ok=True)
        # What an older driver lacks, nobody looks for before it is called.
        run(*CC, *FLAGS, "-Wl,-z,lazy", *arguments, "-ldl", "-o", output)

    def runtime_programs(self, major, version):
        """Of every source two programs, one of the stub and one of the real library."""
        toolkit = self.toolkit[version]
        headers = [f"-isystem{path}" for path in sorted(toolkit.site.glob("nvidia/*/include"))]
        code = f'-DFATBIN="{self.made("kernels.fatbin")}"'
        libraries = {"stub": self.built / f"cuda{major}" / "libcudart_stub.so",
                     "direct": toolkit.file("cudart")}
        folder = self.folder / "bin" / major
        objects = {} if self.without_nvcc else self.nvcc_objects(self.nvcc[major])
        for side, library in libraries.items():
            after = [library, "-Wl,--allow-shlib-undefined"]
            for source in sorted((HERE / "runtime").glob("*.c")):
                if source.stem == "plugin":
                    for copy in "ab":
                        self.link(folder / f"plugin-{copy}.{side}.so", source, code, *headers,
                                  *after, "-shared", "-fPIC")
                else:
                    self.link(folder / f"{source.stem}.{side}", source, code, *headers, *after)
            for name, made in objects.items():
                self.link(folder / f"{name}.{side}", *made, *after)

    def nvcc_objects(self, nvcc):
        """{program: what it is linked from}, for both of its sides."""
        folder = nvcc.folder

        def compiled(name, source, *flags):
            run(*nvcc.command("-c", *flags, HERE / source, "-o", folder / f"{name}.o"))
            return folder / f"{name}.o"

        halves = [compiled("separate", "nvcc/separate.cu", "-rdc=true"),
                  compiled("helper", "helper.cu", "-rdc=true")]
        run(*nvcc.command("-dlink", *halves, "-o", folder / "joined.o"))
        return {"compiled": [compiled("compiled", "nvcc/compiled.cu")],
                "per-thread": [compiled("per-thread", "nvcc/compiled.cu",
                                        "-default-stream=per-thread")],
                "separate": [*halves, folder / "joined.o"]}

    def driver_programs(self):
        names = [f.name for f in symbols.read().libraries["cuda"].functions]
        self.made("names.h").write_text("static const char *const names[] = {\n" + "".join(
            f'\t"{name}",\n' for name in sorted(set(names))) + "};\n")
        # To link against where there is no driver.
        real = [fakes.fake(library, CALLERS["13"]) for library in ("cuda", "nvml")]
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
        self.link(self.folder / "bin" / "judge", HERE / "judge.c")
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
        with open(self.archive, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, \
                tarfile.open(fileobj=packed, mode="w") as archive:
            for path in [self.folder, *sorted(self.folder.rglob("*"))]:
                member = archive.gettarinfo(path, str(path.relative_to(self.folder.parent)))
                member.uid = member.gid = member.mtime = 0
                member.uname = member.gname = ""
                with open(path if path.is_file() else os.devnull, "rb") as file:
                    archive.addfile(member, file if path.is_file() else None)

    def make(self):
        self.fetch()
        for folder in (self.folder, self.work):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self.find_nvcc()
        self.device_code()
        self.programs()
        self.libraries()
        shutil.copy(HERE / "run.sh", self.folder)
        shutil.copy(ROOT / "LICENSE", self.folder)
        self.pack()


if __name__ == "__main__":
    Bundle(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()).make()
