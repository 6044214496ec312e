# SPDX-License-Identifier: MIT
"""The C of the matrix: a caller for each major, a fake runtime for each version.

Prototypes, names and layouts are those of symbols.txt; what a fake writes to its
outputs is said here and expected in expected.py.
"""
import functools
import pathlib

import build
import layouts
import symbols
from parameters import ATTRIBUTES, COUNTED, RUNTIME_ARMS, RUNTIME_GIVES, RUNTIME_SAYS_ELSE, names_of

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "cudart"
C_TYPES = {"ptr": "void *", "f32": "float", "f64": "double", "void": "void",
           **{f"i{n}": f"int{n}_t" for n in (8, 16, 32, 64)},
           **{f"u{n}": f"uint{n}_t" for n in (8, 16, 32, 64)}}


def listed():
    return symbols.read().libraries[LIBRARY]


def newest(major):
    """The toolkit whose headers the callers of a major are compiled with."""
    return max(v for v in map(symbols.version, symbols.read().toolkits) if v[0] == major)


@functools.lru_cache(maxsize=None)
def functions(version):
    """{name: Function} of what the library of a version exports."""
    return {f.name: f for f in listed().functions if version in f.range}


def parameters(function):
    """[(direction, type)].  What no header declares takes six words."""
    if function.parameters == ("?",):
        return [("", "u64")] * 6
    return [tuple(p.rpartition(" ")[::2]) for p in function.parameters]


def c_type(direction, name):
    if direction:
        return "void *"
    return f"struct {name}" if layouts.is_struct(name) and name not in C_TYPES else C_TYPES[name]


def c_struct(name, version):
    members = "".join(
        f"\t{C_TYPES[f.type]} m{f.offset}[{f.count}];\n" if f.type in C_TYPES else
        f"\tuint64_t m{f.offset}[{f.size // 8}];\n" for f in layouts.arm(name, version))
    return (f"struct {name} {{\n{members}}};\n_Static_assert(sizeof(struct {name}) == "
            f"{layouts.size(name, version)}, \"{name}\");\n")


def c_structs(version):
    used = {t for f in functions(version).values()
            for d, t in (*parameters(f), ("", f.result))
            if not d and t not in C_TYPES}
    return "".join(c_struct(name, version) for name in sorted(used))


def caller_source(major, versioned):
    version = newest(major)
    node = listed().soname(version)
    lines = [c_structs(version)]
    for name, f in sorted(functions(version).items()):
        kinds = [c_type(d, t) for d, t in parameters(f)]
        result = c_type("", f.result)
        symbol = "" if versioned else f" __asm__(\"{name}\")"
        lines.append(f"extern {result} f_{name}({', '.join(kinds) or 'void'}){symbol};\n")
        if versioned:
            lines.append(f"__asm__(\".symver f_{name}, {name}@{node}\");\n")
        lines.append(f"static void c_{name}(void *const *v, void *r)\n{{\n\t(void)v, (void)r;\n")
        call = f"f_{name}({', '.join(f'*({kind} *)v[{i}]' for i, kind in enumerate(kinds))})"
        lines.append(f"\t{'' if result == 'void' else f'*({result} *)r = '}{call};\n}}\n")
    lines.append("static const struct matrix_function functions[] = {\n")
    for name, f in sorted(functions(version).items()):
        size = 0 if f.result == "void" else layouts.size(f.result, version)
        lines.append(f"\t{{ \"{name}\", c_{name}, {size} }},\n")
    lines.append("};\n")
    return "".join(lines)


def runtime_writes(function, index, version):
    """(bytes, {field: value} or None, count) that the fake function writes to one
    of its outputs; None for what it only reads."""
    direction, kind = parameters(function)[index]
    meaning = (names_of(function) or {}).get(index)
    given = RUNTIME_GIVES.get((function.family.removesuffix("_ptsz"), meaning))
    count = 1
    if direction == "buf":
        # As many as some other call has said; 2, where a count goes with it.
        if meaning is None or given is None:
            return None
        count = given
    if direction not in ("out", "inout", "buf"):
        return None
    if layouts.is_struct(kind):
        wanted, fixed = RUNTIME_ARMS.get(kind, ((), {}))
        image, values = layouts.filled("runtime", kind, version, wanted, fixed, padding=0x7e)
        return image, values, count
    size = layouts.size(kind, version)
    if function.name == "cudaRuntimeGetVersion":
        return layouts.number(1000 * version[0] + 10 * version[1], size), None, 1
    if given is not None and direction != "buf":
        return layouts.number(given, size), None, 1
    return layouts.value("runtime", f"{function.name} {index}", size), None, count


