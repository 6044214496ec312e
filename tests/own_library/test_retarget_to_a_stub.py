# SPDX-License-Identifier: MIT
"""`lazycuda retarget --stub`: to the stub of a library that somebody made one of."""
import json
import shutil
import zipfile

import pytest

import build
import elf
import own_stubs
import wheel_files
from importer import importer
from own_stubs import bar, stub_of


def run(*words):
    return build.run(*map(str, (build.TOOL, "retarget", *words)))


@pytest.fixture
def retarget(patchelf, tmp_path):
    """retarget(stub, file, ...) into tmp_path/out; what it says of it."""
    def retarget(stub, *words, status=0):
        done = run("--json", "-o", tmp_path / "out", "--stub", stub.file, *words)
        assert done.returncode == status, done.stdout + done.stderr
        said = json.loads(done.stdout)
        return (said["files"] + said["wheels"])[0]
    return retarget


def test_a_file_of_each_major(retarget, own, world, tmp_path):
    reals, stub = own
    for library, number in zip(reals, (10, 11)):
        module = importer(tmp_path, "barA", f"barB{number}", link=[library])
        said = retarget(stub, "--bundle", module)
        assert said["replaced"] == [{"library": "bar", "needed": f"libbar.so.{number}",
                                     "stub": "libbar_stub.so", "imports": 2, "first": False}]
        assert (said["loaded"], said["added"]) == (True, ["libbar_stub.so"])
        made = tmp_path / "out" / module.name
        assert "libbar_stub.so" in elf.dynamic(made)["NEEDED"]
        assert {s.node for s in elf.imports(made) if s.name.startswith("bar")} == {
            f"libbar.so.{number}"}
        assert world.probe(f"open:{made}", f"call:barA@libbar.so.{number}")[1]["value"] == 7


def test_beside_those_of_lazycuda_no_option_is_needed(own, tmp_path, patchelf):
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in map(build.stub_name, build.STUBBED):
        shutil.copy(build.BUILD / "lib" / name, folder)
    module = importer(tmp_path, "barA", link=[own[0][0]])
    done = run("--stubs", folder, "-o", tmp_path / "out", module)
    assert "needs none of the real libraries" in done.stdout
    shutil.copy(own[1].file, folder)
    done = run("--stubs", folder, "-o", tmp_path / "out", module)
    assert done.returncode == 0 and "libbar.so.10 -> libbar_stub.so (1 name)" in done.stdout
    assert run("--stubs", folder, "--only=bar", "-o", tmp_path / "out", module).returncode == 0


@pytest.mark.parametrize("script", [None, "BAR_1 { global: *; };\n"])
def test_a_name_that_the_stub_does_not_have_is_refused(retarget, tmp_path, script):
    stub = stub_of(tmp_path, bar(tmp_path, 2, script=script))
    newer = own_stubs.library(tmp_path / "newer", "libbar.so.2", "int barNew(void) { return 3; }",
                              script=script)
    said = retarget(stub, importer(tmp_path, "barNew", link=[newer]), status=1)
    assert (said["outcome"], said["code"]) == ("refused", "NO_NAME")
    assert "barNew" in said["error"] and "libbar_stub.so does not have" in said["error"]
    assert not list((tmp_path / "out").glob("*"))


def wheel(folder, members, requires=()):
    return wheel_files.make(folder, members, name="mine", requires=requires)


@pytest.mark.parametrize("which", ["own", "plain"])
def test_a_wheel(request, retarget, tmp_path, which):
    """The copy of the real library that it came with stays, or the stub takes its place."""
    found, stub = request.getfixturevalue(which)
    library = found[0] if which == "own" else found
    module = importer(tmp_path, "barA", link=[library])
    bundled = wheel(tmp_path, {"mine/module.so": module, f"mine.libs/{library.name}": library})
    assert retarget(stub, bundled)["outcome"] == "nothing"
    said = retarget(stub, "--prefer=stub", bundled)
    assert (said["added"], said["removed"]) == ([f"mine.libs/{library.name}"], [])
    with zipfile.ZipFile(next((tmp_path / "out").iterdir())) as made:
        made.extractall(tmp_path / "site")
    taken = tmp_path / "site" / "mine.libs" / library.name
    assert elf.dynamic(taken)["SONAME"] == [library.name]
    assert b"LAZYCUDA_1" in taken.read_bytes()


