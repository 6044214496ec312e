# SPDX-License-Identifier: MIT
"""Containers of device code, made by hand: any field can be made wrong."""
import struct

PTX, CUBIN, LTOIR, TILEIR, CONCATENATED = 1, 2, 8, 128, 256
DEBUG, LZ4, ZSTD, OBFUSCATED, SUFFIX_A, SUFFIX_F = (
    0x2, 0x2000, 0x8000, 0x10000, 0x100000, 0x200000)
PLAIN = 0x11    # 64 bits, Linux

MAGIC = 0xBA55ED50
CONTAINER = struct.Struct("<IHHQ")
ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
ELF = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SEGMENT = struct.Struct("<IIQQQQQQ")


def padded(data, to=8):
    return data + bytes(-len(data) % to)


# ---- code ----

def ptx(isa="8.0", target="sm_80", body=".visible .entry kernel()\n{\n\tret;\n}\n"):
    return f"//\n// made by hand\n//\n\n.version {isa}\n.target {target}\n" \
           f".address_size 64\n\n{body}".encode()


def ltoir(container=(1, 64), ir=(2, 93), debug=(3, 2), llvm=(7, 0), level=1, arch=800,
          body=b"not really code "):
    tags = struct.pack("<6HI", 1, arch, 2, 2, 99, 0, 0)
    return struct.pack("<I8BHHII", 0x7F4E43ED, *container, *ir, *debug, *llvm, 24, level,
                       24 + len(tags), 24 + len(tags)) + tags + body


def elf(sections=(), machine=62, type=1, osabi=0, abi=0, version=1, flags=0, segments=(),
        headers=True, elf_class=2, data=1):
    """sections: (name, bytes) or (name, bytes, {"type": 8, "flags": ..., "size": ...}),
    the first of which is section 1"""
    names = b"\0" + b"".join(section[0].encode() + b"\0" for section in sections) + b".shstrtab\0"
    at = ELF.size + SEGMENT.size * len(segments)
    table, contents = [SECTION.pack(*[0] * 10)], b""
    for name, content, *more in [*sections, (".shstrtab", names, {"type": 3})]:
        fields = {"type": 1, "flags": 2, "size": len(content), **(more[0] if more else {})}
        contents += bytes(-(at + len(contents)) % 8)
        table.append(SECTION.pack(names.index(name.encode() + b"\0"), fields["type"],
                                  fields["flags"], 0, fields.get("offset", at + len(contents)),
                                  fields["size"], fields.get("link", 0), fields.get("info", 0),
                                  8, fields.get("entry", 0)))
        contents += content
    contents += bytes(-(at + len(contents)) % 8)
    ident = struct.pack("<4s5B7x", b"\x7fELF", elf_class, data, 1, osabi, abi)
    header = ELF.pack(ident, type, machine, version, 0, ELF.size if segments else 0,
                      at + len(contents) if headers else 0, flags, ELF.size, SEGMENT.size,
                      len(segments), SECTION.size, len(table) if headers else 0,
                      len(table) - 1 if headers else 0)
    programs = b"".join(SEGMENT.pack(kind, 4, offset, offset, offset, size, size, 4096)
                        for kind, offset, size in segments)
    return header + programs + contents + (b"".join(table) if headers else b"")


def cubin(arch=80, toolkit=129, linked=False, code=b"\0" * 64):
    """One of ABI 7, that defines a kernel."""
    kernel = struct.pack("<IBBHQQ", 1, 0x12, 0x10, 1, 0, len(code))
    return elf([(".text.kernel", code, {"flags": 6, "link": 3, "info": 1}),
                (".strtab", b"\0kernel\0", {"type": 3, "flags": 0}),
                (".symtab", bytes(24) + kernel,
                 {"type": 2, "flags": 0, "link": 2, "info": 1, "entry": 24})],
               machine=190, type=2 if linked else 1, osabi=0x33, abi=7, version=toolkit,
               flags=arch << 16 | 0x500 | arch)


# ---- compressed ----

