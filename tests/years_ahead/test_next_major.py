# SPDX-License-Identifier: MIT
"""CUDA 14, supported by what docs/reference/new-release.md says: in a copy of the sources, in which
nothing was changed but what the page asks for.
"""
import json
import pathlib
import re
import subprocess

import pytest

import build
import cuda14 as future
import elf
import pages
import steps
import symbols
from fakes import answer, fake

OLDER = sorted(build.MAJORS)


@pytest.fixture
def new(world, cuda14):
    """A machine on which the stubs know CUDA 14."""
    world.stubs = cuda14.stubs
    world.record()
    return world


# ---- the steps ----

def test_the_page_and_this_test_have_the_same_steps(cuda14):
    assert list(cuda14.said) == list(steps.ACTIONS) == steps.commands()


def test_the_page_names_every_file_that_had_to_be_edited(cuda14):
    named = set(re.findall(r"[\w.-]+(?:/[\w.-]+)+", pages.page("reference/new-release.md")))
    assert "link/tables/versions.c" in cuda14.edited
    assert [path for path in cuda14.edited
            if not {path, *map(str, pathlib.Path(path).parents)} & named] == []


def changed_functions(diff):
    """{name: [what its rows say now, what they said]}"""
    found = {}
    for line in diff.splitlines():
        row = re.fullmatch(r"([+-])    ([a-zA-Z_]\w*) +([\d.,-]+) +(\(.*\).*)", line)
        if row:
            found.setdefault(row[2], ([], []))[row[1] == "-"].append((row[3], row[4]))
    return found


def test_the_diff_shows_every_change_and_no_other(cuda14):
    diff = cuda14.said["git diff symbols.txt"]
    changed = changed_functions(diff)
    linker = {name for name in changed if re.fullmatch(r"__nvJitLink\w+_1[34]_\d", name)}
    # 13.5's own names are in it to tell that they end.
    assert {name for name in linker if "_13_" in name} == {
        name for name in fake_exports("nvJitLink", "13.5") if re.search(r"_13_\d$", name)}
    assert set(changed) - linker == {
        future.ARGUMENT_ADDED, future.ARGUMENT_DROPPED, *future.DROPPED, *future.NEW,
        *future.RENAMED, *future.RENAMED.values(), "nvrtcGetNumSupportedArchs",
        "nvrtcGetForecast", *(name for name, *_ in future.NEW_OF_DRIVER.values())}
    assert changed["cudaEventQuery"] == (
        [("11.7-13.5", "(ptr)"), ("14.0-", "(ptr, u32)")], [("11.7-", "(ptr)")])
    assert changed["cudaForecastCreate"] == ([("14.0-", "(out ptr, in cudaForecast)")], [])
    for line in ("+    soname libcudart.so.14 14.0-", "+    folder nvidia/cu14/lib 14.0-",
                 "+    size 64 14.0- layout B", "+    size 32 14.0- layout B",
                 "+    .layers                                          u64           24   14.0-",
                 "+    cudaErrorForecast                                 1101   14.0-"):
        assert line in diff.splitlines(), line
    # Signs of fields that moved: the other way round in 14.0.
    moved = re.findall(r"^\+    \.(size|alignment) +u64 +(\d) +(\S+)$", diff, re.M)
    assert sorted(moved) == [("alignment", "0", "14.0-"), ("alignment", "8", "11.7-13.5"),
                             ("size", "0", "11.7-13.5"), ("size", "8", "14.0-")]


def fake_exports(library, version):
    return symbols.read().libraries[library].exports(symbols.version(version))


def test_a_slot_that_got_another_name_is_told_with_its_line(cuda14):
    assert re.match(r"stubs/cudart/adaptors/rows\.h:\d+: there is no slot cudaLaunchHostFunc_v2, but "
                    r"cudaLaunchHostFunc_11, cudaLaunchHostFunc_14\b",
                    cuda14.said["make generate"])


def test_every_library_is_as_the_new_list_has_it(cuda14):
    said = cuda14.said["make generate all check-symbols"]
    checked = re.findall(r"^\S*/(\S+\.so\S*): \w+ ([\d.]+).*: \d+ names, as listed$", said, re.M)
    assert {(f"lib{name}.so.14", "14.0") for name in build.LIBRARIES} <= set(checked)
    assert {version for _, version in checked} == {*symbols.read().toolkits, "14.0"}
    assert " differ" not in said


def test_tables_loader_and_list_agree_on_every_call(cuda14):
    """What every name of every major becomes on 14.0, and every name of 14 on older ones."""
    said = cuda14.said["make test CUDA_VERSIONS=all"]
    passed = re.findall(r"^(\d+) passed, \d+ deselected", said, re.M)
    # Each library with each version; and the pairs of the matrix.
    assert list(map(int, passed)) == [
        len(build.STUBBED) * len(steps.VERDICTS), len(steps.PAIRS)]


# ---- what was made ----


def calls(world, *said, **env):
    """(status or answer, cause) of each call after the stub was loaded."""
    commands = [word for name in said for word in (f"call:{name}", "error:cudart")]
    lines = world.probe("stub:cudart", *commands, **env)[1:]
    return [(call["value"], error["cause"]) for call, error in zip(lines[::2], lines[1::2])]


