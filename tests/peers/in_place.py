# SPDX-License-Identifier: MIT
"""A plugin of pytest for the suites of others: OUTCOMES names a file for what becomes of each test,
and with IN_PLACE lazycuda.link is in the place of cuda.core's linker, which is numba-cuda's as well,
and of pynvjitlink's."""
import json
import os
import re

import pynvjitlink.api
import pytest
from cuda import core
from cuda.bindings import nvjitlink
from pynvjitlink.tests import conftest
from pynvjitlink.tests.conftest import *  # noqa: F403


# What the folder of numba-cuda's tests has and its wheel lacks.
@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None) if report.failed else None
        message = crash.message if crash else ""
        # What nvJitLink returned, or else where it failed.
        status = re.search("ERROR_[A-Z_]+", message)
        why = status[0] if status else f"{os.path.basename(crash.path)}:{crash.lineno}" if crash else ""
        with open(os.environ["OUTCOMES"], "a") as file:
            print(json.dumps([report.nodeid.rpartition("/")[2], f"{report.outcome} {why}", message]), file=file)


# What the folder of cuda.core's tests has.
@pytest.fixture
def init_cuda():
    device = core.Device()
    device.set_current()
    return device


# Of pynvjitlink, which reads beside its conftest.py what its wheel lacks.
conftest.__file__ = os.environ["NUMBA_CUDA_TEST_BIN_DIR"] + "/conftest.py"


# ---- nvJitLink's errors ----

def status_of(code):
    """What nvJitLink would return."""
    if code.name in ("BAD_ARCH", "BAD_OPTION", "OPTION_UNSUPPORTED"):
        return "ERROR_UNRECOGNIZED_OPTION"
    return "ERROR_INVALID_INPUT" if 10 <= code < 30 else "ERROR_INTERNAL"


def refused(linker):
    """The plan, if it is refused for what is known as soon as an input is added: nvJitLinkCreate and
    nvJitLinkAddData refuse that, nvJitLinkComplete the rest."""
    plan = linker.plan()
    early = plan.code < 10 and plan.code.name != "NO_INPUTS" or plan.code.name == "OPTION_UNSUPPORTED" or (
        10 <= plan.code < 30 and plan.input is not None)
    return plan if plan.code and early else None


# ---- cuda.core ----

# Fields of LinkerOptions: arguments of Linker, words for nvJitLink, and words with values.
SETTINGS = {"lineinfo": "lineinfo", "debug": "debug", "ftz": "ftz", "prec_div": "prec_div", "prec_sqrt": "prec_sqrt",
            "fma": "fma", "split_compile": "split_compile", "optimization_level": "optimize",
            "max_register_count": "max_registers", "link_time_optimization": "lto"}
WORDS = {"time": "-time", "verbose": "-verbose", "no_cache": "-no-cache",
         "optimize_unused_variables": "-optimize-unused-variables"}
LISTS = {"kernels_used": "-kernels-used=", "variables_used": "-variables-used=", "ptxas_options": "-Xptxas=",
         "split_compile_extended": "-split-compile-extended="}


def options_of(given):
    yield from (word for field, word in WORDS.items() if given.get(field))
    for field, word in LISTS.items():
        value = given.get(field, ())
        yield from (f"{word}{one}" for one in (value if isinstance(value, (list, tuple)) else [value]))


