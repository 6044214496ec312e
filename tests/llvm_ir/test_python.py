# SPDX-License-Identifier: MIT
"""LLVM IR through lazycuda.link."""
import json
import sys

import pytest

import build
import programs

PACKAGE = build.PYTHON
HEAD = """\
import json, sys
from lazycuda.link import *
def say(**what):
    print(json.dumps(what))
text, bitcode = (open(path, "rb").read() for path in sys.argv[1:])
"""


@pytest.fixture
def python(world):
    def run(code):
        paths = world.root / "script.py", world.root / "k.ll", world.root / "k.bc"
        for path, content in zip(paths, (HEAD + code, programs.kernel(), programs.BITCODE)):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        done = world.run(sys.executable, *paths, PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1",
                         LAZYCUDA_LINK_LIBRARY=str(build.STUBS / "liblazycuda_link.so"))
        return [json.loads(line) for line in done.lines]
    return run


@pytest.mark.parametrize("version", ["12.9", "13.5"])
def test_both_kinds_are_linked(python, site, version):
    site(version)
    said = python("""
for one in (LLVMIR(text), Bitcode(bitcode), Input(text), Input.from_path(sys.argv[1])):
    told = []
    linker = Linker("sm_90", symbols=["kernel"], ftz=True, log=lambda *what: told.append(what)).add(one)
    planned = linker.plan()
    apart = Linker("sm_90", ftz=True, isolated=True).add(one)
    same = apart.link() == linker.link() and linker.result.plan == planned
    say(kind=inspect(one).kind.name, calls=inspect(one).entries[0].libdevice, same=same,
        nvvm=planned.nvvm, options=planned.nvvm_options, form=planned.steps[0].form.name,
        step=planned.steps[0].kind.name, to=planned.compile_to, told=len(told))
environment = environment()
say(nvvm=environment.nvvm, code=plan([LLVMIR(text)], "sm_90", environment=environment).code.name)
try:
    Linker("sm_90").add(LLVMIR(text), LLVMIR(text.replace(b"store", b"stare").replace(b"@kernel", b"@other"), "bad")).link()
except LinkFailed as error:
    say(code=error.code.name, input=error.input.name, call=error.call, status=error.status,
        log="stare" not in error.log and "expected instruction opcode" in error.error_log)
""")
    assert [(one["kind"], one["calls"]) for one in said[:4]] == [
        ("LLVMIR", True), ("BITCODE", False), ("LLVMIR", True), ("LLVMIR", True)]
    for one in said[:4]:
        assert {key: one[key] for key in ("same", "nvvm", "options", "form", "step", "to", "told")} == {
            "same": True, "nvvm": version, "options": ["-arch=compute_90", "-ftz=1"],
            "form": "COMPILED", "step": "PTX", "to": None, "told": 0}
    assert said[4] == {"nvvm": version, "code": "OK"}
    assert said[5] == {"code": "COMPILE_FAILED", "input": "bad", "call": "nvvmVerifyProgram",
                       "status": 6, "log": True}


def test_what_is_declared_is_what_the_content_is(python):
    """But for content that looks like nothing."""
    said = python("""
cuda = b"__global__ void k() {}"
have = Environment(driver="12.9", branch=575, nvjitlink="12.9", nvrtc="12.9", nvvm="12.9")
late = b" " * 70000 + text
for one in (LLVMIR(cuda), PTXSource(cuda), Cubin(cuda), CUSource(cuda), Input(cuda), LLVMIR(late), Input(late),
            CUSource(late), LLVMIR(b"\\x01")):
    say(code=plan([one], "sm_90", environment=have).code.name)
say(kind=inspect(LLVMIR(late)).kind.name, libdevice=inspect(LLVMIR(late)).entries[0].libdevice)
say(kind=inspect(Input(late)).kind.name)
""")
    assert [one["code"] for one in said[:9]] == [
        "KIND_MISMATCH", "KIND_MISMATCH", "KIND_MISMATCH", "OK", "OK", "OK", "UNKNOWN_KIND", "OK", "OK"]
    assert said[9:] == [{"kind": "LLVMIR", "libdevice": True}, {"kind": "UNKNOWN"}]


def test_the_named_file_may_change(python, site):
    file = min(site("12.9").rglob("libnvvm.so*"))
    said = python(f"""
import os
for named in ("none", "/nowhere/libnvvm.so.4", "{file}", "none", None):
    os.environ.pop("LAZYCUDA_NVVM", None)
    if named:
        os.environ["LAZYCUDA_NVVM"] = named
    say(message=Linker("sm_90").add(LLVMIR(text)).plan().message, nvvm=environment().nvvm)
""")
    assert "LAZYCUDA_NVVM=none hides it" in said[0]["message"] and said[3] == said[0]
    assert "there is no such file" in said[1]["message"]
    assert "LAZYCUDA_NVVM" not in said[2]["message"] and said[4]["nvvm"] == "12.9"
