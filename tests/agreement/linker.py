# SPDX-License-Identifier: MIT
"""Links with one real nvJitLink, each link in a child of its own:

    linker.py LIBNVJITLINK SECONDS < JOBS

A job is a line of tab-separated fields: the file for the image or "-", the number of options,
the options, and then KIND:FILE for each input, KIND as nvJitLink counts.  Prints a line for each:

    no CALL CODE            what failed, and with which code
    crash SIGNAL, hang      what the child came to
    yes                     an image that could be loaded, by all that its bytes tell
    empty, malformed WHY    SUCCESS, with an image that is none
    foreign TOOLKIT         SUCCESS, but the code in the image is of a newer toolkit than the
                            library, which copied what it does not know

The image is looked at by code of its own, so that what is tested does not judge itself.
"""
import ctypes
import mmap
import os
import pathlib
import resource
import signal
import struct
import sys

EM_CUDA, SYMTAB, NOBITS, RELOCATABLE, EXECUTABLE = 190, 2, 8, 1, 2
SECTION, SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
TOOLKIT_ATTRIBUTE = 0x37
# The driver has these, and fills in .nv.reservedSmem.offset0 from sm_90 on.
OF_DRIVER = (b"vprintf", b"malloc", b"free", b"__assertfail")
# "-linked-ltoir" is ours: it says what to ask for, and is no option.
ASKED = {"-linked-ltoir": "LTOIR", "-ptx": "Ptx"}


class Failed(Exception):
    """The line that says what failed."""


def find(library, name):
    """12.0 to 12.2 have no names without a version."""
    for word in (name, *(f"__{name}_12_{minor}" for minor in (2, 1, 0))):
        if hasattr(library, word):
            return library[word]
    raise Failed(f"no {name} -1")


def version_of(library):
    """129, as cubins count"""
    major, minor = ctypes.c_uint(12), ctypes.c_uint(2)
    if hasattr(library, "nvJitLinkVersion"):
        library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
        return 10 * major.value + minor.value
    return next(120 + old for old in (2, 1, 0) if hasattr(library, f"__nvJitLinkCreate_12_{old}"))


# ---- the image ----

def text_at(table, at):
    return table[at:table.find(b"\0", at)]


def newest_toolkit(info):
    """The newest toolkit that attributes of the code in a .nv.info section name."""
    newest, at = 0, 0
    while at + 4 <= len(info):
        form, number, size = struct.unpack_from("<BBH", info, at)
        if form == 4:       # with `size` bytes behind it
            if number == TOOLKIT_ATTRIBUTE and size >= 4 and at + 8 <= len(info):
                newest = max(newest, *struct.unpack_from("<I", info, at + 4))
            at += size
        at += 4
    return newest


def seen_symbols(symbols, names):
    """(whether the kernel is among them, whether one is undefined)"""
    kernel = undefined = False
    for name, _, _, section, _, _ in SYMBOL.iter_unpack(symbols[:len(symbols) // 24 * 24]):
        name = text_at(names, name) if name < len(names) else b""
        if name and name not in OF_DRIVER and not name.startswith(b".nv."):
            undefined |= section == 0
            kernel |= section != 0 and name == b"kernel"
    return kernel, undefined


def judge_cubin(image, relocatable, version):
    if len(image) < 64 or image[:4] != b"\x7fELF" or image[18:20] != bytes([EM_CUDA, 0]):
        return "malformed no cubin"
    at, = struct.unpack_from("<Q", image, 40)
    count, of_names = struct.unpack_from("<HH", image, 60)
    if at + count * SECTION.size > len(image) or of_names >= count:
        return "malformed no sections"
    sections = [SECTION.unpack_from(image, at + i * SECTION.size) for i in range(count)]
    names = image[sections[of_names][4]:]
    code = kernel = undefined = False
    toolkit = 0
    for name, kind, _, _, offset, size, link, *_ in sections:
        if kind == NOBITS:
            continue
        if offset + size > len(image):
            return "malformed section behind the end"
        name, content = text_at(names, name), image[offset:offset + size]
        code |= name == b".text.kernel" and size > 0
        if kind == SYMTAB and link < count:
            start, length = sections[link][4:6]
            has, lacks = seen_symbols(content, image[start:start + length])
            kernel, undefined = kernel or has, undefined or lacks
        if name.startswith(b".nv.info"):
            toolkit = max(toolkit, newest_toolkit(content))
    if not code or not kernel:
        return "empty"
    kind, = struct.unpack_from("<H", image, 16)
    if kind != (RELOCATABLE if relocatable else EXECUTABLE):
        return f"malformed type {kind}"
    if undefined and not relocatable:
        return "malformed undefined symbol"
    if image[8] == 7 and not image[50]:
        return "malformed no virtual architecture"
    return f"foreign {toolkit}" if toolkit > version else "yes"


def judge(what, image, options, version):
    if what == "LTOIR":
        return "yes" if len(image) > 100 and image[:4] == b"\xedCN\x7f" else "malformed"
    if what == "Ptx":
        whole = b".version" in image and b".entry kernel" in image
        return "yes" if whole else "malformed no kernel"
    return judge_cubin(image, "-r" in options, version)


# ---- one link ----

def guarded(path):
    """(address, length, memory) of a file, with a NUL behind it, and right behind that a page that
    nobody may read."""
    content, page = pathlib.Path(path).read_bytes(), mmap.PAGESIZE
    room = (len(content) + 16 + page - 1) // page * page
    memory = mmap.mmap(-1, room + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert not ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + room), ctypes.c_size_t(page), 0)
    at = (room - len(content) - 1) // 16 * 16
    memory[at:at + len(content)] = content
    return ctypes.c_void_p(start + at), ctypes.c_size_t(len(content)), memory


def link(library, path, options, inputs):
    """What is said of it."""
    handle, size, kept = ctypes.c_void_p(), ctypes.c_size_t(), []
    given = [word.encode() for word in options if word != "-linked-ltoir"]

    def call(word, name, *arguments):
        status = find(library, name)(*arguments)
        if status:
            raise Failed(f"no {word} {status}")

    call("create", "nvJitLinkCreate", ctypes.byref(handle), len(given),
         (ctypes.c_char_p * len(given))(*given))
    for kind, _, name in (one.partition(":") for one in inputs):
        kept.append(guarded(name))
        call("add", "nvJitLinkAddData", handle, int(kind), *kept[-1][:2], name.encode())
    call("complete", "nvJitLinkComplete", handle)
    what = next((ASKED[word] for word in ASKED if word in options), "Cubin")
    call("size", f"nvJitLinkGetLinked{what}Size", handle, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value + 1)
    call("get", f"nvJitLinkGetLinked{what}", handle, image)
    image = image.raw[:size.value]
    if path != "-":
        pathlib.Path(path).write_bytes(image)
    said = judge(what, image, options, version_of(library))
    find(library, "nvJitLinkDestroy")(ctypes.byref(handle))
    return said


def in_child(library, fields, seconds, answers):
    """What a child says counts only if it comes to its end."""
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        count = 2 + int(fields[1])
        try:
            said = link(library, fields[0], fields[2:count], fields[count:])
        except Failed as why:
            said = str(why)
        os.write(answers, f"{said}\n".encode())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
        os.write(answers, b"hang\n" if ended == signal.SIGALRM else f"crash {ended}\n".encode())


def main():
    library, seconds = ctypes.CDLL(sys.argv[1]), int(sys.argv[2])
    # What a library prints by itself is no answer.
    answers = os.dup(1)
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        in_child(library, line.rstrip("\n").split("\t"), seconds, answers)


if __name__ == "__main__":
    main()