@pytest.mark.parametrize("major", OLDER)
def test_older_callers_on_14(new, cuda14, major):
    node = f"libcudart.so.{major}" + (".0" if major == 11 else "")
    new.loader(cuda14.fake("cudart"))
    forwarded, adapted, *refused, dropped, dropped_too = calls(new, *[f"{name}@{node}" for name in (
        "cudaDeviceSynchronize", future.ARGUMENT_ADDED, future.ARGUMENT_DROPPED,
        future.STRUCT_GREW, future.FIELD_MOVED, future.BY_VALUE, *future.DROPPED[:2])])
    assert forwarded[0] == answer("cudart", "cudaDeviceSynchronize", "14.0")
    assert adapted[0] == answer("cudart", future.ARGUMENT_ADDED, "14.0")
    # With the argument that the caller does not give.
    assert [args[:2] for _, _, name, args, _ in new.log() if name == future.ARGUMENT_ADDED] == [
        [0, 0]]
    assert refused == [(801, 3)] * 4
    assert [dropped, dropped_too] == [(302, 2)] * 2


def test_a_caller_of_13_reaches_what_lost_its_suffix(new, cuda14):
    new.loader(cuda14.fake("cudart"))
    (status, _), = calls(new, "cudaLaunchHostFunc_v2@libcudart.so.13")
    assert status == answer("cudart", "cudaLaunchHostFunc", "14.0")


@pytest.mark.parametrize("version", ["11.8", "12.9", "13.5"])
def test_callers_of_14_on_older_ones(new, version):
    new.loader(fake("cudart", version))
    forwarded, adapted, *refused, absent = calls(new, *[f"{name}@libcudart.so.14" for name in (
        "cudaDeviceSynchronize", future.ARGUMENT_ADDED, future.ARGUMENT_DROPPED,
        future.STRUCT_GREW, future.FIELD_MOVED, future.BY_VALUE, future.NEW[0])])
    assert forwarded[0] == answer("cudart", "cudaDeviceSynchronize", version)
    assert adapted[0] == answer("cudart", future.ARGUMENT_ADDED, version)
    assert refused == [(801, 3)] * 4
    assert absent == (302, 2)


def test_callers_of_14_on_14(new, cuda14):
    new.loader(cuda14.fake("cudart"))
    names = (future.ARGUMENT_ADDED, future.ARGUMENT_DROPPED, future.BY_VALUE, *future.NEW)
    assert [value for value, _ in calls(new, *[f"{name}@libcudart.so.14" for name in names])] == [
        answer("cudart", name, "14.0") for name in names]


def both(world, cuda14):
    """CUDA 14 and 13, where NVIDIA's packages put them."""
    world.system("/usr/local/cuda-13.5/lib64", *[fake(name, "13.5") for name in build.LIBRARIES])
    world.system("/usr/local/cuda-14.0/lib64", *map(cuda14.fake, build.LIBRARIES))


@pytest.mark.parametrize("major, version", [(None, "14.0"), ("14", "14.0"), ("13", "13.5")])
def test_the_highest_major_or_the_one_that_is_pinned(new, cuda14, major, version):
    both(new, cuda14)
    env = {"LAZYCUDA_MAJOR": major} if major else {}
    said = new.statuses(*build.LIBRARIES, **env)
    assert {name: status["version"] for name, status in said.items()} == dict.fromkeys(
        build.LIBRARIES, version)


# ---- the tool ----

def caller(cuda14, folder, *names):
    """A program compiled for CUDA 14."""
    source = folder / "caller.c"
    source.write_text("".join(f"void {name}(void);\n" for name in names) + "int main(void) { "
                      + " ".join(f"{name}();" for name in names) + " return 0; }\n")
    program = folder / "caller"
    subprocess.run([*build.CC, source, build.import_library("cudart", 14, cuda14.stubs), "-o",
                    program], check=True)
    return program


def test_audit_has_a_column_for_14(new, cuda14, tmp_path):
    program = caller(cuda14, tmp_path, "cudaMalloc", future.ARGUMENT_ADDED,
                     future.ARGUMENT_DROPPED, *future.NEW)
    said = new.run(cuda14.tool, "audit", "--json", program).out
    file, = json.loads(said)["files"]
    assert file["imports"][0]["compiled_for"] == 14
    nothing = {"direct": 0, "renamed": 0, "adapted": 0, "refused": [], "absent": []}
    assert file["targets"]["14.0"] == {**nothing, "direct": 5}
    older = file["targets"]["13.5"]
    assert {**older, "absent": sorted(older["absent"])} == {
        **nothing, "direct": 1, "adapted": 1, "refused": [future.ARGUMENT_DROPPED],
        "absent": sorted(future.NEW)}
    assert new.run(cuda14.tool, "audit", "--require", "14", program).status == 0
    assert new.run(cuda14.tool, "audit", "--require", "13", program, check=False).status == 1


def test_the_row_of_the_table_counts_and_without_it_the_rule(new, cuda14, tmp_path):
    """The row of 14.0 that the copy has says that its PTX ISA is 9.7; the rule, 10.0."""
    source = tmp_path / "kernel.ptx"
    source.write_text(".version 9.8\n.target sm_90\n.address_size 64\n"
                      ".visible .entry k()\n{\n\tret;\n}\n")
    ask = ("plan", "--json", "--driver", "none", "--nvjitlink", "14.0", "--nvrtc", "14.0",
           "--arch", "sm_90", source)
    by_row = json.loads(new.run(cuda14.tool, *ask, check=False).out)
    by_rule = json.loads(new.cli(*ask, check=False).out)
    assert (by_row["decision"], by_rule["decision"]) == ("refused", "nvjitlink")
    assert "PTX 9.8" in by_row["message"]


# ---- stubs under the real names, packages ----

def test_stubs_under_the_real_names(new, cuda14):
    cuda14.run("make", "CFLAGS=-O0", "COMPAT=14")
    for library in build.LIBRARIES:
        stub = cuda14.stubs / "compat14" / f"lib{library}.so.14"
        assert elf.dynamic(stub)["SONAME"] == [stub.name]
        assert {s.name for s in elf.exports(stub) if s.node == stub.name} == set(
            future.parts()[library].functions)
