# SPDX-License-Identifier: MIT
"""Each test is run once, those of a file one after the other, and what takes long first."""
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import build
import schedule
import suites


def test_the_heaviest_first_and_then_the_largest():
    units = {"a/test_a.py": 3, "b/test_b.py": 5, "c/test_c.py": 4, "d/test_d.py": 5}
    assert schedule.order(units, {"c/test_c.py": 7.0, "a/test_a.py": 30.0}) == [
        "a/test_a.py", "c/test_c.py", "b/test_b.py", "d/test_d.py"]


@pytest.mark.parametrize("name, unit", [
    ("gen/test_list.py::test_malformed[a::b]", "gen/test_list.py"),
    ("wheels/test_package.py::test_the_command", "wheels")])
def test_what_a_test_belongs_to(name, unit):
    assert schedule.unit(name) == unit


def test_what_was_weighed_is_there():
    known = schedule.weights(schedule.WEIGHTS.read_text())
    assert known
    for name in known:
        assert (build.TESTS / name).exists(), name


@pytest.fixture
def ran(tmp_path):
    """The names of the tests that two processes ran of two files, with results.xml."""
    pytest.importorskip("xdist")
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text("import os, pathlib, pytest\n"
                                     "@pytest.mark.parametrize('n', range(20))\n"
                                     "def test(n):\n"
                                     "    file = pathlib.Path(__file__ + '.ran')\n"
                                     "    with file.open('a') as out:\n"
                                     "        print(os.getpid(), n, file=out)\n")
    suites.run(tmp_path, "-n", "2", "--dist", "loadscope")
    return {path.name: [line.split() for line in path.read_text().splitlines()]
            for path in tmp_path.glob("*.ran")}


def test_two_processes_run_all_of_it_once(ran):
    assert len(ran) == 2
    for rows in ran.values():
        assert [int(number) for _, number in rows] == list(range(20))
        assert len({process for process, _ in rows}) == 1


def test_what_a_test_took_can_be_read(ran, tmp_path):
    root = xml.etree.ElementTree.parse(tmp_path / "results.xml").getroot()
    found = [float(case.find("properties/property[@name='cpu']").get("value"))
             for case in root.iter("testcase")]
    assert len(found) == 40 and all(0 <= seconds < 10 for seconds in found)


# ---- bench/suite.py ----

RESULTS = """<testsuites><testsuite>
<testcase classname="gen.test_list" name="test_a[x]" time="2"><properties><property name="cpu"
 value="1.5"/></properties></testcase>
<testcase classname="gen.test_list" name="test_b" time="0.5"><properties><property name="cpu"
 value="0"/></properties><skipped/></testcase>
<testcase classname="wheels.test_package" name="test_c" time="30"><properties><property name="cpu"
 value="4.5"/></properties></testcase>
</testsuite></testsuites>"""


def suite(*arguments):
    return subprocess.run([sys.executable, "-B", build.ROOT / "bench" / "suite.py",
                           *map(str, arguments)], text=True, capture_output=True)


def test_a_row_for_each_folder(tmp_path):
    (tmp_path / "results-plain.xml").write_text(RESULTS)
    rows = [line.split() for line in suite(tmp_path / "results-plain.xml").stdout.splitlines()]
    assert rows[0][0] == "plain"
    assert rows[1:4] == [["wheels", "1", "4.5", "30.0", "75.0", "%"],
                         ["gen", "2", "1.5", "2.5", "25.0", "%"],
                         ["all", "3", "6.0", "32.5", "100.0", "%"]]
    assert rows[4] == ["skipped:", "1"]
    assert rows[6][2] == "wheels/test_package.py::test_c"


def test_weights_of_a_run(tmp_path):
    (tmp_path / "results.xml").write_text(RESULTS)
    said = suite("--weights", tmp_path / "results.xml").stdout
    assert schedule.weights(said) == {"wheels": 30.0, "gen/test_list.py": 2.0}


def test_a_file_that_is_cut_off_is_named(tmp_path):
    (tmp_path / "results.xml").write_text(RESULTS[:200])
    done = suite(tmp_path / "results.xml")
    assert done.returncode == 1 and f"{tmp_path}/results.xml: it is not what" in done.stderr
