# SPDX-License-Identifier: MIT
"""What a stub exports: the list, the whole list and nothing but the list."""
import re
import shutil
import subprocess

import pytest

import build
import elf
import symbols

PRIVATE = "LAZYCUDA_1"
libraries = pytest.mark.parametrize("library", build.STUBBED)
with_majors = pytest.mark.parametrize("library", build.LIBRARIES)


def wanted(library):
    """{(name, node)} that symbols.txt asks for."""
    listed = symbols.read().libraries[library]
    return {(function.name, node) for function in listed.functions
            for node, major in listed.nodes() if major in listed.majors(function.range)}


def public_functions():
    header = (build.ROOT / "include" / "lazycuda.h").read_text()
    return set(re.findall(r"\b(lazycuda_\w+)\((?=.*\);$)", header, re.M))


@libraries
def test_the_stub_exports_exactly_the_list(library):
    found = {(s.name, s.node) for s in elf.exports(build.stub(library))}
    cuda = {pair for pair in found if pair[1] != PRIVATE and
            (pair[1] or pair in wanted(library))}
    assert cuda - wanted(library) == set()
    assert wanted(library) - cuda == set()


def test_clang_makes_the_same_names():
    """By make, as a whole: it has an assembler of its own."""
    if not shutil.which("clang"):
        pytest.skip("there is no clang")
    where = build.made_at(build.BUILD / "tests" / "clang")
    for name in ("libnvrtc_stub.so", "compat12/libnvrtc.so.12"):
        build.make(where, "CC=clang", "COMPAT=12", f"{where[len('BUILD='):]}/lib/{name}")
        made, ours = ({(s.name, s.node, s.default) for s in elf.exports(folder / name)}
                      for folder in (build.BUILD / "tests/clang/lib", build.STUBS))
        assert made == ours


@with_majors
def test_dlsym_finds_a_name_that_has_no_default_version(library):
    made = elf.exports(build.stub(library))
    assert {s.name for s in made if not s.node} == (
        {s.name for s in made} - {s.name for s in made if s.node and s.default})
    # Linkers do not see it: its version index is 1, and hidden.
    count = len([s for s in made if not s.node])
    assert elf.readelf("-V", build.stub(library)).count(" 1h") == count


@libraries
def test_the_stub_exports_lazycuda_h(library):
    found = {s.name for s in elf.exports(build.stub(library)) if s.node == PRIVATE}
    assert public_functions() and public_functions() - found == set()
    assert all(name.startswith("lazycuda_") for name in found)


@with_majors
def test_every_real_export_is_there(library, toolkit):
    real = toolkit.file(library)
    if real is None:
        pytest.skip(f"CUDA {toolkit.version} has no {library}")
    exports = {(s.name, s.node) for s in elf.exports(real)}
    assert exports
    assert exports - {(s.name, s.node) for s in elf.exports(build.stub(library))} == set()


@with_majors
def test_a_name_has_a_default_version_only_if_its_interface_never_differs(library):
    listed = symbols.read().libraries[library]
    interfaces = {}
    for function in listed.functions:
        for version in function.range.versions():
            interfaces.setdefault(function.name, set()).add(listed.interface(function, version))
    defaults = {}
    for symbol in elf.exports(build.stub(library)):
        if symbol.node != PRIVATE:
            defaults.setdefault(symbol.name, []).append(symbol.default)
    for name, seen in interfaces.items():
        majors = {version[0] for f in listed.functions if f.name == name
                  for version in f.range.versions()}
        undeclared = any(f.undeclared for f in listed.functions if f.name == name)
        if len(seen) == 1:
            assert sum(defaults[name]) == 1, name
        elif len(majors) > 1 and not undeclared:
            assert sum(defaults[name]) == 0, name


@with_majors
@pytest.mark.parametrize("major", build.MAJORS)
def test_an_import_library_has_one_major_and_only_defaults(library, major):
    listed = symbols.read().libraries[library]
    path = build.import_library(library, major)
    if major not in {m for _, m in listed.nodes()}:
        assert not path.exists() or not [s for s in elf.exports(path) if s.node != PRIVATE]
        return
    assert elf.dynamic(path)["SONAME"] == [f"lib{library}_stub.so"]
    exports = [s for s in elf.exports(path) if s.node != PRIVATE]
    main = {soname for soname, span in listed.sonames if major in span.majors()}
    names = {f.name for f in listed.functions if major in f.range.majors()}
    assert {(s.name, s.node) for s in exports if s.default} == {
        (name, node) for name in names for node in main}
    assert {s.node for s in exports} <= {node for node, of in listed.nodes() if of == major}
    assert path.stat().st_size < 200_000
    assert elf.dynamic(path).get("NEEDED", []) == []


@pytest.mark.parametrize("library", build.DRIVER)
def test_the_import_library_of_what_has_no_majors_is_the_same_for_each(library):
    names = {f.name for f in symbols.read().libraries[library].functions}
    for major in build.MAJORS:
        path = build.import_library(library, major)
        assert elf.dynamic(path)["SONAME"] == [build.stub_name(library)]
        assert {(s.name, s.node) for s in elf.exports(path) if s.node != PRIVATE} == {
            (name, None) for name in names}
        assert path.read_bytes() == build.import_library(library, build.MAJORS[0]).read_bytes()


# manylinux2014: what the real libcudart needs, too.
@libraries
def test_the_stub_runs_on_glibc_2_17(library):
    assert elf.glibc(build.stub(library)) <= (2, 17)


def test_the_dispatch_library_runs_on_glibc_2_17():
    assert elf.glibc(build.STUBS / "liblazycuda_link.so") <= (2, 17)


@libraries
def test_the_stub_is_small(library, tmp_path):
    if not build.optimised():
        pytest.skip("CFLAGS have -O0, which makes large code")
    path = tmp_path / "stripped"
    subprocess.run(["strip", "-o", path, build.stub(library)], check=True)
    assert path.stat().st_size <= 432 * 1024