def c_bytes(image):
    return ", ".join(f"0x{b:02x}" for b in image)


KINDS = {"": "v", "in": "i", "out": "o", "inout": "x", "buf": "b"}


def runtime_source(version):
    lines = ['#include "caller.h"\n', c_structs(version)]
    for name, f in sorted(functions(version).items()):
        table = []
        meanings = names_of(f) or {}
        for i, (direction, kind) in enumerate(parameters(f)):
            size = layouts.size(kind, version)
            fill, fills = "0", 0
            written = runtime_writes(f, i, version)
            if written:
                lines.append(f"static const unsigned char w{i}_{name}[] = "
                             f"{{ {c_bytes(written[0])} }};\n")
                fill, fills = f"w{i}_{name}", written[2]
            count = next((j for j, m in meanings.items() if direction == "in" and
                          m == COUNTED.get((f.family.removesuffix("_ptsz"), meanings.get(i)))), -1)
            letter = "s" if (direction, kind) == ("in", "i8") else KINDS[direction]
            other = RUNTIME_SAYS_ELSE.get(meanings.get(i), -1)
            table.append(f"{{ '{letter}', {size}, {count}, {fill}, {fills}, {other} }}")
        kinds = [c_type(d, t) for d, t in parameters(f)]
        result = c_type("", f.result)
        arguments = ", ".join(f"{kind} a{i}" for i, kind in enumerate(kinds)) or "void"
        lines.append(f"{result} {name}({arguments})\n{{\n")
        if kinds:
            values = ", ".join(f"&a{i}" for i in range(len(kinds)))
            lines.append(f"\tstatic const struct matrix_parameter p[] = {{ {', '.join(table)} }};\n"
                         f"\tconst void *v[] = {{ {values} }};\n")
        lines.append(f"\tmatrix_reached(\"{name}\", {len(kinds)}, "
                     + ("p, v);\n" if kinds else "0, 0);\n"))
        if name == "cudaDeviceGetAttribute":
            known = " || ".join(["a1 <= 111"] + [
                f"a1 == {a}" for a, since in ATTRIBUTES.items() if version >= since])
            lines.append("\tif (matrix_status)\n\t\treturn matrix_status;\n"
                         f"\tif (!({known}))\n\t\treturn 1;\n"
                         "\tif (a0)\n\t\t*(int *)a0 = 100000 + a1;\n\treturn 0;\n}\n")
        elif result == "void":
            lines.append("}\n")
        elif name.startswith("cudaGetDriverEntryPoint"):
            lines.append("\tint32_t result = matrix_result();\n\n\tif (a1 && !result)\n"
                         "\t\tmatrix_driver_gives(a0, a1, "
                         f"{version[0] * 1000 + version[1] * 10});\n"
                         "\treturn result;\n}\n")
        elif f.result == "i32":
            lines.append("\treturn matrix_result();\n}\n")
        else:
            image = runtime_returns(f, version)
            lines.append(f"\tunion {{ unsigned char b[{len(image)}]; {result} v; }} r = "
                         f"{{ {{ {c_bytes(image)} }} }};\n\treturn r.v;\n}}\n")
    return "".join(lines)


def runtime_returns(function, version):
    return layouts.value("runtime", f"{function.name} result",
                         layouts.size(function.result, version))


def caller(major, embedded=False):
    """The program that calls every function as one compiled for `major` does."""
    source = build.text(caller_source(major, not embedded), "inc")
    return build.compile(
        f"caller{major}", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-rdynamic",
        "-I", build.ROOT / "include", "-I", HERE, f"-DFUNCTIONS=\"{source}\"",
        HERE / "caller.c", build.embedded(major, LIBRARY) if embedded else build.import_library(LIBRARY, major),
        "-ldl", "-lpthread")


def runtime(version):
    """The fake library of a version."""
    soname = listed().soname(version)
    source = build.text(runtime_source(version), "c")
    script = build.text(f"{soname} {{ global: {' '.join(f'{n};' for n in sorted(functions(version)))} "
                        "local: *; };\n", "map")
    return build.compile(soname, "-std=gnu11", "-O1", "-w", "-shared", "-fPIC", "-I", HERE,
                         f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}", source)
