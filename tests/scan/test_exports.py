# SPDX-License-Identifier: MIT
"""Reading a shared library's exports: what is refused, and that nothing crashes."""
import pytest

from lists import ERRORS

LIST = ("toolkits 1.0\nlibrary thing\n    stub libthing_stub.so\n    soname libthing.so.1 1.0-\n"
        f"    variable LAZYCUDA_THING\n{ERRORS}functions\n    thingA 1.0- ()\n")


@pytest.fixture
def check(scan, tmp_path):
    """check(file) compares it with a list of one name."""
    (tmp_path / "list").write_text(LIST)
    return lambda file: scan("--check", tmp_path / "list", f"{file}=1.0")


def refusal(check, file):
    done = check(file)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"{file}: "), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("more, why", [
    ({"source": "int thingA = 1;"}, "exports thingA, which is not a plain function"),
    ({"source": "__attribute__((weak)) void thingA(void) {}"}, "exports thingA, which is weak"),
    ({"source": "static void (*pick(void))(void) { return 0; }\n"
                "void thingA(void) __attribute__((ifunc(\"pick\")));"}, "not a plain function"),
    ({"node": "libthing.so.2"},
     "exports thingA under the version node libthing.so.2, but its SONAME is libthing.so.1"),
    ({"source": "void thingA(void) {} void thingB(void) {}\n",
      "node": "libthing.so.1 { global: thingA; local: *; }; libthing.so.2 { global: thingB; };"},
     "exports thingB under the version node libthing.so.2"),
    ({"source": "void a1(void) {} void a2(void) {}\n"
                "__asm__(\".symver a1, thingA@libthing.so.0\\n.symver a2, thingA@@libthing.so.1\");",
      "node": "libthing.so.0 { global: thingA; }; libthing.so.1 { global: thingA; local: a*; };"},
     "exports thingA under the version node libthing.so.0"),
    ({"soname": "", "node": "libthing.so.1"}, "has no SONAME"),
    ({"names": []}, "exports nothing"),
])
def test_what_a_stub_could_not_stand_in_for(check, thing, more, why):
    assert why in refusal(check, thing(**{"names": ["thingA"], **more}))


def test_an_old_hash_table_will_do(check, thing):
    assert check(thing(["thingA"], flags=["-Wl,--hash-style=sysv"])).returncode == 0


@pytest.mark.parametrize("content, why", [
    (None, "does not exist"), (b"INPUT(libthing.so.1)\n", "is not an ELF file"),
    (b"\x7fELF\x02\x01" + bytes(10) + b"\x01" + bytes(50), "is not a shared library")])
def test_what_is_no_library(check, tmp_path, content, why):
    """More of them are read by audit, with the same reader, which is fuzzed."""
    file = tmp_path / "file"
    if content:
        file.write_bytes(content)
    assert why in refusal(check, file)


def test_cpus_have_to_export_the_same(toolkits, thing):
    toolkits.add("1.0", "void thingA(void); void thingB(void);")
    arm = next((toolkits.folder / "1.0" / "aarch64" / "lib").iterdir())
    arm.unlink()
    arm.symlink_to(thing(["thingA"]))
    assert "does not export thingB, which " in toolkits.refuse()
    arm.unlink()
    arm.symlink_to(thing(["thingA", "thingB", "thingC"]))
    assert "does not export thingC, which " in toolkits.refuse()
    arm.unlink()
    arm.symlink_to(thing(["thingA", "thingB"], "libthing.so.2"))
    assert "has the SONAME libthing.so.2" in toolkits.refuse()


def test_a_toolkit_may_be_for_one_cpu(toolkits):
    toolkits.add("1.0", "void thingA(void);", cpus=["x86_64"])
    toolkits.add("1.1", "void thingA(void);")
    assert toolkits.derive().functions == ["thingA 1.0- () -> void"]
