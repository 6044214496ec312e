# SPDX-License-Identifier: MIT
"""`lazycuda toolkit`: a folder of the shape of a CUDA toolkit, whose libraries are stubs."""
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from . import arguments, elf, known, paths, progress, report, toolkit_parts
from .command import complain
from .repoint import Refused
from .staging import Staging, output_path
from .toolkit_parts import version_text

DESCRIPTION = """\
Makes a folder that build systems take for a CUDA toolkit: projects that ask for CUDA are built
against the stubs, unchanged, and need no CUDA to start.

lib64 has the import libraries of that CUDA as libcudart.so, libcublas.so and so on, and the stubs
beside them, by which programs are started.  libcudart_static.a, which nvcc and CMake link by
default, is an archive: a program has the stub inside then, and needs nothing beside it.  include
has NVIDIA's headers, and bin its nvcc, where there are any: of packages of PyPI that are installed
for the same Python, of conda, or of --headers.  All are links, so that nothing is held twice.
"""
EPILOG = """\
Exit status: 0 the folder is made, or was as it should be; 1 it was refused; 2 wrong usage, or
something could not be read or written.
"""
# Names each file and link that this command has made, behind what it is.
MANIFEST = "MANIFEST"
# They come with the driver.
DRIVER = ("cuda", "nvidia-ml")
# What nvcc and CMake link as an archive unless they are told otherwise.
STATIC = "cudart"
EMPTY_ARCHIVE = b"!<arch>\n"
# Where there is none: else CMake takes the nvcc of PATH, and with it the headers of another CUDA.
NVCC = """\
#!/bin/sh
# Made by `lazycuda toolkit`, which found no nvcc: it says of which CUDA this folder is, and compiles nothing.
case "$*" in
*__cmake_determine_cuda*) echo "#\\$ TOP=$(cd "$(dirname "$0")/.." && pwd)" ;;
*-V* | *--version*) echo "Cuda compilation tools, release {version}, V{version}.0" ;;
*) echo "$0: there is no nvcc in this folder; give \\`lazycuda toolkit\\` one, by --headers or from PyPI" >&2; exit 1 ;;
esac
"""
PC = """\
cudaroot=${{pcfiledir}}/../..
libdir=${{cudaroot}}/lib64
includedir=${{cudaroot}}/include

Name: {name}
Description: Lazy-loading stand-in for lib{name}
Version: {version}
Libs: -L${{libdir}} -Wl,-z,now -l{name}
Cflags: -I${{includedir}}
"""


class Link(str):
    """Where a symbolic link leads, as it is written."""


class Shape:
    """What is to be in a folder: {name in it: Link, bytes, or the Path of what is copied}"""

    def __init__(self, folder, copies, libdir):
        self.files = {}
        self.folder, self.copies = folder, copies
        # What lies in the same tree is moved together with it.
        self.together = libdir in folder.parents

    def take(self, name, file):
        """A file or folder from elsewhere."""
        if self.copies and file.is_dir():
            self.merge(name, [file])
        elif self.copies:
            self.files[name] = file
        else:
            here = (self.folder / name).parent
            self.files[name] = Link(os.path.relpath(file, here) if self.together else file)

    def merge(self, name, folders):
        """What is in any of these folders; of two files of one name that of the first."""
        inside = {}
        for each in (each for folder in folders for each in sorted(folder.iterdir())):
            if each.name not in ("__init__.py", "__pycache__"):
                inside.setdefault(each.name, []).append(each)
        for word, same in inside.items():
            below = [each for each in same if each.is_dir()]
            if len(below) > 1:
                self.merge(f"{name}/{word}", below)
            else:
                self.take(f"{name}/{word}", same[0])

    def described(self):
        """{name: what it is}, as _what() says it of what is there."""
        return {name: f"-> {file}" if isinstance(file, Link) else
                _digest(file if isinstance(file, bytes) else file.read_bytes())
                for name, file in self.files.items()}

    def write(self, new):
        for name, file in self.files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(file, Link):
                path.symlink_to(file)
            elif isinstance(file, bytes):
                path.write_bytes(file)
                if file.startswith(b"#!"):
                    path.chmod(path.stat().st_mode | path.stat().st_mode >> 2 & 0o111)
            else:
                shutil.copy(file, path)


def _digest(content):
    return hashlib.sha256(content).hexdigest()[:16]


# ---- what is to be there ----