def core_linker(link):
    kinds = {"ptx": link.PTXSource, "cubin": link.Cubin, "ltoir": link.LTOIR, "fatbin": link.Fatbin,
             "object": link.Object, "library": link.Archive}

    theirs = core.Linker

    class Linker:
        backend, is_closed, handle = "nvJitLink", False, 1

        def __init__(self, *codes, options=None):
            if not codes:
                raise ValueError("At least one ObjectCode object must be provided")
            given = {name: value for name, value in vars(options or core.LinkerOptions()).items()
                     if value is not None and not name.startswith("_")}
            self.name, self.errors, self.infos = given.get("name"), "", ""
            self.linker = link.Linker(given.get("arch", "native"), options=[*options_of(given)], **{
                word: given[field] for field, word in SETTINGS.items() if field in given})
            self.linker.add(*(kinds[one.code_type](one.code, one.name) for one in codes))
            plan = refused(self.linker)
            if plan:
                self.fail(plan.code, plan.message)

        def fail(self, code, message):
            self.errors = self.errors or message
            raise nvjitlink.nvJitLinkError(getattr(nvjitlink.Result, status_of(code)))

        def link(self, target):
            if self.is_closed:
                raise RuntimeError("Linker has been closed")
            if target not in ("cubin", "ptx"):
                raise ValueError(f"Unsupported target type: {target}")
            self.linker.output = link.Output[target.upper()]
            try:
                done = self.linker.run()
            except link.LinkError as error:
                self.errors, self.infos = error.error_log, error.info_log
                self.fail(error.code, error.message)
            self.errors, self.infos = done.error_log, done.info_log
            return getattr(core.ObjectCode, f"from_{target}")(done.image, name=self.name or "")

        def get_error_log(self):
            return self.errors

        def get_info_log(self):
            return self.infos

        def close(self):
            self.is_closed = True

        @classmethod
        def which_backend(cls):
            return theirs.which_backend()
    return Linker


# ---- pynvjitlink ----

class Handles:
    """In the place of pynvjitlink._nvjitlinklib: a handle is the number of a Linker."""

    def __init__(self, link):
        self.link, self.all = link, {}
        self.kinds = [None, link.Cubin, link.PTXSource, link.LTOIR, link.Fatbin, link.Object, link.Archive]

    def nvjitlink_version(self):
        return tuple(map(int, self.link.environment().nvjitlink.split(".")))

    def fail(self, linker, refusal):
        linker.errors = linker.errors or refusal.message
        raise RuntimeError(f"NVJITLINK_{status_of(refusal.code)} error: {refusal.code.name} {refusal.message}")

    def checked(self, linker):
        plan = refused(linker)
        if plan:
            self.fail(linker, plan)

    def create(self, *options):
        if not all(isinstance(one, str) for one in options):
            raise TypeError("Expecting only strings")
        arch = [one.partition("=")[2] for one in options if one.startswith("-arch=")]
        linker = self.link.Linker(
            arch[-1] if arch else "sm_90", lto="-lto" in options, output="ptx" if "-ptx" in options else "cubin",
            options=[one for one in options if one not in ("-lto", "-ptx") and not one.startswith("-arch=")])
        linker.infos, linker.errors, linker.image = "", "", None
        self.checked(linker)
        if not arch:
            raise RuntimeError("NVJITLINK_ERROR_MISSING_ARCH error")
        self.all[id(linker)] = linker
        return id(linker)

    def destroy(self, handle):
        del self.all[handle]

    def add_data(self, handle, kind, data, name):
        self.all[handle].add(self.kinds[kind](data, name))
        self.checked(self.all[handle])

    def complete(self, handle):
        linker = self.all[handle]
        try:
            linker.image = linker.link()
            linker.infos = linker.result.info_log
        except self.link.LinkError as error:
            linker.infos, linker.errors = error.info_log, error.error_log
            self.fail(linker, error)

    def get_linked_cubin(self, handle):
        if self.all[handle].image is None:
            raise RuntimeError("NVJITLINK_ERROR_INTERNAL error")
        return self.all[handle].image

    get_linked_ptx = get_linked_cubin

    def get_error_log(self, handle):
        return self.all[handle].errors

    def get_info_log(self, handle):
        return self.all[handle].infos


# ---- the place ----

def put_in_place():
    from lazycuda import link
    from numba.cuda.cudadrv import driver

    pynvjitlink._nvjitlinklib = pynvjitlink.api._nvjitlinklib = Handles(link)
    core.Linker = driver.Linker = core_linker(link)


if "IN_PLACE" in os.environ:
    put_in_place()