def block(id, body=b"", width=3):
    """One of bitcode; the width of abbreviations has 4 bits for each 3."""
    width = width if width < 8 else width & 7 | 8 | width >> 3 << 4
    return struct.pack("<II", 1 | id << 2 | width << 10, len(padded(body, 4)) // 4) + padded(body, 4)


def bitcode(*blocks):
    return b"BC\xc0\xde" + b"".join(blocks or (block(13, b"LLVM", 5), block(8, b"module"), block(23)))


def wrapped(data, offset=20, length=None):
    length = len(data) if length is None else length
    return struct.pack("<IIIII", 0x0B17C0DE, 0, offset, length, 0) + data


def lz4(data):
    """A raw block of LZ4 that is literals alone."""
    rest = len(data) - 15
    if rest < 0:
        return bytes([len(data) << 4]) + data
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


def zstd(data):
    """A frame of ZSTD, stored blocks."""
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", len(data))
    blocks = [data[i:i + 0x10000] for i in range(0, len(data), 0x10000)] or [b""]
    for i, block in enumerate(blocks):
        frame += struct.pack("<I", len(block) << 3 | (i == len(blocks) - 1))[:3] + block
    return frame


# ---- fatbins ----

def entry(kind, payload, arch=80, flags=PLAIN, version=(0, 0), name=b"", options=None, **wrong):
    """An entry as fatbinary writes it.  `wrong` replaces fields of the header."""
    text = padded(name + b"\0") if name else b""
    record = 0
    if options is not None:
        record = ENTRY.size + len(text)
        text += struct.pack("<II", record + 8, len(options)) + padded(options + b"\0")
    unpacked = 0
    if flags & (LZ4 | ZSTD):
        unpacked, payload = len(payload), (lz4 if flags & LZ4 else zstd)(payload)
    fields = {
        "kind": kind, "entry_version": 0x101, "header_size": ENTRY.size + len(text),
        "payload_size": len(padded(payload)), "packed_size": len(payload) if unpacked else 0,
        "options_at": record, "minor": version[1], "major": version[0], "arch": arch,
        "name": ENTRY.size if name else 0, "name_length": len(name), "flags": flags, "key": 0,
        "unpacked_size": unpacked,
    }
    assert not set(wrong) - set(fields)
    return ENTRY.pack(*{**fields, **wrong}.values()) + text + padded(payload)


def fatbin(*entries, **wrong):
    body = b"".join(entries)
    fields = {"magic": MAGIC, "version": 1, "header_size": CONTAINER.size, "size": len(body)}
    assert not set(wrong) - set(fields)
    return CONTAINER.pack(*{**fields, **wrong}.values()) + body


# What nvcc makes of -gencode arch=compute_80,code=[sm_80,compute_80,lto_80], about.
def usual(flags=PLAIN):
    return fatbin(entry(CUBIN, cubin()),
                  entry(PTX, ptx(), version=(8, 0), flags=flags, options=b"--compile-only"),
                  entry(LTOIR, ltoir(), version=(1, 64), name=b"unit"))


# ---- offload binaries ----

OPENMP, CUDA, HIP = 1, 2, 4
NO_LABEL, IS_OBJECT, IS_BITCODE, IS_CUBIN, IS_FATBIN, IS_PTX = range(6)


def image(data, arch="sm_80", triple="nvptx64-nvidia-cuda", label=NO_LABEL, producer=CUDA, flags=0,
          **wrong):
    """One entry: its fields, its strings, its code, and which fields are wrong."""
    strings = {"triple": triple, "arch": arch}
    return (label, producer, flags), strings, data, wrong


def offload(*images, version=1, **wrong):
    """One binary.  In version 1, which has one image, those of a file lie in a row."""
    if version == 1 and len(images) > 1:
        return b"".join(offload(one, version=1, **wrong) for one in images)
    head = 40 if version >= 3 else 32
    width = 16 if version == 1 else 24
    counts = [len(strings) for _, strings, _, _ in images]
    texts_at = head + 40 * len(images) + width * sum(counts)
    texts = b"\0".join(text.encode() for _, strings, _, _ in images
                       for pair in strings.items() for text in pair) + b"\0"
    code = padded(bytes(texts_at) + texts)[texts_at:]
    entries, pairs, text_at = b"", b"", texts_at
    for index, (fields, strings, data, fault) in enumerate(images):
        here = {"strings": head + 40 * len(images) + len(pairs), "count": len(strings),
                "image": texts_at + len(code), "length": len(data), **fault}
        entries += struct.pack("<HHI4Q", *fields, here["strings"], here["count"], here["image"],
                               here["length"])
        for pair in strings.items():
            at = text_at, text_at + len(pair[0]) + 1
            text_at = at[1] + len(pair[1]) + 1
            pairs += struct.pack("<2Q", *(fault.get("key", at[0]), fault.get("value", at[1])))
            pairs += struct.pack("<Q", fault.get("size", len(pair[1]))) if version > 1 else b""
        code += data
    whole = padded(bytes(head) + entries + pairs + code)[head:]
    fields = {"magic": b"\x10\xff\x10\xad", "version": version, "size": head + len(whole),
              "entries": head, "count": 40 if version == 1 else len(images), **wrong}
    header = struct.pack("<4sI3Q", *(fields[name] for name in
                                     ("magic", "version", "size", "entries", "count")))
    return header + struct.pack("<Q", wrong.get("inflated", 0))[:head - 32] + whole


def compiled(binary, files=1):
    """An object with an offload binary, and the names of so many source files among its symbols:
    a compiler writes one, ld -r copies those of all, strip removes them."""
    names = struct.pack("<IBBHQQ", 1, 4, 0, 0xfff1, 0, 0) * files
    return elf([(".llvm.offloading", binary), (".strtab", b"\0k.cu\0", {"type": 3, "flags": 0}),
                (".symtab", bytes(24) + names,
                 {"type": 2, "flags": 0, "link": 2, "info": 1 + files, "entry": 24})])


def member(name, data, size=None, end=b"`\n"):
    return b"%-16s%-12d%-6d%-6d%-8o%-10s%s" % (
        name, 0, 0, 0, 0o644, str(len(data)).encode() if size is None else size, end) + \
        padded(data, 2)


def archive(*members):
    return b"!<arch>\n" + b"".join(members)
