# SPDX-License-Identifier: MIT
"""scan --check: what a library has that the list has not, and the other way round."""
import shutil

import pytest

from lists import ERRORS

LIST = f"""\
# The head.
toolkits 1.1 1.2 2.0

library thing
    stub libthing_stub.so
    soname libthing.so.1 1.1-1.2
    soname libthing.so.2 2.0-
    variable LAZYCUDA_THING
{ERRORS}
struct s
    size 4 1.1- layout A
    .a i32 0 1.1-

functions
    thingA          1.1-        (out s)         # a comment
    thingB          1.1         ()
    thingB          1.2-        (i32)
    thingNew        1.2-        (?) undeclared
    thingOld        1.1-1.2     ()

library other
    stub libother_stub.so
    soname libother.so.1 1.1-1.2
    variable LAZYCUDA_OTHER
{ERRORS}functions
    otherA          1.1-1.2     ()
"""


@pytest.fixture
def check(scan, tmp_path):
    (tmp_path / "list").write_text(LIST)
    return lambda *files: scan("--check", tmp_path / "list", *files)


OLD = ["thingA", "thingB", "thingOld"]
ALL = ["thingA", "thingB", "thingNew", "thingOld"]
NEW = ["thingA", "thingB", "thingNew"]


def test_difference_both_ways(check, thing):
    file = thing(["thingA", "thingB", "thingX", "thingNew"])
    done = check(f"{file}=1.2")
    assert done.returncode == 1
    assert done.stdout == (f"{file}: thing 1.2: 2 differ; + only the library has, - only the list has\n"
                           "    + thingX\n    - thingOld\n")


def test_the_version_from_the_folders(check, thing, tmp_path):
    for folder in ("1.2/x86_64/lib", "cuda-1.2/lib64", "site-1.2/2.0/lib"):
        (tmp_path / folder).mkdir(parents=True)
        file = shutil.copy(thing(ALL), tmp_path / folder / "libthing.so.1")
        assert check(file).stdout == f"{file}: thing 1.2: 4 names, as listed\n"
    link = tmp_path / "libthing.so"
    link.symlink_to(file)
    assert check(link).stdout == f"{link}: thing 1.2: 4 names, as listed\n"


def test_the_version_from_the_names(check, thing):
    file = thing(ALL)
    assert check(file).stdout == f"{file}: thing 1.2, to judge by its names: 4 names, as listed\n"
    file = thing([*OLD, "thingX"])
    done = check(file)
    assert done.returncode == 1
    assert "thing 1.1, to judge by its names: 1 differ" in done.stdout


def test_a_version_that_the_list_skips_has_what_those_around_it_have(scan, thing, tmp_path):
    (tmp_path / "list").write_text(LIST.replace("1.2", "1.3"))
    for names, differ in ((["thingA", "thingOld"], 0), (OLD, 1), (["thingA"], 1)):
        done = scan("--check", tmp_path / "list", f"{thing(names)}=1.2")
        assert done.returncode == differ, done.stdout


def test_a_version_of_another_major_is_refused(check, thing):
    done = check(f"{thing(OLD)}=2.0")
    assert done.returncode == 2
    assert "its SONAME, libthing.so.1, is not that of 2.0" in done.stderr