def _libraries(stubs, major):
    """{library: its import library} of those that there are for a CUDA."""
    folder = paths.of_major(stubs, f"cuda{major}")
    return {file.name[3:-len("_stub.so")]: file for file in sorted(folder.glob("lib*_stub.so"))}


def _embedded(name, major, suffix):
    """The stub of a library as a C file, or as an archive, which takes a compiler some seconds."""
    with tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
        made = pathlib.Path(folder, f"lib{name}_static{suffix}")
        done = subprocess.run([paths.program(), "embed", "--cuda", str(major), "-o", made, name], text=True,
                              stderr=subprocess.PIPE)
        if done.returncode:
            why = (done.stderr.splitlines() or [f"`lazycuda embed` ended with {done.returncode}"])[0]
            raise Refused("NO_ARCHIVE", f"{made.name} could not be made: {why.partition(';')[0]}; set CC to a C "
                                        "compiler, and AR to its ar")
        return made.read_bytes()


def _compile(shape, name, major):
    """Makes an archive, or takes what was made of the same source before."""
    inside = f"archives/{name}-{_digest(_embedded(name, major, '.c'))}.a"
    there = shape.folder / "lib64" / inside
    made = there.read_bytes() if there.is_file() else b""
    if not made or _made_before(shape.folder).get(f"lib64/{inside}") != _digest(made):
        made = _embedded(name, major, ".a")
    shape.files[f"lib64/{inside}"] = made
    shape.files[f"lib64/lib{name}_static.a"] = Link(inside)


def _add_archive(shape, name, installed, major, wanted):
    """The installed one, or one that is wanted; else the import library stands for it, which ld takes."""
    static = f"lib64/lib{name}_static.a"
    if installed.exists():
        shape.take(static, installed)
        return
    shape.files[static] = Link(f"lib{name}.so")
    if name in wanted or name == STATIC:
        try:
            _compile(shape, name, major)
        except Refused:
            if name in wanted:
                raise


def _add_libraries(shape, stubs, libraries, major, wanted):
    for name, file in libraries.items():
        shape.take(f"lib64/lib{name}.so", file)
        soname = elf.read(file).soname
        shape.take(f"lib64/{soname}", stubs / soname)
        if name in DRIVER:
            shape.files[f"lib64/stubs/lib{name}.so"] = Link(f"../lib{name}.so")
        else:
            _add_archive(shape, name, file.with_suffix(".a"), major, wanted)


def _add_parts(shape, parts):
    """Headers, and the compiler if there is one.  Packages may share a folder."""
    shape.merge("include", dict.fromkeys(part.include for part in parts if part.include.is_dir()))
    roots = list(dict.fromkeys(part.root for part in parts))
    for root in roots:
        wrapper = toolkit_parts.wrapper(root)
        for name in ("nvvm", *(f"bin/{name}" for name in toolkit_parts.PROGRAMS)):
            if (root / name).exists() and root / name != wrapper:
                shape.take(name, root / name)
    device = [root / lib / "libcudadevrt.a" for root in roots for lib in ("lib64", "lib")]
    found = next((file for file in device if file.exists()), None)
    if found:
        shape.take("lib64/libcudadevrt.a", found)
    else:       # nvcc and CMake name it, and few programs have anything of it
        shape.files["lib64/libcudadevrt.a"] = EMPTY_ARCHIVE


def _add_words(shape, libraries, version, machine):
    """What tells the version, and the folders' other names."""
    files, text = shape.files, version_text(version)
    files.setdefault("bin/nvcc", NVCC.format(version=text).encode())
    files["version.txt"] = f"CUDA Version {text}.0\n".encode()
    one = {"name": "CUDA SDK", "version": f"{text}.0"}
    files["version.json"] = (json.dumps({"cuda": one}, indent=3, separators=(",", " : ")) + "\n").encode()
    for name in libraries:
        files[f"lib64/pkgconfig/{name.lower() if name == 'nvJitLink' else name}-{text}.pc"] = PC.format(
            name=name, version=text).encode()
    files["lib"] = Link("lib64")
    target = toolkit_parts.target(machine)
    files[f"{target}/lib"], files[f"{target}/include"] = Link("../../lib64"), Link("../../include")


# ---- what is there ----

def _inside(folder):
    """(name, path) of each file and link; the manifest is none of them."""
    for here, below, files in os.walk(folder):
        for path in (pathlib.Path(here, name) for name in (*below, *files)):
            if (path.is_symlink() or not path.is_dir()) and path != folder / MANIFEST:
                yield str(path.relative_to(folder)), path


