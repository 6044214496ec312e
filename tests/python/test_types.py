# SPDX-License-Identifier: MIT
"""What lazycuda.link says of types, and on which Pythons it can be read."""
import ast
import ctypes
import os
import re
import sys

import pytest

import build
import elf
import package
from lazycuda import link, link_abi, link_library

CODE = build.PYTHON / "lazycuda"
FILES = [CODE / name for name in ("__init__.py", "paths.py", "link.py", "link_abi.py", "link_library.py",
                               "link_types.py")]

# How others would use it, and what the types of that are.
USER = """\
import lazycuda
from lazycuda.link import Code, Cubin, Linker, LinkError, Plan, PTXSource, inspect

def link(path: str) -> bytes:
    linker = Linker("sm_90", lto=True, options=["-lineinfo"])
    linker.add(PTXSource("text", setup_callback=print), Cubin.from_path(path)).add()
    plan: Plan = linker.plan().check()
    try:
        return linker.link()
    except LinkError as error:
        code: Code = error.code
        raise RuntimeError(f"{error.input}: {code.name} {error.had} {error.log}, {plan.rule}")

names: list[str] = [symbol.name for entry in inspect(b"").entries for symbol in entry.symbols]
print(lazycuda.libdir(12) / "x")
"""
WRONG = """\
from lazycuda.link import Cubin, Linker, plan
Linker(90).add("k.ptx")
plan([], misspelt=1)
plan([], lto="no")
Cubin.from_path("k", mian=True)
"""


def mypy(*files):
    package.need("mypy")
    environment = {**os.environ, "MYPYPATH": str(CODE.parent)}
    return build.run(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir",
                     build.BUILD / "tests" / "mypy", *files, env=environment)


def test_mypy_has_nothing_to_say():
    done = mypy(*FILES)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_mypy_knows_the_types_of_what_others_write(tmp_path):
    assert (CODE / "py.typed").exists()
    for name, text in (("user.py", USER), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text)
    done = mypy(tmp_path / "user.py")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    said = mypy(tmp_path / "wrong.py").stdout
    assert (said.count("arg-type"), said.count("call-arg")) == (3, 2), said


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_python_3_8_reads_it(file):
    """Its grammar; and no annotation is evaluated."""
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    uses_types = any(isinstance(one, ast.FunctionDef) and one.returns for one in ast.walk(tree))
    futures = [one for one in tree.body if isinstance(one, ast.ImportFrom)
               and one.module == "__future__"]
    assert futures or not uses_types


def test_a_number_that_is_not_known_has_a_name():
    assert link.Code(9999).name == "NUMBER_9999" and link.Code(9999) == 9999
    with pytest.raises(ValueError):
        link.Code("x")


# A pointer to char, and so on; of integers ctypes knows the size and the sign alone.
SPELLED = {None: "void", ctypes.c_int: "int", ctypes.c_uint: "unsigned", ctypes.c_ulong: "unsigned long",
           ctypes.c_char: "char", ctypes.c_ubyte: "unsigned char", ctypes.c_char_p: "char *",
           ctypes.c_void_p: "void *"}


def snake(of):
    return re.sub("(?<!^)(?=[A-Z])", "_", of.__name__).lower()


def spelled(made):
    """ctypes' type in C."""
    if made in SPELLED:
        return SPELLED[made]
    if issubclass(made, ctypes.Structure):
        return f"struct lazycuda_{snake(made)}"
    if hasattr(made, "_argtypes_"):
        return f"{spelled(made._restype_)} (*)({', '.join(map(spelled, made._argtypes_))})"
    return f"{spelled(made._type_)} *"


def constants():
    return {name: value for name, value in {**vars(link_abi.Flag), **vars(link_abi)}.items()
            if name.isupper() and isinstance(value, int)}


def declared():
    """C that compiles where the header declares what link_abi.py has."""
    for one in vars(link_abi).values():
        if not isinstance(one, type):
            continue
        if issubclass(one, link_abi.Struct) and one is not link_abi.Struct:
            yield f"sizeof({spelled(one)}) == {ctypes.sizeof(one)}"
            for name, made in one._fields_:
                yield f"offsetof({spelled(one)}, {name}) == {getattr(one, name).offset}"
                yield (f"__builtin_types_compatible_p(__typeof__((({spelled(one)} *)0)->{name}), "
                       f"{spelled(made)})")
        elif issubclass(one, link_abi.Number):
            for name, value in one.__members__.items():
                yield f"LAZYCUDA_{snake(one).upper().replace('_KIND', '')}_{name} == {value:d}"
    for name, value in constants().items():
        yield f"LAZYCUDA_{name} == {value}{'u' * (value > 0)}"
    for name, (result, taken) in link_abi.FUNCTIONS.items():
        yield (f"__builtin_types_compatible_p(__typeof__({name}), "
               f"{spelled(result)} ({', '.join(map(spelled, taken)) or 'void'}))")


def test_what_the_header_declares_is_what_ctypes_calls():
    """awk reads a part of C: of anything else in the header it would make another interface."""
    header = (build.ROOT / "include/lazycuda_link.h").read_text()
    # What ctypes does not tell apart.
    alike = re.sub(r"\bconst\b ?", "", re.sub(r"\benum lazycuda_\w+\b(?! \{)", "int", header))
    alike = alike.replace("struct lazycuda_link *", "void *")
    build.program(build.text(f"{alike}int main(void) {{ return 0; }}\n" + "".join(
        f'_Static_assert({one}, "{one}");\n' for one in declared()), "c"))
    assert {*link_abi.FUNCTIONS, "lazycuda_link_worker"} == {
        symbol.name for symbol in elf.exports(link_library.candidates()[0])}
    assert set(constants()) == set(re.findall(r"^#define LAZYCUDA_(\w+)[ \t]", header, re.M))
    names = {link_library.library().lazycuda_code_name(code) for code in range(200)} - {None}
    assert {name.decode() for name in names} == {code.name for code in link.Code} == set(
        re.findall(r"LAZYCUDA_CODE_(\w+) =", header))
