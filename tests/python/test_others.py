# SPDX-License-Identifier: MIT
"""What the pages of cuda.core, pynvjitlink and numba-cuda show, in the words of lazycuda.link:
the same as nvJitLink itself makes, which is what those call."""
import re

import pytest

import build
import pages
from handles import pair
from lazycuda import link
from nvjitlink import Failed, NvJitLink


def direct(installed, options, *inputs, what="Cubin"):
    """Hex of what nvJitLink itself makes of (kind, path) pairs; or its log."""
    linker = NvJitLink(str(installed.file("nvJitLink")), *options)
    for kind, path in inputs:
        # The NUL behind PTX belongs to it, as in cuda.core and pynvjitlink.
        linker.add(kind, path.read_bytes() + b"\0" * (kind == "ptx"), path.name)
    return linker.linked(what)


TRANSLATED = """
def inputs(kind, paths):
    return [kind(open(path, "rb").read(), path.rpartition("/")[2]) for path in paths]
"""


def mine(python, code, *words):
    said, = python(TRANSLATED + code, *words)
    return bytes.fromhex(said["image"])


@pytest.mark.parametrize("kind", ["ptx", "cubin", "ltoir"])
def test_pynvjitlink_add_and_get_linked_cubin(python, installed, kind):
    """NvJitLinker(arch); add_cubin(...), add_ptx(...), add_ltoir(...); get_linked_cubin()"""
    paths = pair(installed.version, kind)
    options = ["-arch=sm_80"] + ["-lto"] * (kind == "ltoir")
    name = {"ptx": "PTXSource", "cubin": "Cubin", "ltoir": "LTOIR"}[kind]
    made = mine(python, f"""
linker = Linker("sm_80").add(*inputs({name}, sys.argv[1:]))
say(image=linker.link().hex())
""", *paths)
    assert made == direct(installed, options, *((kind, path) for path in paths))


def test_pynvjitlink_get_linked_ptx(python, installed):
    """NvJitLinker(arch, "-lto", "-ptx"); add_ltoir(...); get_linked_ptx()"""
    paths = pair(installed.version, "ltoir")
    made = mine(python, """
linker = Linker("sm_80", lto=True, output=Output.PTX).add(*inputs(LTOIR, sys.argv[1:]))
say(image=linker.link().hex())
""", *paths)
    expected = direct(installed, ["-arch=sm_80", "-lto", "-ptx"],
                      *(("ltoir", path) for path in paths), what="Ptx")
    assert made == expected.rstrip(b"\0")


def test_pynvjitlink_error_log_of_an_undefined_function(python, installed):
    kernel, _ = pair(installed.version, "cubin")
    with pytest.raises(Failed) as failed:
        direct(installed, ["-arch=sm_80"], ("cubin", kernel))
    said, = python(TRANSLATED + """
try:
    Linker("sm_80").add(*inputs(Cubin, sys.argv[1:])).link()
except LinkFailed as error:
    say(code=error.code.name, log=error.error_log, call=error.call, status=error.status)
""", kernel)
    assert said["code"] == "UNDEFINED_SYMBOL" and "helper" in said["log"]
    reason, _, log = said["log"].partition("\n")
    assert "nvJitLinkComplete returned 6" in reason and log == failed.value.log.rstrip("\0")
    assert (said["call"], said["status"]) == (failed.value.call, failed.value.status)


def test_cuda_core_linker_with_options(python, installed):
    """Linker(one, two, options=LinkerOptions(arch="sm_80", lineinfo=True,
    max_register_count=32)).link("cubin"), and get_info_log()"""
    paths = pair(installed.version, "ptx")
    said, = python(TRANSLATED + """
linker = Linker("sm_80", options=["-lineinfo", "-maxrregcount=32"])
image = linker.add(*inputs(PTXSource, sys.argv[1:])).link()
say(image=image.hex(), log=linker.result.info_log, backend=linker.plan().backend.name)
""", *paths)
    assert bytes.fromhex(said["image"]) == direct(
        installed, ["-arch=sm_80", "-lineinfo", "-maxrregcount=32"],
        *(("ptx", path) for path in paths))
    assert said["log"] == "" and said["backend"] == "NVJITLINK"


# ---- the page ----

def test_the_page_has_names_that_there_are():
    text = pages.page("reference/python-link.md")
    words = [word for cells in pages.first_column(pages.section(text, "## Names"))
             for word in cells]
    words += [word for cells in pages.first_column(pages.section(text, "## Errors"))
              for word in cells]
    linker = link.Linker("sm_90")
    for name in {one for word in words for one in re.findall(r"\b[A-Z]\w+", word)}:
        assert name in ("PTX", "True") or hasattr(link, name), name
    for name in ("plan", "link", "add", "result"):
        assert hasattr(linker, name)
    classes = {word for word in words if word in link.__all__ and word[0].isupper()}
    assert {"PTXSource", "CUSource", "Cubin", "Fatbin", "LTOIR", "Object", "Archive"} <= classes


def test_the_codes_of_the_classes():
    text = pages.section(pages.page("reference/python-link.md"), "## Errors")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) (?:to (\d+)|and more)", text, re.M)
    assert len(rows) == 6
    for code in link.Code:
        name = type(link._error(code, "", None, None)).__name__
        first, last = next((first, last) for one, first, last in rows if one == name)
        assert code == 0 or int(first) <= code <= int(last or 10**6)


def test_what_the_page_begins_with_runs(python, installed):
    code, = [step.text for step in pages.steps(pages.where("from-python.md"))
             if isinstance(step, pages.File)]
    code = code.replace("sm_90", "sm_80").replace("print(", "say(said=str(") + ")"
    code = code.replace("backend, len(image))", "backend), elf=image[1:4].decode())")
    assert python(code) == [{"said": "Backend.NVJITLINK", "elf": "ELF"}]


# ---- cuda.core ----

PAGE = (build.ROOT / "docs" / "reference" / "python-link.md").read_text()
OPTIONS = [(here, option) for here, option in re.findall(r"^\| `\w+=[^|]*` \| `(\w+=.*)` \| `(-.*)` \|$", PAGE, re.M)]


def test_cuda_core_options_are_these(python, installed):
    said = python("\n".join(f"""
plan = Linker("sm_80", {here}).add(*map(Input.from_path, sys.argv[1:])).plan()
say(code=plan.code.name, options=plan.options)""" for here, _ in OPTIONS), *pair(installed.version, "ltoir"))
    assert len(said) == len(OPTIONS) > 15
    for (_, option), one in zip(OPTIONS, said):
        assert one["code"] == "OK" and option in one["options"], option
