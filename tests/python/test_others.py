# SPDX-License-Identifier: MIT
"""What the pages of cuda.core, pynvjitlink and numba-cuda show, in the words of lazycuda.link:
the same as nvJitLink itself makes, which is what those call."""
import ctypes
import re

import pytest

import build
import pages
from handles import pair
from lazycuda import link


KINDS = {"cubin": 1, "ptx": 2, "ltoir": 3}


def direct(installed, options, kind, *paths, what="Cubin"):
    """What nvJitLink itself makes of files, which is what those packages call; or the status and the log
    of the link, where it fails."""
    library, handle = ctypes.CDLL(str(installed.file("nvJitLink"))), ctypes.c_void_p()

    def get(name):
        size = ctypes.c_size_t()
        assert not library[f"nvJitLinkGet{name}Size"](handle, ctypes.byref(size))
        made = ctypes.create_string_buffer(size.value)
        assert not library[f"nvJitLinkGet{name}"](handle, made)
        return made.raw
    words = (ctypes.c_char_p * len(options))(*(one.encode() for one in options))
    assert not library.nvJitLinkCreate(ctypes.byref(handle), len(options), words)
    # The NUL behind PTX belongs to it, as in cuda.core and pynvjitlink.
    kept = [(path.read_bytes() + b"\0" * (kind == "ptx"), path.name.encode()) for path in paths]
    for code, name in kept:             # at which nvJitLink looks until Complete
        assert not library.nvJitLinkAddData(handle, KINDS[kind], code, ctypes.c_size_t(len(code)), name)
    status = library.nvJitLinkComplete(handle)
    return (status, get("ErrorLog").decode()) if status else get(f"Linked{what}")


MINE = """
def inputs(kind):
    return [kind(open(path, "rb").read(), path.rpartition("/")[2]) for path in sys.argv[1:]]
"""


# What a page shows; and what nvJitLink is told, what there is for it here, and what is made.
@pytest.mark.parametrize("kind, options, code, what", [
    # NvJitLinker(arch); add_cubin(...), add_ptx(...), add_ltoir(...); get_linked_cubin()
    ("ptx", [], "PTXSource)", "Cubin"), ("cubin", [], "Cubin)", "Cubin"), ("ltoir", ["-lto"], "LTOIR)", "Cubin"),
    # NvJitLinker(arch, "-lto", "-ptx"); add_ltoir(...); get_linked_ptx()
    ("ltoir", ["-lto", "-ptx"], "LTOIR), lto=True, output=Output.PTX", "Ptx"),
    # Linker(one, two, options=LinkerOptions(arch=, lineinfo=True, max_register_count=32)).link("cubin")
    ("ptx", ["-lineinfo", "-maxrregcount=32"],
     'PTXSource), options=["-lineinfo", "-maxrregcount=32"]', "Cubin")])
def test_what_other_pages_show(python, installed, kind, options, code, what):
    paths = pair(installed.version, kind)
    said, = python(MINE + f"""
def linker(inputs, **more):
    return Linker("sm_80", **more).add(*inputs)
it = linker(inputs({code})
say(image=it.link().hex(), log=it.result.info_log, backend=it.plan().backend.name)
""", *paths)
    expected = direct(installed, ["-arch=sm_80", *options], kind, *paths, what=what)
    assert bytes.fromhex(said["image"]) == (expected.rstrip(b"\0") if what == "Ptx" else expected)
    assert said["log"] == "" and said["backend"] == "NVJITLINK"


def test_pynvjitlink_error_log_of_an_undefined_function(python, installed):
    kernel, _ = pair(installed.version, "cubin")
    said, = python(MINE + """
error = refusal(Linker("sm_80").add(*inputs(Cubin)))
say(code=error.code.name, log=error.error_log, call=error.call, status=error.status)
""", kernel)
    assert said["code"] == "UNDEFINED_SYMBOL" and "helper" in said["log"]
    reason, _, log = said["log"].partition("\n")
    assert "nvJitLinkComplete returned 6" in reason and said["call"] == "nvJitLinkComplete"
    status, direct_log = direct(installed, ["-arch=sm_80"], "cubin", kernel)
    assert (said["status"], log) == (status, direct_log.rstrip("\0"))


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


def test_parts_that_the_page_compiles_once_are_linked(python, installed):
    code, = ["\n".join(step.lines) for step in pages.steps(pages.where("from-python.md"))
             if isinstance(step, pages.Other) and step.lines[0].startswith("part")]
    said, = python("kept, text = {}, 'extern \"C\" __global__ void f(int *x) { *x = 1; }'\n" + code + """
linker = Linker("sm_90", lto=True)
say(elf=linker.add(*kept.values()).link()[1:4].decode(), keys=[*map(len, kept)])
""")
    assert said == {"elf": "ELF", "keys": [64]}


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
