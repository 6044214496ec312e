# SPDX-License-Identifier: MIT
"""fake_runtime.c as the runtime of a version, runtime("13.5"), and fake_driver.c as a driver or
an NVML, driver("cuda", cubin): paths."""
import re
import struct
import zlib

import build
import symbols

SOURCE = build.TESTS / "gpu" / "fake_runtime.c"
DRIVER = build.TESTS / "gpu" / "fake_driver.c"
# Fields that 13's callers ask for as attributes.
ATTRIBUTES = {"clockRate": 13, "deviceOverlap": 15, "kernelExecTimeoutEnabled": 17,
              "computeMode": 20, "memoryClockRate": 36, "singleToDoublePrecisionPerfRatio": 87}
FORMATS = {"i8": "b", "u8": "B", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}


def properties(version):
    """cudaDeviceProp: every field has a number that comes of its name."""
    listed = symbols.read().libraries["cudart"]
    size = next(size for size, span, _ in listed.structs["cudaDeviceProp"] if version in span)
    made = bytearray(int(size))
    for name, type_, offset, span in listed.fields["cudaDeviceProp"]:
        kind, _, count = type_.partition("[")
        if version not in span or kind not in FORMATS:
            continue
        number = 1000 + ATTRIBUTES[name] if name in ATTRIBUTES else zlib.crc32(name.encode())
        width = struct.calcsize(FORMATS[kind])
        for i in range(int(count.rstrip("]") or 1)):
            struct.pack_into("<" + FORMATS[kind], made, int(offset) + i * width,
                             (number + i) % (1 << 6 if width == 1 else 1 << 20))
    return made


def the_rest(listed_names, own):
    return "".join(f"long {name}(void);\nlong {name}(void) {{ return 0; }}\n"
                   for name in listed_names if name not in own)


def implemented(source):
    return set(re.findall(r"^(?:int|void|const char|void \*)\W+\**(\w+)\(", source.read_text(), re.M))


def driver(library, cubin=b"", disturbed=False):
    """`cubin`: what its linker makes, whatever it is given."""
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
        f"-DDISTURBED={number if disturbed else 0}", "-D_GNU_SOURCE", "-include", "dlfcn.h",
        f"-Wl,-soname,{name}", f"-Wl,--version-script={build.text(script, 'map')}", DRIVER)


def runtime(text, *flags):
    version = symbols.version(text)
    own = implemented(SOURCE)
    own |= set(re.findall(r"(cudaGraph\w+)##suffix", SOURCE.read_text()))
    own |= {name + "_v2" for name in own}
    listed = symbols.read().libraries["cudart"]
    names = listed.exports(version)
    generated = the_rest(names, own)
    numbers = ", ".join(map(str, properties(version)))
    generated += f"static const unsigned char PROPERTIES[] = {{ {numbers} }};\n"
    node = listed.soname(version)
    script = f"{node} {{ global: {' '.join(f'{name};' for name in names)} local: *; }};\n"
    return build.compile(
        node, "-O1", "-w", "-shared", "-fPIC", f"-DVERSION={1000 * version[0] + 10 * version[1]}",
        f"-DGENERATED=\"{build.text(generated, 'h')}\"", f"-Wl,-soname,{node}", *flags,
        f"-Wl,--version-script={build.text(script, 'map')}", SOURCE)
