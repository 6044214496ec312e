# SPDX-License-Identifier: MIT
"""An entry is one indirect jump, with every compiler and every kind of argument."""
import re

import pytest

import build

X86 = [r"jmpq? \*0x[0-9a-f]+\(%rip\)"]
ARM = [r"adrp x16, .*|adrp x\d+, .*", r"ldr x16, \[x\d+, #\d+\]|ldr x16, \[x\d+\]", r"br x16"]


def entries(compiler, library):
    """{slot: [instruction, ...]} up to the first that does not fall through"""
    names = {}
    for line in build.output(f"{compiler.prefix}nm", library).splitlines():
        found = re.match(r"([0-9a-f]+) t lc_entry_(\w+)$", line)
        if found:
            names[int(found[1], 16)] = found[2]
    code, current = {}, None
    text = build.output(f"{compiler.prefix}objdump", "-d", "--no-show-raw-insn", library)
    for line in text.splitlines():
        head = re.match(r"([0-9a-f]+) <.*>:$", line)
        if head:
            current = names.get(int(head[1], 16))
        elif current and "\t" in line:
            words = line.split("\t", 1)[1].replace("\t", " ").split("//")[0].split("#  ")[0]
            instruction = " ".join(re.sub(r"<.*", "", re.sub(r"\s# .*", "", words)).split())
            code.setdefault(current, []).append(instruction)
            if re.match(r"jmp|ret|br? ", instruction):
                current = None
    assert sorted(code) == sorted(names.values())
    return code


def check(compiler, library, landing=None):
    wanted = ([landing] if landing else []) + (ARM if compiler.arm else X86)
    code = entries(compiler, library)
    assert len(code) > 40
    wrong = {name: got for name, got in code.items()
             if not name.startswith("hooked")
             and not (len(got) == len(wanted) and all(map(re.fullmatch, wanted, got)))}
    assert wrong == {}


def test_one_jump(thing, compiler, tmp_path):
    check(compiler, compiler.stub(thing, tmp_path / "libthing_stub.so"))


def test_landing_pads_where_the_compiler_is_asked_for_them(thing, compiler, tmp_path):
    flag, pad = (("-mbranch-protection=standard", "bti c") if compiler.arm else
                 ("-fcf-protection", "endbr64"))
    library = compiler.stub(thing, tmp_path / "libthing_stub.so", flag)
    check(compiler, library, pad)
    # What a slot leads to is reached by an indirect jump too.
    text = build.output(f"{compiler.prefix}objdump", "-d", "--no-show-raw-insn", library)
    slow = re.findall(r"<(lc_slow_\w+)>:\n\s*\w+:\s+(.*)", text)
    assert len(slow) > 40
    # pac-ret's first instruction is a landing pad as well.
    assert [s for s in slow if " ".join(s[1].split()) not in (pad, "paciasp")] == []


def test_an_unwinder_knows_all_of_it_and_assembly_costs_one_description(thing, compiler, tmp_path):
    library = compiler.stub(thing, tmp_path / "libthing_stub.so")
    symbols = [line.split() for line in build.output(f"{compiler.prefix}nm", library).splitlines()]
    starts = {words[2]: int(words[0], 16) for words in symbols
              if re.match(r"lc_(entry|slow|trampoline)", words[-1])}
    frames = build.output(f"{compiler.prefix}readelf", "--debug-dump=frames", library)
    known = {(int(first, 16), int(end, 16)) for first, end in
             re.findall(r" FDE .* pc=(\w+)\.\.(\w+)", frames)}
    within = {name: [(first, end) for first, end in known if first <= start < end]
              for name, start in starts.items()}
    assert [name for name, found in within.items() if len(found) != 1] == []
    assembly = {within[f"lc_{what}_unknown_new"][0] for what in ("entry", "slow")}
    assert len(assembly) == 1
    assert sum(found[0] in assembly for found in within.values()) > 10


@pytest.mark.parametrize("flag", ["-O0", "-fstack-protector-all", "-fno-plt"])
def test_whatever_cflags_say(thing, compiler, tmp_path, flag):
    # As in the Makefile, what entries need comes behind.
    library = compiler.stub(thing, tmp_path / "libthing_stub.so", flag, "-Os",
                            "-fno-stack-protector", "-fomit-frame-pointer",
                            "-foptimize-sibling-calls")
    check(compiler, library)


def test_a_cpu_without_assembly(thing, compiler, tmp_path):
    """C alone: every function but those without a prototype is forwarded."""
    library = compiler.stub(thing, tmp_path / "libthing_stub.so", "-DLC_C_ONLY", "-O2")
    code = entries(compiler, library)
    jump = r"br x\d+" if compiler.arm else r"jmpq? \*.*"
    assert re.match(jump, code["plain"][-1])
    assert "lc_trampoline" not in build.output(f"{compiler.prefix}nm", library)


# ---- arguments and results pass through as if it were not there ----

CPU = {"-fcf-protection": False, "-mbranch-protection=standard": True}


@pytest.mark.parametrize("flags", [[], ["-fcf-protection"], ["-mbranch-protection=standard"],
                                   ["-DLC_C_ONLY"]], ids=["plain", "cet", "bti", "c"])
def test_every_kind_of_argument(thing, compiler, tmp_path, flags):
    if flags and CPU.get(flags[0], compiler.arm) != compiler.arm:
        pytest.skip("a flag of another CPU")
    compiler.stub(thing, tmp_path / "libthing_stub.so", *flags)
    # The import library of major 3: some names have no default in the stub.
    compiler(tmp_path / "import.so", "-fPIC", "-shared", "-nostdlib", "-DLC_IMPORT=3",
             f"-I{build.ROOT / 'stubs'}", thing / "libthing_stub.import.c",
             f"-Wl,--version-script={thing / 'libthing_stub.import3.map'}",
             "-Wl,-soname,libthing_stub.so")
    program = compiler(tmp_path / "calls", "-std=gnu11", "-O1", "-Wall", "-Werror", *flags,
                       "-rdynamic", build.TESTS / "gen" / "calls.c", tmp_path / "import.so",
                       f"-Wl,-rpath,{tmp_path}", "-ldl")
    done = build.run(*compiler.runner, program, timeout=60)
    assert (done.stdout, done.returncode) == ("0 failures\n", 0), done.stderr