# ---- requirements ----

REQUIRES = ["numpy", "nvidia-foo-bar-cu12>=1; os_name == 'posix'", "nvidia-foo.bar==10.4.0.35",
            "Bar_Lib==7", "nvidia-cuda-runtime==14.*"]


def requirements(file):
    with zipfile.ZipFile(file) as made:
        lines = made.read("mine-1.0.dist-info/METADATA").decode().splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist")]


def relaxed(retarget, tmp_path, folder, *words):
    """({extra: requirement} that is said, what the wheel requires) of a wheel whose module
    needs a library from this folder, and the runtime."""
    found = own_stubs.library(tmp_path / folder, "libbar.so.2", "int barA(void) { return 1; }")
    stub = own_stubs.stub(tmp_path / "bar", "--from", found, "--missing", "7", *words)
    cudart = own_stubs.library(tmp_path / "cudart", "libcudart.so.12", "void cudaFree(void) {}")
    module = importer(tmp_path, "barA", "cudaFree", link=[found, cudart])
    said = retarget(stub, "--relax-requirements", wheel(tmp_path, {"mine/module.so": module}, REQUIRES))
    assert all(each["relaxed"] for each in said["requirements"])
    return ([(each["requirement"], each["extra"]) for each in said["requirements"]],
            requirements(next((tmp_path / "out").iterdir())))


def test_the_folder_of_the_library_tells_its_package(retarget, tmp_path):
    said, required = relaxed(retarget, tmp_path, "site/nvidia/foo_bar/lib")
    # The number of cuRAND's package, say, is not CUDA's.
    assert said == [(REQUIRES[1], "cuda12"), (REQUIRES[2], "cuda13"), (REQUIRES[4], "cuda14")]
    assert required == ["numpy",
                        "nvidia-foo-bar-cu12>=1 ; os_name == 'posix' and extra == \"cuda12\"",
                        'nvidia-foo.bar==10.4.0.35 ; extra == "cuda13"', "Bar_Lib==7",
                        'nvidia-cuda-runtime==14.* ; extra == "cuda14"',
                        'nvidia-cuda-runtime-cu11 ; extra == "cuda11"',
                        'nvidia-cuda-runtime-cu12 ; extra == "cuda12"',
                        'nvidia-cuda-runtime==13.* ; extra == "cuda13"']
    assert "    package nvidia-foo-bar\n" in (tmp_path / "bar" / "bar.txt").read_text()


def test_an_option_tells_it(retarget, tmp_path):
    said, required = relaxed(retarget, tmp_path, "site/nvidia/foo_bar/lib", "--package",
                             "nvidia_Foo-bar-cu11", "--package", "bar-lib")
    assert said == [(REQUIRES[1], "cuda12"), (REQUIRES[2], "cuda13"), (REQUIRES[3], "bar"),
                    (REQUIRES[4], "cuda14")]
    assert required[3] == 'Bar_Lib==7 ; extra == "bar"'


# ---- with other stubs, and what is none ----


@pytest.mark.parametrize("old, new", [(b'"soname":[', b'"sonama":['), (b'"libbar.so.2"', b'1            ')])
def test_a_stub_whose_note_is_damaged_is_refused(plain, patchelf, tmp_path, old, new):
    damaged = tmp_path / plain[1].file.name
    text = plain[1].file.read_bytes()
    assert old in text
    damaged.write_bytes(text.replace(old, new))
    done = run("-o", tmp_path / "out", "--stub", damaged,
               importer(tmp_path, "barA", link=[plain[0]]))
    assert done.returncode == 1 and "refused (NO_STUBS): " in done.stderr and \
        done.stderr.endswith(f": {damaged} is not a stub of lazycuda\n"), done.stderr


def test_what_is_no_stub_is_refused(retarget, own, tmp_path):
    reals, stub = own
    module = importer(tmp_path, "barA", link=[reals[0]])
    for words, message in ((("--stub", reals[0]), "is not a stub of lazycuda"),
                           (("--stub", tmp_path / "none.so"), "No such file or directory"),
                           (("--stub", stub.file), "there is another stub of bar")):
        said = retarget(stub, *words, module, status=1)
        assert said["code"] == "NO_STUBS" and message in said["error"]
