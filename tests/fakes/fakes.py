# SPDX-License-Identifier: MIT
"""Fake CUDA libraries: any version, any set of names, any defect.

    fake("cudart", "12.9")                    exports what 12.9 exports
    fake("nvrtc", "13.0", without=["nvrtcVersion"])
    driver("12.2"), nvml("535.104.05")
    truncated(file), foreign(file), ...       the damaged ones

Each returns a file in build/tests/bin whose base name is its SONAME; World
puts copies where a test wants them.
"""
import os
import pathlib
import zlib

import build
import symbols

HERE = pathlib.Path(__file__).resolve().parent


def answer(library, name, version):
    """What a fake's function returns; no status of CUDA is that large."""
    return zlib.crc32(f"{library} {name} {version}".encode()) & 0x3fffffff | 0x40000000


def soname(library, version):
    return symbols.read().libraries[library].soname(symbols.version(version))


def exports(library, version):
    return symbols.read().libraries[library].exports(symbols.version(version))


def fake(library, version, names=None, without=(), more=(), node=None, constructor=None,
         broken=False, data=0, own=None, cc=build.CC):
    """`constructor` is C code that runs when the fake is loaded; `data` is the
    size of a table behind everything else in the file; `own` is a SONAME that
    the list does not know."""
    major, minor = symbols.version(version)
    own = own or soname(library, version)
    names = sorted(set(exports(library, version) if names is None else names)
                   - set(without) | set(more))
    listing = "".join(f"FAKE({name}, {answer(library, name, version)})\n" for name in names)
    listed = symbols.read().libraries.get(library)     # or made up
    if node is None:
        node = "" if listed and listed.without_majors else own
    script = f"{node} {{ global: {' '.join(f'{name};' for name in names)} local: *; }};\n"
    return build.compile(
        own, "-O0", "-w", "-shared", "-fPIC", "-Wl,-z,now", f"-DSONAME=\"{own}\"", f"-DMAJOR={major}",
        f"-DMINOR={minor}", f"-DBROKEN={int(broken)}", f"-DNAMES=\"{build.text(listing, 'names')}\"",
        *([f"-DCONSTRUCTOR={constructor}"] if constructor else []),
        *([f"-DDATA={data}"] if data else []), f"-Wl,-soname,{own}",
        *([f"-Wl,--version-script={build.text(script, 'map')}"] if node else []),
        HERE / "fake.c", "-ldl", cc=cc)


def driver(version, result=0, init=100):
    major, minor = symbols.version(version)
    return driver_saying(1000 * major + 10 * minor, result, init)


def driver_saying(number, result=0, init=100):
    """What cuDriverGetVersion gives may be no version."""
    return _plain("libcuda.so.1", "driver.c", f"-DDRIVER=({number})", f"-DRESULT={result}",
                  f"-DINIT={init}")


def nvml(branch, result=0):
    return _plain("libnvidia-ml.so.1", "nvml.c", f"-DBRANCH=\"{branch}\"", f"-DRESULT={result}")


def builtins(version, cc=build.CC):
    return _plain(f"libnvrtc-builtins.so.{version}", "builtins.c", cc=cc)


def _plain(name, source, *arguments, cc=build.CC):
    return build.compile(name, "-shared", "-fPIC", f"-Wl,-soname,{name}", *arguments,
                         HERE / source, cc=cc)


# What can lie under a library's name.  Each makes `path`.

def truncated(path, library):
    """The first pages of a library, as an interrupted copy leaves them."""
    path.write_bytes(pathlib.Path(library).read_bytes()[:5000])


def header_only(path, library):
    path.write_bytes(pathlib.Path(library).read_bytes()[:64])


def wrong_machine(path, library):
    """An ELF file for a CPU that nobody has."""
    data = bytearray(pathlib.Path(library).read_bytes())
    data[18:20] = (2).to_bytes(2, "little")     # EM_SPARC
    path.write_bytes(data)


def wrong_class(path, library):
    data = bytearray(pathlib.Path(library).read_bytes())
    data[4] = 1     # ELFCLASS32
    path.write_bytes(data)


def text(path, _library):
    path.write_text("INPUT(libcudart.so.12)\n")


def empty(path, _library):
    path.write_bytes(b"")


def folder(path, _library):
    path.mkdir()


def fifo(path, _library):
    os.mkfifo(path)


def unreadable(path, library):
    path.write_bytes(pathlib.Path(library).read_bytes())
    path.chmod(0)


def dangling(path, _library):
    path.symlink_to("nowhere")


def endless(path, _library):
    path.symlink_to(path.name)


DAMAGES = (truncated, header_only, wrong_machine, wrong_class, text, empty, folder, fifo,
           unreadable, dangling, endless)