def _what(path):
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    return _digest(path.read_bytes()) if path.is_file() else "other"


def _made_before(folder):
    try:
        lines = (folder / MANIFEST).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return dict(line.split("\t", 1)[::-1] for line in lines if "\t" in line)


def _is_right(folder, shown, wanted):
    """Whether all is there already; refuses to replace what is not this command's, and reads none of that."""
    there, before = {}, _made_before(folder)
    for name, path in _inside(folder):
        if name not in wanted and name not in before:
            raise Refused("NOT_OURS", f"{shown} holds {name}, which this command did not make: nothing was changed; "
                                      "name another folder")
        there[name] = _what(path)
        if there[name] not in (wanted.get(name), before.get(name)):
            raise Refused("CHANGED", f"{shown}/{name} is not what this command made: nothing was changed; keep it "
                                     "elsewhere")
    return there == wanted == before


def _place(shape, shown):
    """"made", or "same" if the folder is that already."""
    wanted = shape.described()
    if _is_right(shape.folder, shown, wanted):
        return "same"
    with Staging(progress.Line(wanted=False)) as staging:
        new = staging.folder(shape.folder, shown)
        (new / "include").mkdir()
        shape.write(new)
        (new / MANIFEST).write_text("".join(f"{what}\t{name}\n" for name, what in sorted(wanted.items())))
        staging.commit()
    return "made"


# ---- all together ----

def _newest(major):
    """The newest of a major that the stubs know: of whom no header tells more."""
    return max(pair for pair in (tuple(map(int, text.split("."))) for text in known.toolkits) if pair[0] == major)


def _version(parts, major):
    """The runtime's headers say which CUDA it is."""
    said = [toolkit_parts.of_headers(part.include) for part in parts]
    for part, version in zip(parts, said):
        if version and version[0] != major:
            raise Refused("OTHER_MAJOR", f"{part.include} has the headers of CUDA {version_text(version)}, and --cuda "
                                         f"says {major}; give the headers of CUDA {major}, or --cuda {version[0]}")
    told = filter(None, said) if any(said) else filter(None, (part.version for part in parts))
    return max(told, default=_newest(major))


def _notes(shape, parts, others, major):
    if shape.files[f"lib64/lib{STATIC}_static.a"] == f"lib{STATIC}.so":
        yield "libcudart_static.a stands for libcudart.so, for want of a C compiler: programs need libcudart_stub.so"
    for wrapper in filter(None, map(toolkit_parts.wrapper, dict.fromkeys(part.root for part in parts))):
        yield (f"{wrapper} is left out: no nvcc.profile lies beside it, so it starts the nvcc of another folder, and "
               "that links its own libraries; give --headers that folder")
    by_version = {}
    for part in parts:
        if part.version:
            by_version.setdefault(part.version, {})[part.name] = True
    if len(by_version) > 1:
        yield "the headers are of more than one CUDA: " + ", ".join(
            f"{version_text(version)} ({', '.join(names)})" for version, names in sorted(by_version.items()))
    if others and not parts:
        yield f"not taken, since it is not of CUDA {major}: " + ", ".join(sorted({part.name for part in others}))


# What nvcc adds to each of its command lines.
NVCC_VARIABLES = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "LIBRARIES")


def _folders_before():
    """(variable, folder) of those in which a linker looks before lib64.  NVIDIA's images set LIBRARY_PATH, where gcc
    looks before the folders of -Wl,-L."""
    for folder in filter(None, os.environ.get("LIBRARY_PATH", "").split(":")):
        yield "LIBRARY_PATH", folder
    for variable in NVCC_VARIABLES:
        for folder in re.findall(r"(?:-L|--library-path)[\s=]*(\S+)", os.environ.get(variable, "")):
            yield variable, folder


def _taken_before(libraries):
    for variable, folder in _folders_before():
        for name, ours in libraries.items():
            file = pathlib.Path(folder, f"lib{name}.so")
            if file.exists() and file.resolve() != ours:
                yield f"{variable} has {file}, which a linker may take instead of the stub: leave that folder out"


def _missing(parts, major):
    """{header: what pip installs to get it} of those that none of the parts has."""
    missing = {header: toolkit_parts.requirement(header, major) for header, _ in toolkit_parts.HEADERS
               if not any((part.include / header).exists() for part in parts)}
    return {header: package for header, package in missing.items() if package}


