# SPDX-License-Identifier: MIT
"""`make -C DIR COMPAT=2`: the stub under the real library's SONAME, for binaries that nobody
may change."""
import os
from dataclasses import dataclass

import pytest

import build
import elf
import own_stubs

USER = "int barA(void);\nint main(void) {{ return barA() != {0}; }}\n"
# How a library names its versions, and the majors of which it can have several.
KINDS = {"soname": (None, (3, 4)), "other": ("BAR_{0} {{ global: *; }};\n", (3, 4)),
         "none": ("", (3,))}


@dataclass
class Made:
    kind: str
    stub: own_stubs.Stub
    reals: dict

    def compat(self, major):
        return self.stub.file.parent / f"compat{major}" / self.reals[major].name


def make(folder, reals, compat, kind="soname", cuda=""):
    """`cuda` is what follows the name of a file in --from."""
    stub = own_stubs.stub(folder / "bar", "--missing", "7", *[
        word for real in reals.values() for word in ("--from", f"{real}{cuda}")])
    own_stubs.make(stub.folder, "CFLAGS=-O0 -g", f"COMPAT={compat}")
    return Made(kind, stub, reals)


@pytest.fixture(scope="module", params=KINDS)
def bar(request, tmp_path_factory):
    script, majors = KINDS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    reals = {major: own_stubs.bar(folder, major, script=script and script.format(major))
             for major in majors}
    return make(folder, reals, ",".join(map(str, majors)), request.param)


@pytest.mark.parametrize("settings", [["COMPAT=3"], ["COMPAT=all"],
                                      ["install", "COMPAT=3", "COMPAT_FOR=12"]])
def test_none_is_made_where_the_list_says_so(tmp_path, settings):
    """As those of cuDNN's parts, which real libraries need for more than a stub has."""
    real = own_stubs.bar(tmp_path, 3)
    folder = own_stubs.stub(tmp_path / "bar", "--from", real, "--missing", "7", "--compat",
                            "none").folder
    done = build.run("make", "-C", folder, f"PREFIX={tmp_path / 'there'}", *settings)
    assert done.returncode == 2 and "the row `compat none` of bar.txt says" in done.stderr
    assert not list(folder.rglob("libbar.so.3")) and not (tmp_path / "there").exists()
    own_stubs.make(folder, "install", f"PREFIX={tmp_path / 'there'}")
    own_stubs.make(folder, "uninstall", f"PREFIX={tmp_path / 'there'}")
    assert not [one for one in (tmp_path / "there").rglob("*") if not one.is_dir()]


def program(folder, real, expected):
    """It was linked with the real library, and knows nothing of lazycuda."""
    (folder / "user.c").write_text(USER.format(expected))
    made = build.program(folder / "user.c", real)
    assert real.name in elf.dynamic(made)["NEEDED"]
    return made


# ---- what is built ----


def functions(file):
    return {(s.name, s.node): s.default for s in elf.exports(file) if s.name.startswith("bar")}


def test_it_has_what_the_real_library_has(bar):
    for major, real in bar.reals.items():
        file = bar.compat(major)
        found, wanted = functions(file), functions(real)
        if bar.kind == "other":     # beside those that linking it would give
            found = {key: key in wanted for key in found if key[1] != real.name}
        assert wanted and found == wanted
        assert elf.dynamic(file)["SONAME"] == [real.name]
        assert set(elf.dynamic(file)["NEEDED"]) <= {"libc.so.6", "libdl.so.2"}


def test_a_major_that_there_is_not(bar):
    done = build.run("make", "-C", bar.stub.folder, "COMPAT=9")
    assert done.returncode == 2 and "COMPAT=9: there is no major 9 here, only 3" in done.stderr


def test_it_is_installed_beside_cudas_and_taken_away(bar, tmp_path):
    where = ["CFLAGS=-O0 -g", f"DESTDIR={tmp_path}", "LIBDIR=/lib"]
    own_stubs.make(bar.stub.folder, *where, "COMPAT=3", "install")
    own_stubs.make(bar.stub.folder, *where, "install")
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("libbar.so*")}
    assert found == {"lib/lazycuda/compat3/libbar.so.3"}
    assert os.access(tmp_path / found.pop(), os.X_OK)
    own_stubs.make(bar.stub.folder, *where, "uninstall")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not (tmp_path / "lib/lazycuda/compat3").exists()


@pytest.mark.parametrize("compat", ["3", "3,4", "all"])
def test_several_of_its_majors_go_to_the_folder_of_one_cuda(bar, tmp_path, compat):
    """As cuDNN 8 and 9 do."""
    if bar.kind == "none" and "4" in compat:
        pytest.skip("it has one major")
    where = ["CFLAGS=-O0 -g", f"DESTDIR={tmp_path}", "LIBDIR=/lib", f"COMPAT={compat}", "COMPAT_FOR=12"]
    own_stubs.make(bar.stub.folder, *where, "install")
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("libbar.so*")} == {
        f"lib/lazycuda/compat12/libbar.so.{major}" for major in bar.reals if compat != "3" or major == 3}
    other = tmp_path / "lib/lazycuda/compat12/libother.so.1"
    other.write_bytes(b"")
    own_stubs.make(bar.stub.folder, *where, "uninstall")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [other]


@pytest.mark.parametrize("compat, cuda, message", [
    ("", "12", "COMPAT_FOR=12: COMPAT has to say which majors go there, of 3 4, or all"),
    *[("3", cuda, f"COMPAT_FOR={cuda}: give the number of one CUDA") for cuda in ("../..", "12,13", "012")]])
@pytest.mark.parametrize("bar", ["soname"], indirect=True)
def test_a_folder_of_no_cuda(bar, compat, cuda, message):
    done = build.run("make", "-n", "-C", bar.stub.folder, "install", f"COMPAT={compat}", f"COMPAT_FOR={cuda}")
    assert done.returncode == 2 and message in done.stderr


# ---- a program that cannot be changed ----

def test_with_it_a_program_starts_and_gets_an_error(bar, world, tmp_path):
    for major, real in bar.reals.items():
        made = program(tmp_path, real, 7)
        assert world.run(made, check=False).status == 127
        world.search(bar.compat(major).parent)
        assert world.run(made).status == 0
        world.env.pop("LD_LIBRARY_PATH")


# ---- CUDA's majors ----

def test_the_folder_is_called_by_the_major_of_cuda(world, tmp_path):
    # As cuFFT: the number in the SONAME is another.
    real = own_stubs.library(tmp_path / "real", "libbar.so.11", own_stubs.BAR.format(12))
    made = make(tmp_path, {12: real}, "12", cuda="=12")
    world.search(made.compat(12).parent)
    assert world.run(program(tmp_path, real, 7)).status == 0
    world.loader(real)
    assert world.run(program(tmp_path, real, 121)).status == 0
    done = build.run("make", "-C", made.stub.folder, "COMPAT=11")
    assert "there is no major 11 here, only 12" in done.stderr
