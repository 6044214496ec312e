# SPDX-License-Identifier: MIT
"""The tree's rooms: each needs only those that NEEDS says, and no files need each other in a
ring, neither by their #includes nor by the symbols of their objects."""

import pytest

import build
from tree import included, room, sources

LOADER = ("include", "stubs/entry", "stubs/base", "stubs/loader")
LINK = ("include", "stubs/base", "link/tables")
NEEDS = {
    "include": (),
    "stubs/entry": (),
    "stubs/base": ("stubs/entry",),
    "stubs/loader": ("include", "stubs/entry", "stubs/base"),
    "stubs/cudart/adaptors": LOADER,
    "stubs/cudart": (*LOADER, "stubs/cudart/adaptors"),
    **{f"stubs/{library}": LOADER for library in ("cuda", "nvJitLink", "nvidia-ml", "nvrtc")},
    "link/tables": ("include", "stubs/base"),
    "link/formats": (*LINK, "stubs/entry"),
    "link/plan": (*LINK, "link/formats"),
    "link/run": (*LINK, "link/formats", "link/plan"),
    "gen/model": (),
    "gen": ("gen/model",),
    # What libraries export is read by the one reader of ELF files.
    "gen/scan": ("gen/model", "stubs/base"),
    # It reads the tables of the stubs that it runs with.
    "tools": ("include", "stubs/base", "stubs/loader", "link/tables"),
}
# What every stub has, is defined above where it is used: tables by what is generated and by a
# library's room, the record of a stub and what a fork() leaves to do by the loader's top.
GIVEN = {"lc_library", "lc_slot_table", "lc_specifics", "lc_self", "lc_forked"}
# What is linked together.
STUB = ("stubs/entry", "stubs/base", "stubs/loader")
LINKED = {
    **{library: (*STUB, f"stubs/{library}", f"stubs/{library}/adaptors")
       for library in ("cudart", "cuda", "nvJitLink", "nvidia-ml", "nvrtc")},
    "link": ("stubs/base", "link/tables", "link/formats", "link/plan", "link/run"),
    "lazycuda": ("stubs/base", "link/tables", "tools"),
    "gen": ("gen", "gen/model"),
    "scan": ("gen/scan", "gen/model", "stubs/base"),
}


def rings(needs):
    """{a: {b, ...}}: each ring, as the names in it."""
    found = []
    waiting = {one: set(others) - {one} for one, others in needs.items()}
    # Who needs nothing, or only those that are done, is done; who is left is in a ring, or
    # needs one that is.
    while True:
        done = [one for one, others in waiting.items() if not others & waiting.keys()]
        if not done:
            break
        for one in done:
            del waiting[one]
    for one in sorted(waiting):
        found.append(f"{one} needs {', '.join(map(str, sorted(waiting[one] & waiting.keys())))}")
    return found


def test_every_source_is_in_a_room():
    assert {room(path) for path in sources()} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_a_room_includes_what_it_may(name):
    back = {f"{path.relative_to(build.ROOT)} includes {other.relative_to(build.ROOT)}"
            for path in sources() if room(path) == name
            for other in included(path) if room(other) not in (name, *NEEDS[name])}
    assert back == set()


def test_rooms_are_in_no_ring():
    assert rings(NEEDS) == []


def test_files_are_in_no_ring():
    needs = {}
    for path in sources():
        stem = path.relative_to(build.ROOT).with_suffix("").as_posix()
        needs.setdefault(stem, set()).update(
            other.relative_to(build.ROOT).with_suffix("").as_posix() for other in included(path))
    assert rings(needs) == []


@pytest.mark.parametrize("product", LINKED)
def test_objects_are_in_no_ring_and_need_what_their_rooms_may(product):
    objects = {path: build.BUILT / "obj" / path.relative_to(build.ROOT).with_suffix(".o")
               for name in LINKED[product] for path in build.room(name)}
    assert len(objects) > 5
    defined, undefined, sources_of = {}, {}, {str(made): path for path, made in objects.items()}
    for line in build.output("nm", "-A", *sources_of).splitlines():
        made, _, rest = line.rpartition(":")
        kind, symbol = rest.split()[-2:]
        if kind in "BCDRTVW":
            defined[symbol] = sources_of[made]
        elif kind == "U":
            undefined.setdefault(sources_of[made], set()).add(symbol)
    needs = {path: {defined[symbol] for symbol in undefined.get(path, ())
                    if symbol in defined and symbol not in GIVEN} for path in objects}
    assert any(needs.values())
    assert rings(needs) == []
    back = {f"{path.relative_to(build.ROOT)} calls {other.relative_to(build.ROOT)}"
            for path, others in needs.items() for other in others
            if room(other) not in (room(path), *NEEDS[room(path)])}
    assert back == set()


def test_a_ring_is_seen():
    assert rings({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [
        "a needs b", "b needs c", "c needs b", "d needs a"]
    assert rings({"a": {"b"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("library", ["cudart", "cuda", "nvJitLink", "nvidia-ml", "nvrtc"])
def test_the_sources_of_a_stub_have_no_name_twice(library, tmp_path):
    """Statics, types and macros, too: a breakpoint on a name is at one place."""
    generated = build.BUILD / "generated" / f"lib{library}_stub.c"
    files = [generated, *(path for path in sources() if path.suffix == ".c" and room(path) in LINKED[library])]
    (tmp_path / "all.c").write_text("".join(f'#include "{file}"\n' for file in files))
    done = build.run(*build.CC, "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-w", '-DLAZYCUDA_VERSION="0"',
                     '-DLC_SOURCES="0"', f"-I{build.ROOT / 'stubs'}", f"-I{build.BUILD}", tmp_path / "all.c")
    assert not done.returncode, done.stderr