def _make(options):
    stubs = (options.stubs or paths.libdir()).resolve()
    libraries = _libraries(stubs, options.cuda)
    folder = output_path(options.folder)
    machine = elf.read(stubs / "libcudart_stub.so").machine
    parts, others = ([], []) if options.headers == pathlib.Path("none") else \
        toolkit_parts.find(options.headers and options.headers.absolute(), options.cuda, machine)
    if others and not parts and options.headers:
        versions = sorted({part.version for part in others if part.version})
        raise Refused("OTHER_MAJOR", f"{options.headers} has the headers of CUDA "
                                     f"{', '.join(map(version_text, versions))}, and --cuda says {options.cuda}; give "
                                     f"the headers of CUDA {options.cuda}, or another --cuda")
    version = _version(parts, options.cuda)
    shape = Shape(folder, options.copy, stubs)
    _add_libraries(shape, stubs, libraries, options.cuda, options.static)
    _add_parts(shape, parts)
    nvcc = shape.files.get("bin/nvcc")
    _add_words(shape, libraries, version, machine)
    return {"folder": str(folder), "cuda": version_text(version),
            "outcome": _place(shape, options.folder), "error": None, "code": None,
            "headers": [{"name": part.name, "version": part.version and version_text(part.version),
                         "folder": str(part.include)} for part in parts if part.include.is_dir()],
            "nvcc": nvcc and str(nvcc), "libraries": list(libraries),
            "missing": _missing(parts, options.cuda),
            "notes": [*_notes(shape, parts, others, options.cuda), *_taken_before(libraries)]}


def _lines(said):
    folder = shlex.quote(said["folder"])
    as_it_was = ", as it was" if said["outcome"] == "same" else ""
    yield f"{said['folder']}: of the shape of CUDA {said['cuda']}{as_it_was}"
    names = [f"{name}={folder}" for name in ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT")]
    yield f"export {' '.join(names)} PATH={folder}/bin:$PATH PKG_CONFIG_PATH={folder}/lib64/pkgconfig"
    yield f"or --with-cuda={folder}, -DCUDAToolkit_ROOT={folder}"
    yield f"nvcc is {said['nvcc']}" if said["nvcc"] else "there is no nvcc: C and C++ alone can be compiled"
    if said["missing"]:
        yield "headers that are missing, and who has them: " + ", ".join(
            f"{header} ({package})" for header, package in said["missing"].items())
    yield from said["notes"]


def _carry_out(parser, options):
    stubs = options.stubs or paths.libdir()
    majors = [int(major) for major in paths.majors("cuda", stubs)]
    if options.cuda not in majors:
        parser.error(f"--cuda {options.cuda}: there are import libraries of {', '.join(map(str, majors))} here")
    for name in options.static:
        if name in DRIVER or name not in _libraries(stubs, options.cuda):
            parser.error(f"--static {name}: CUDA {options.cuda} has no such library here, or none that is static")
    try:
        said = _make(options)
    except Refused as refused:
        said = {"folder": str(options.folder), "outcome": "refused", "error": str(refused), "code": refused.code}
    if options.json:
        text = json.dumps(said, indent=2)
    elif options.quiet and not said["error"]:
        text = said["folder"]
    elif said["error"]:
        what, _, advice = said["error"].partition("; ")
        complain(report.printable(f"{parser.prog}: refused ({said['code']}): {what}") + "\n    " +
                 report.printable(advice))
        return 1
    else:
        text = "\n    ".join(map(report.printable, _lines(said)))
    return 2 if not parser.say(text) else int(bool(said["error"]))


def main(words=None):
    parser = arguments.Parser("toolkit", "--cuda MAJOR DIR", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("folder", metavar="DIR", type=arguments.path, help="the folder; one that was made before is replaced")
    add("--cuda", metavar="MAJOR", type=int, required=True, help="whose interface it has: 11, 12 or 13")
    add("--headers", metavar="FOLDER", type=arguments.path,
        help="what has the headers and nvcc: a toolkit, conda's environment, or what pip's --target named; `none` for "
             "none; default: what this Python has, else conda")
    add("--static", metavar="LIBRARY", action="append", default=[],
        help="libLIBRARY_static.a is an archive, too, which $CC compiles; may be given again")
    add("--copy", action="store_true", help="copies, not links to what is elsewhere: a folder that needs nothing beside it")
    add("--stubs", metavar="DIR", type=arguments.path, help="where the stubs are")
    add("--quiet", action="store_true", help="print the folder alone")
    add("--json", action="store_true", help="print JSON")
    return parser.run(_carry_out, words)
