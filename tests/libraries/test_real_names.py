# SPDX-License-Identifier: MIT
"""Stubs of CUDA's other libraries under the real SONAMEs (`make install COMPAT=12 ALL_STUBS=yes`):
all of a CUDA are in one folder, whatever their own numbers, and binaries that nobody may change
start with that folder alone."""
import filecmp

import pytest

import build
import elf
import installed as install_tree
import library_lists
import symbols
from fakes import driver as fake_driver
from fakes import fake as fake_of_five
from one_cuda import SITE, installed, library
from test_every_function import fake
from world import CALL, MISSING

VERSIONS = {11: "11.8", 12: "12.9", 13: "13.5"}
PRIVATE = "LAZYCUDA_1"
# Most of NPP's are as many functions as all others together, and the same again.
LEFT_OUT = "nppi% npps"
# Those of which the lists say that no stub has their name.
NEVER = {name for name in library_lists.NAMES
         if library_lists.read(name).words.get("compat") == "none"}
# (CUDA, library, its major)
FILES = [(cuda, name, of) for cuda in VERSIONS for name in library_lists.NAMES if name not in NEVER
         for of in library_lists.read(name).of_cuda(cuda)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return install_tree.install(tmp_path_factory.mktemp("names"), "COMPAT=11,12,13", "ALL_STUBS=yes",
                                f"COMPAT_WITHOUT={LEFT_OUT}")


MADE = [row for row in FILES if not row[1].startswith(("nppi", "npps"))]


def soname(name, of):
    return library_lists.read(name).sonames[of]


def of_the_five(cuda):
    return {symbols.read().libraries[name].soname(symbols.version(VERSIONS[cuda]))
            for name in build.LIBRARIES if (name, cuda) != ("nvJitLink", 11)}


# ---- what there is ----

@pytest.mark.parametrize("cuda", VERSIONS)
def test_the_folder_of_a_cuda_has_all_its_sonames(tree, cuda):
    assert {path.name for path in tree.compat(cuda).iterdir()} == of_the_five(cuda) | {
        soname(name, of) for of_cuda, name, of in MADE if of_cuda == cuda}


@pytest.mark.parametrize("cuda, name, of", MADE)
def test_exactly_that_majors_names_as_defaults(tree, cuda, name, of):
    file, made = tree.compat(cuda) / soname(name, of), library_lists.read(name)
    exports = [s for s in elf.exports(file) if s.node != PRIVATE]
    names = sorted([*made.names(of), *made.variables])
    assert sorted({s.name for s in exports}) == names
    if made.words.get("nodes") != "none":
        assert sorted(s.name for s in exports if s.default) == names
    assert elf.dynamic(file)["SONAME"] == [file.name]
    if "nodes" not in made.words:
        assert {(s.node, s.default) for s in exports} == {(file.name, True)}


def test_what_is_of_several_cudas_is_the_same_file(tree):
    folders = {}
    for cuda, name, of in MADE:
        folders.setdefault(soname(name, of), []).append(tree.compat(cuda) / soname(name, of))
    several = {name: files for name, files in folders.items() if len(files) > 1}
    assert len(several["libcudnn.so.9"]) == 3 and len(several["libcusparse.so.12"]) == 2
    for first, *others in several.values():
        assert all(filecmp.cmp(first, other, shallow=False) for other in others)


# ---- what is made when ----

EVERY = set(library_lists.NAMES) - NEVER
NPP = {name for name in EVERY if name.startswith("npp")}


@pytest.mark.parametrize("words, there", [
    (["install"], set()), (["install", "ALL_STUBS=yes"], set()),
    (["install", "ALL_STUBS=yes", "COMPAT=13"], EVERY),
    (["install", "ALL_STUBS=yes", "COMPAT=13", "COMPAT_WITHOUT=npp% nvvm"], EVERY - NPP - {"nvvm"}),
    (["uninstall", "COMPAT_WITHOUT=npp%"], EVERY)])
def test_those_that_were_asked_for(words, there):
    """The libraries that files are installed of in compat folders."""
    said = install_tree.planned(*words)
    assert {name for _, name, of in FILES if f"/{soname(name, of)}'" in said} == there


def test_uninstall_where_nothing_is_built(tmp_path):
    """In another clone, say: what it has to know is made first."""
    folder = tmp_path / "dest/p/lib/lazycuda/compat12"
    folder.mkdir(parents=True)
    (folder / "libcublas.so.12").write_bytes(b"")
    build.make(build.made_at(tmp_path / "fresh"), f"DESTDIR={tmp_path}/dest", "PREFIX=/p", "uninstall")
    assert not folder.exists()


def test_a_library_that_there_is_not_cannot_be_left_out():
    assert "COMPAT_WITHOUT=npp% nvwm: there is no list of nvwm in libraries/" in install_tree.refusal(
        build.ROOT, "COMPAT_WITHOUT=npp% nvwm")


# ---- a program that cannot be changed ----

USED = {"cublas": 12, "cudnn": 9, "nccl": 2, "cufft": 12}


def calls(name):
    return library_lists.read(name).names(USED[name])[0]


def program(folder, *more):
    """It calls a function of each, and of cudart of 12."""
    names = [*map(calls, USED), CALL["cudart"]]
    source = folder / "program.c"
    source.write_text("#include <stdio.h>\n" + "".join(
        f"int {name}(long, long, long, long, long, long, long, long);\n" for name in names) +
        "int main(void)\n{\n" + "".join(
            f'\tprintf("%d\\n", {name}(0, 0, 0, 0, 0, 0, 0, 0));\n' for name in names) + "}\n")
    return build.program(source, "-Wl,--no-as-needed", *more, "-Wl,--allow-shlib-undefined",
                         *[fake(name, of)[0] for name, of in USED.items()],
                         fake_of_five("cudart", "12.9"))


def answers(done):
    return [int(line) for line in done.lines]


def test_it_starts_with_that_folder_alone(world, tree, tmp_path):
    made = program(tmp_path)
    assert world.run(made, check=False).status == 127
    world.search(tree.compat(12))
    assert answers(world.run(made)) == [
        *(library_lists.read(name).errors["missing", of] for name, of in USED.items()), MISSING["cudart"]]


def test_real_ones_elsewhere_are_used(world, tree, tmp_path):
    world.search(tree.compat(12))
    world.system("/usr/local/cuda-12.9/lib64", *[fake(name, of)[0] for name, of in USED.items()])
    assert answers(world.run(program(tmp_path)))[:-1] == [
        fake(name, of)[1][calls(name)] for name, of in USED.items()]


# ---- one CUDA in the process ----

def both(world):
    """CUDA 12 by pip, whose site-packages it returns, and 13 in the system; each has all."""
    for name, of in (("cudnn", 9), ("nccl", 2)):
        installed(world, library(name, of), f"nvidia/{name}/lib", f"nvidia_{name}_cu12")
    site = world.put(f"{SITE}/nvidia/cuda_runtime/lib", fake_of_five("cudart", "12.9")).parents[2]
    world.system("/usr/local/cuda-13.0/lib64", fake_of_five("cudart", "13.5"), library("cudnn", 9),
                 library("nccl", 2))
    return site


@pytest.mark.parametrize("release, folder, order_of, cuda", [
    ("12.9", 12, None, 12), ("13.5", 12, None, 12), ("13.5", 13, None, 13), ("13.5", 13, "near", 12),
    ("12.9", 13, None, 12)])
@pytest.mark.parametrize("order", [("cudart", "cudnn", "nccl"), ("nccl", "cudnn", "cudart")],
                         ids="-".join)
def test_all_of_a_folder_are_served_by_one_cuda(world, tree, release, folder, order_of, cuda, order):
    """That is the folder's own, as the program would take, wherever it lies, if the driver runs it."""
    site = both(world)
    world.loader(fake_driver(release))
    sonames = {"cudart": f"libcudart.so.{folder}", "cudnn": "libcudnn.so.9", "nccl": "libnccl.so.2"}
    stubs = world.put(site / f"lazycuda/lib/lazycuda/compat{folder}",
                      *[tree.compat(folder) / each for each in sonames.values()])
    if order_of:
        world.env["LAZYCUDA_ORDER"] = order_of
    said = world.probe(*[f"open:{stubs / each}" for each in sonames.values()],
                       *[f"load:{name}" for name in order],
                       *[f"status:{name}" for name in sonames])[-3:]
    assert [one["state"] for one in said] == ["usable"] * 3, said
    assert all(one["path"].startswith(str(world.root / SITE) if cuda == 12 else
                                      "/usr/local/cuda-13.0/") for one in said), said
