# SPDX-License-Identifier: MIT
"""Every stub says which libraries it may open, in the words of UAPI.12."""
import shutil

import pytest

import build
import dlopen_notes as notes
import elf
import symbols

DRIVER = [["libcuda.so.1"], ["libnvidia-ml.so.1"]]
libraries = pytest.mark.parametrize("library", build.STUBBED)


def expected(library):
    """From symbols.txt: SONAMEs that are searched for, the newest first."""
    listed = symbols.read().libraries[library]
    wanted = [[soname for soname, _ in reversed(listed.sonames)]]
    if library == "nvrtc":
        wanted.append([f"libnvrtc-builtins.so.{version}"
                       for version in reversed(symbols.read().toolkits)])
    return wanted


@libraries
def test_it_names_what_the_search_looks_for_and_the_driver(library):
    entries = notes.by_section(build.stub(library))
    mine = [entry["soname"] for entry in entries if entry["feature"] == library]
    assert mine == expected(library)
    assert sorted(e["soname"] for e in entries if e["feature"] == "driver") == DRIVER
    assert len(entries) == len(expected(library)) + 2


@libraries
def test_every_entry_has_all_four_keys(library):
    # One published reader fails without `feature`; `suggested` is what Debian allows.
    for entry in notes.by_section(build.stub(library)):
        assert set(entry) == {"soname", "feature", "description", "priority"}
        assert entry["priority"] == "suggested" and entry["description"]
    # dlopen-notes 0.20 fails on a second description of a feature.
    described = {(entry["feature"], entry["description"]) for entry in notes.by_section(build.stub(library))}
    assert len(described) == len({feature for feature, _ in described})


@libraries
def test_the_packages_that_have_it_are_in_a_note_of_their_own(library):
    # Published readers know the keys of the other alone.
    wanted = {"cudart": ["nvidia-cuda-runtime"], "nvrtc": ["nvidia-cuda-nvrtc"],
              "nvJitLink": ["nvidia-nvjitlink"]}
    assert notes.packages(build.stub(library)) == wanted.get(library, [])


@libraries
def test_it_is_loaded_with_the_library(library):
    assert notes.by_segment(build.stub(library)) == notes.by_section(build.stub(library))


def test_the_dispatch_library_names_what_unpacks():
    entries = notes.by_section(build.STUBS / "liblazycuda_link.so")
    assert sorted((e["feature"], *e["soname"]) for e in entries) == [
        ("lz4", "liblz4.so.1"), ("zstd", "libzstd.so.1")]


def test_a_stub_under_a_real_name_has_it_too():
    folder = build.BUILD / "tests" / "installed"
    build.make(build.made_at(folder), "COMPAT=12")
    assert notes.by_section(folder / "lib" / "compat12" / "libnvrtc.so.12") == notes.by_section(
        build.stub("nvrtc"))


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
@pytest.mark.parametrize("flags", [("-Wl,--gc-sections",), ("-Wl,--gc-sections", "-flto")])
def test_it_survives_the_linker(linker, flags):
    if not shutil.which(f"ld.{linker}"):
        pytest.skip(f"there is no ld.{linker}")
    name = f"notes-{linker}{'-lto' if '-flto' in flags else ''}"
    folder = build.BUILD / "tests" / name
    try:
        build.make(build.made_at(folder), f"LDFLAGS=-fuse-ld={linker} {' '.join(flags)}",
                   f"CFLAGS=-O2 -ffunction-sections -fdata-sections {' '.join(flags[1:])}",
                   folder.relative_to(build.ROOT) / "lib" / "libnvrtc_stub.so")
    except AssertionError as error:
        if linker == "gold" and "push-state" in str(error):
            pytest.skip("this gold is too old")
        raise
    made = folder / "lib" / "libnvrtc_stub.so"
    assert notes.by_section(made) == notes.by_section(build.stub("nvrtc"))
    # What asks for old functions of libc survives it, too.
    assert elf.glibc(made) <= (2, 17)


@libraries
def test_it_survives_patchelf(tmp_path, patchelf, library):
    # As auditwheel does it: another name, and a run path.
    patched = tmp_path / f"lib{library}_stub-0123abcd.so"
    shutil.copy(build.stub(library), patched)
    patchelf("--set-soname", patched.name, patched)
    patchelf("--set-rpath", "$ORIGIN/a/path/that/needs/more/room/than/there/was", patched)
    assert elf.dynamic(patched)["SONAME"] == [patched.name]
    assert notes.by_section(patched) == notes.by_section(build.stub(library))
    assert notes.packages(patched) == notes.packages(build.stub(library))
