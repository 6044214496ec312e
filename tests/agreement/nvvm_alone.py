# SPDX-License-Identifier: MIT
"""LLVM IR that libnvvm alone compiles, each in a child of its own.

    python3 nvvm_alone.py LIBNVVM < JOBS

A job is a line of tab-separated fields: the architecture, the IR, and the PTX to write.  Prints a
line for each, as linker.c does: "yes", "no CALL CODE" or "crash SIGNAL".
"""
import ctypes
import os
import sys


def compile(library, arch, bitcode, output):
    """None, or the call that failed and its code."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    with open(bitcode, "rb") as opened:
        data = opened.read()
    options = (ctypes.c_char_p * 1)(f"-arch={arch.replace('sm_', 'compute_')}".encode())
    calls = [("nvvmCreateProgram", ctypes.byref(program)),
             ("nvvmAddModuleToProgram", program, data, ctypes.c_size_t(len(data)), b"module"),
             ("nvvmVerifyProgram", program, 1, options),
             ("nvvmCompileProgram", program, 1, options),
             ("nvvmGetCompiledResultSize", program, ctypes.byref(size))]
    for name, *arguments in calls:
        status = getattr(library, name)(*arguments)
        if status:
            return name, status
    text = ctypes.create_string_buffer(size.value)
    library.nvvmGetCompiledResult(program, text)
    with open(output, "wb") as made:
        made.write(text.value)
    return None


def answer(library, *job):
    """What a child says of it on a pipe, or comes to."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        failed = compile(library, *job)
        os.write(writing, ("no {} {}".format(*failed) if failed else "yes").encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as opened:
        text = opened.read()
    status = os.waitpid(child, 0)[1]
    return text or f"crash {os.WTERMSIG(status)}"


def main():
    library = ctypes.CDLL(sys.argv[1])
    for line in sys.stdin:
        print(answer(library, *line.rstrip("\n").split("\t")), flush=True)


if __name__ == "__main__":
    main()
