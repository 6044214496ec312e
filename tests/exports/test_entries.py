# SPDX-License-Identifier: MIT
"""After the first call a forwarded call is one indirect jump, whatever CFLAGS say."""
import re

import pytest

import build
import elf
import symbols


def instructions(path):
    """{address: [instruction, ...]} of what begins at each symbol"""
    text = build.output("objdump", "-d", "--no-show-raw-insn", path)
    found, current = {}, None
    for line in text.splitlines():
        head = re.match(r"([0-9a-f]+) <.*>:$", line)
        if head:
            current = found.setdefault(int(head[1], 16), [])
        elif current is not None and "\t" in line and len(current) < 4:
            current.append(line.split("\t", 1)[1].strip())
    return found


def jumps_at_once(code):
    code = code[1:] if code[0].startswith("endbr64") else code
    return bool(re.match(r"(notrack |bnd )?jmpq?\s+\*0x[0-9a-f]+\(%rip\)", code[0]))


def check_entries(library, stub):
    hooks = {f.name for f in symbols.read().libraries[library].functions if f.hook and not f.slow}
    code = instructions(stub)
    slow = sorted(s.name for s in elf.exports(stub)
                  if s.node != "LAZYCUDA_1" and s.name not in hooks
                  and not jumps_at_once(code[s.address]))
    assert slow == []


x86_64 = pytest.mark.skipif(build.ARCH != "x86_64", reason="reads x86-64 machine code")


@x86_64
@pytest.mark.parametrize("library", build.STUBBED)
def test_an_entry_is_one_jump(library):
    check_entries(library, build.stub(library))
