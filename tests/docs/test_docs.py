# SPDX-License-Identifier: MIT
"""What the pages say of files, options, variables and figures is so."""
import os
import re
import sys

import pytest

import build
import pages
import symbols
import usage

MAKEFILES = "".join((build.ROOT / name).read_text()
                    for name in ("Makefile", "packaging/install.mk", "packaging/stub/flags.mk"))
MANUAL = (build.BUILD / "man/lazycuda.1").read_text().replace(r"\-", "-")


# ---- links ----

def anchors(text):
    """Those that a Markdown page has, as they are made of its headings."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.+)$", text, re.M)}


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        file = page.parent / file if file else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text()), target


def test_every_page_is_linked_from_the_readme():
    said = pages.README.read_text()
    for page in [*pages.TASKS, *pages.REFERENCE]:
        assert f"({pages.name(page)})" in said, page.name


def words(page):
    """As wc -w counts them, without the bars of tables."""
    return sum(any(map(str.isalnum, word)) for word in page.read_text().split())


@pytest.mark.parametrize("page", pages.TASKS, ids=pages.name)
def test_the_page_of_a_task_is_short_and_begins_with_its_commands(page):
    assert re.match(r"# .+\n\n    \$ ", page.read_text())
    assert words(page) <= 700


@pytest.mark.parametrize("page", pages.TASKS, ids=pages.name)
def test_a_file_has_a_block_of_its_own(page):
    """Markdown shows two blocks with nothing between as one, and who copies it copies both."""
    for block in pages.blocks(page.read_text()):
        steps = pages.steps_of(block)
        assert len(steps) == 1 or not any(isinstance(step, pages.File) for step in steps), steps[0]


def test_all_pages_together():
    assert len(pages.TASKS) == 11
    read = [pages.README, build.ROOT / "CONTRIBUTING.md", *pages.TASKS, *pages.REFERENCE]
    assert sum(len(page.read_text().split()) for page in read) <= 38_000
    assert len(pages.README.read_text().split()) <= 1_400


# ---- the command's options ----

def flat(text):
    return re.sub(r'[\s"]+', " ", text).strip()


@pytest.mark.parametrize("command", usage.commands())
def test_the_manual_has_the_options_of_the_commands(command):
    said = {(flat(names), flat(text))
            for commands, section in re.findall(r'^\.SS "(.*)"\n((?:(?!\.S[SH]).*\n)*)', MANUAL, re.M)
            if command in commands.split(", ")
            for names, text in re.findall(r"^\.TP\n\.BI? (.*)\n((?:[^.].*\n)+)", section, re.M)}
    # argparse names the argument twice.
    assert said == {(flat(re.sub(r"^(-\w) \S+, ", r"\1, ", names)), flat(f"{text[0].upper()}{text[1:]}."))
                    for names, text in re.findall(
                        r"^  (-[^\n]*?)(?:  +|\n {20,})(\S[^\n]*(?:\n {20,}[^\n]*)*)", usage.help_of(command), re.M)
                    if "--help" not in names}


def test_the_manual_has_every_command():
    assert set(re.findall(r"^\.B lazycuda ([a-z]+)", MANUAL, re.M)) == set(usage.commands())


def test_the_readme_names_options_that_there_are():
    known = set().union(*(usage.long_options(command) for command in usage.commands()))
    named = {word for word in usage.options(pages.page("README.md")) if word.startswith("--")}
    assert named and named <= known


def test_the_pages_on_wheels_name_options_that_there_are():
    text = pages.page("retarget.md") + pages.page("reference/retarget.md").partition("## A frozen")[0]
    named = usage.options(" ".join(re.findall(r"`([^`\n]+)`", text)))
    assert len(named) > 5 and named <= usage.options(usage.help_of("retarget"))


# ---- the Python package ----

def test_what_the_package_answers():
    named = {words[0].split()[0] for words in pages.first_column(pages.page("reference/package.md"))}
    said = build.run(sys.executable, "-B", "-m", "lazycuda", "--help", check=True,
                     env={**os.environ, "PYTHONPATH": str(build.PYTHON)}).stdout
    assert named == set(re.findall(r"^  (--[a-z]+) ", said, re.M))


# ---- make ----

def is_setting(name):
    """Whether the Makefile uses it, and does not say itself what it is."""
    if re.search(rf"^{name} :=", MAKEFILES, re.M) and f"$(origin {name})" not in MAKEFILES:
        return False
    return re.search(rf"\$\({name}\)|\bgnu,{name},|^{name} \?=", MAKEFILES, re.M)


def test_the_settings_of_make():
    text = pages.page("reference/packaging.md")
    named = {word for words in pages.first_column(pages.section(text, "## Settings"))
             for word in words}
    named |= set(re.findall(r"\b([A-Z_]+)=", text + pages.page("packaging.md")))
    assert {"PREFIX", "libdir", "SOVERSION", "COMPAT", "DESTDIR", "V"} <= named
    # That one is the dynamic loader's.
    assert {name for name in named if not is_setting(name)} <= {"LD_LIBRARY_PATH"}


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name)
def test_what_make_is_called_with(page):
    own = page.parent / "Makefile"
    text = MAKEFILES + (build.TESTS / "run.py").read_text()
    text += own.read_text() if own.exists() else ""
    # `make -C` in a folder of `lazycuda stub`.
    text += (build.ROOT / "packaging/stub/Makefile.in").read_text()
    calls = pages.commands(page, "make")
    calls += re.findall(r"`(make [^`]+)`", page.read_text())
    calls = [re.sub(r"-C \S+", "", call) for call in calls]
    for word in " ".join(re.sub("^make", "", call) for call in calls).split():
        setting, is_set, _ = word.partition("=")
        if is_set:
            assert re.search(rf"\b{setting}\b", text), word
        else:
            assert re.search(rf"^(?:[\w./-]+ )*{word}(?: [\w./-]+)* ?:(?!=)", text, re.M), word


# ---- figures ----

def cost_lines():
    """[(name, figures, limit)] of cost.txt."""
    head, *lines = (pages.DOCS / "reference/cost.txt").read_text().splitlines()
    figures, limit = head.index("min") - 5, head.index("at most")
    return [(line[:figures].strip(), line[figures:].split(), line[limit:].split("  ")[0])
            for line in lines if line.startswith("  ")]


def test_the_rows_and_limits_of_cost():
    listed = build.run(sys.executable, "-B", build.ROOT / "bench/bench.py", "--list",
                       check=True).stdout.splitlines()
    rows = [re.split(r" {2,}", line.strip()) for line in listed if line.startswith("  ")]
    assert [[name, limit] for name, _, limit in cost_lines()] == rows


def test_the_figures_of_the_readme_are_those_of_cost():
    stubs, libraries = next([float(word) for word in figures[2:4]] for name, figures, _ in cost_lines()
                            if name == "3 stubs / 3 libraries of 13.5: time")
    said = f"{stubs / 1000:.1f} ms for three stubs, against {libraries / 1000:.0f} ms"
    assert said in pages.page("README.md")


def test_the_versions_that_are_covered():
    known = symbols.read().toolkits
    assert f"every name of CUDA {known[0]} to {known[-1]}" in pages.page("README.md")


def test_how_large_cudaDeviceProp_is():
    sizes = {version: size
             for size, span, _ in symbols.read().libraries["cudart"].structs["cudaDeviceProp"]
             for version in symbols.read().toolkits if symbols.version(version) in span}
    said = " ".join(pages.page("README.md").split())
    assert f"of 13 writes {sizes['13.0']} bytes, code for 11 has room for {sizes['11.8']}" in said


def test_what_calls_return():
    errors = {}         # kind: of each library
    for kind, value in re.findall(r"^    error (\w+) (\d+)", build.SYMBOLS.read_text(), re.M):
        errors.setdefault(kind, []).append(value)
    table = pages.section(pages.page("reference/how-it-works.md"), "## What calls return")
    rows = [re.findall(r"\| (\d+)", line) for line in table.splitlines()]
    kinds = ("missing", "absent", "refused", "driver", "incoherent", "ending")
    assert [row for row in rows if row] == [errors[kind] for kind in kinds]


# ---- reference/building.md ----

def test_the_oldest_cmake():
    config = (build.ROOT / "packaging/cmake/lazycuda-config.cmake.in").read_text()
    oldest = re.search(r"cmake_minimum_required\(VERSION ([\d.]+?)\.\.\.", config)[1]
    assert f"CMake {oldest} is enough" in pages.page("reference/building.md")


# ---- reference/threats.md, threads.md: promises.txt has what holds each promise ----

def promises(page="threats.md"):
    """(promise, what holds it) of each row that is about a page."""
    text = (build.TESTS / "docs" / "promises.txt").read_text()
    rows = [line.rpartition(" | ") for line in pages.section(text, f"## {page}").splitlines() if line]
    return [(promise, held.split()) for promise, _, held in rows]


def functions(path):
    return re.findall(r"^def (test_\w+)\(", path.read_text(), re.M)


@pytest.mark.parametrize("page, least", [("threats.md", 25), ("threads.md", 15)])
def test_every_promise_is_held_by_something_that_is_there(page, least):
    rows = promises(page)
    assert len(rows) > least
    for promise, holders in rows:
        assert holders, promise
        for holder in holders:
            file, _, name = holder.partition("::")
            path = build.ROOT / file if file.startswith("tests/") else build.TESTS / file
            assert path.exists(), holder
            assert not name or name in functions(path), holder


def test_every_target_of_the_fuzzers_is_named():
    named = {holder for _, holders in promises() for holder in holders}
    targets = {*build.TESTS.glob("fuzz/*.c"), build.TESTS / "fuzz" / "metadata.py"}
    assert {str(path.relative_to(build.ROOT)) for path in targets} <= named


def test_every_file_of_hostile_tests_is_named():
    named = {holder.partition("::")[0] for _, holders in promises() for holder in holders}
    assert {f"hostile/{path.name}" for path in build.TESTS.glob("hostile/test_*.py")} <= named
