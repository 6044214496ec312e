# SPDX-License-Identifier: MIT
"""fake_runtime.c as the runtime of a version, runtime("13.5"), and fake_driver.c as a driver or
an NVML, driver("cuda", cubin): paths."""
import re
import struct
import sys
import zlib

import build
import symbols

sys.path.append(str(build.TESTS / "matrix"))
from parameters import PROPERTY_ATTRIBUTES  # noqa: E402

SOURCE = build.TESTS / "gpu" / "fake_runtime.c"
DRIVER = build.TESTS / "gpu" / "fake_driver.c"
FORMATS = {"i8": "b", "u8": "B", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}


def size_of_properties(version):
    structs = symbols.read().libraries["cudart"].structs["cudaDeviceProp"]
    return int(next(size for size, span, _ in structs if version in span))


def of_attribute(number):
    """As cudaDeviceGetAttribute of the fake."""
    return 1 if number == 115 else 1000 + number


def properties(version):
    """cudaDeviceProp: every field has a number that comes of its name."""
    listed = symbols.read().libraries["cudart"]
    made = bytearray(size_of_properties(version))
    for name, type_, offset, span in listed.fields["cudaDeviceProp"]:
        kind, _, count = type_.partition("[")
        if version not in span or kind not in FORMATS:
            continue
        # Callers of another major ask for some of them as attributes.
        attribute = PROPERTY_ATTRIBUTES.get(name)
        number = zlib.crc32(name.encode()) if attribute is None else of_attribute(attribute)
        width = struct.calcsize(FORMATS[kind])
        for i in range(int(count.rstrip("]") or 1)):
            struct.pack_into("<" + FORMATS[kind], made, int(offset) + i * width,
                             (number + i) % (1 << 6 if width == 1 else 1 << 20))
    return made


def the_rest(listed_names, own):
    """What of these names is not in `own`.  On streams of threads all is done at once as well."""
    made = ""
    for name in listed_names:
        base = re.sub("_pt[ds][sz]$", "", name)
        if name not in own:
            made += f"long {name}(void)" + (
                f" __attribute__((alias(\"{base}\")));\n" if base in own else
                f";\nlong {name}(void) {{ return 0; }}\n")
    return made


def implemented(source):
    return set(re.findall(r"^(?:int|void|const char|void \*)\W+\**(\w+)\(", source.read_text(), re.M))


def driver(library, cubin=b"", disturbed=False, version=12090, loads=True):
    """`cubin`: what its linker makes, whatever it is given.  `disturbed`: it differs where the
    stub is.  `loads`: whether it loads any image."""
    name = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}[library]
    names = {f.name for f in symbols.read().libraries[library].functions}
    generated = the_rest(sorted(names), implemented(DRIVER))
    generated += f"static const unsigned char CUBIN[] = {{ {', '.join(map(str, cubin)) or 0} }};\n"
    listed = {"global": sorted(names), "local": ["*"]}
    script = "{ " + " ".join(f"{kind}: {' '.join(f'{n};' for n in some)}"
                             for kind, some in listed.items()) + " };\n"
    number = "!!dlsym((void *)0, \"lazycuda_version\")"    # in a process of the stub
    return build.compile(
        name, "-O1", "-w", "-shared", "-fPIC", f"-DGENERATED=\"{build.text(generated, 'h')}\"",
        f"-DDISTURBED={number if disturbed else 0}", f"-DDRIVER_VERSION={version}",
        f"-DLOADS_NOTHING={int(not loads)}",
        "-D_GNU_SOURCE", "-include", "dlfcn.h",
        f"-Wl,-soname,{name}", f"-Wl,--version-script={build.text(script, 'map')}", DRIVER)


def runtime(text, *flags):
    version = symbols.version(text)
    own = implemented(SOURCE)
    edges = re.findall(r"(cudaGraph\w+)##suffix", SOURCE.read_text())
    own |= {f"{name}{suffix}" for name in edges for suffix in ("", "_v2")}
    listed = symbols.read().libraries["cudart"]
    names = listed.exports(version)
    generated = the_rest(names, own)
    numbers = ", ".join(map(str, properties(version)))
    generated += f"static const unsigned char PROPERTIES[] = {{ {numbers} }};\n"
    plain = size_of_properties(version if version[0] != 12 else symbols.version("11.8"))
    generated += f"enum {{ PLAIN_SIZE = {plain} }};\n"
    node = listed.soname(version)
    script = f"{node} {{ global: {' '.join(f'{name};' for name in names)} local: *; }};\n"
    return build.compile(
        node, "-O1", "-w", "-shared", "-fPIC", f"-DVERSION={1000 * version[0] + 10 * version[1]}",
        f"-DGENERATED=\"{build.text(generated, 'h')}\"", f"-Wl,-soname,{node}", *flags,
        f"-Wl,--version-script={build.text(script, 'map')}", SOURCE)
