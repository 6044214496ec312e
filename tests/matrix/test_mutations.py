# SPDX-License-Identifier: MIT
"""The matrix has teeth: whatever goes wrong in an adaptor or in the table of
them turns it red.

Each mutation is made in a copy of the stub's sources, in which nothing but
libcudart_stub.so is built.
"""
import pathlib
import re
import shutil
import subprocess

import pytest

import build
import expected
import layouts
import sources
import symbols
from comparison import MAJORS, VERSIONS, mistakes

TABLE = "stubs/cudart/adaptors/rows.h"
LAYOUTS = "build/generated/libcudart_stub.layouts.h"
GENERATED = "../../../build/generated/libcudart_stub.c"


class Copy:
    """The sources, to change one thing at a time."""

    def __init__(self, root):
        self.root = root
        for part in ("stubs", "link", "include", "tools", "gen", "packaging"):
            shutil.copytree(build.ROOT / part, root / part)
        for part in ("Makefile", "symbols.txt"):
            shutil.copy(build.ROOT / part, root / part)

    def build(self):
        stub = pathlib.Path("build") / "lib" / "libcudart_stub.so"
        done = subprocess.run(
            ["make", "-s", "-C", self.root, "BUILD=build", "CFLAGS=-O0",
             "WARNINGS=", f"CC={' '.join(build.CC)}", stub],
            capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        assert done.returncode == 0, done.stdout + done.stderr
        return self.root / stub.parent

    def text(self, file):
        return (self.root / file).read_text()

    def with_change(self, file, text):
        """The stub with another text in that file, which it then gets back."""
        path = self.root / file
        old = path.read_text()
        assert old != text, f"nothing to change in {file}"
        path.write_text(text)
        try:
            return self.build()
        finally:
            path.write_text(old)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    made = Copy(tmp_path_factory.mktemp("mutated"))
    made.build()
    return made


def affected(names, everywhere=False):
    """One (major, version) for each way in which calls of these names are
    renamed or adapted; or all of them."""
    found = {}
    for major in MAJORS:
        callable_names = sources.functions(sources.newest(major))
        for version in VERSIONS:
            target = symbols.version(version)
            for name in set(names) & set(callable_names):
                said = expected.verdict(name, major, target)
                if said.kind in ("adapted", "renamed"):
                    key = (version if everywhere else target[0], major, name, said.targets)
                    found.setdefault(key, (major, version))
    assert found, names
    return sorted(set(found.values()))


def is_red(world, stubs, names, pairs=None):
    for major, version in pairs or affected(names):
        if mistakes(world, major, version, stubs, names)[0]:
            return True
    return False


def names_of_slot(slot):
    """cudaMemAdvise_13 serves cudaMemAdvise and cudaMemAdvise_v2."""
    every = {f.name: f for f in sources.listed().functions}
    own = every.get(slot) or every[re.sub(r"_\d+$", "", slot)]
    return [f.name for f in every.values() if f.family == own.family]


def test_the_copy_itself_is_green(world, copy):
    stubs = copy.build()
    names = names_of_slot("cudaGetDeviceProperties_13") + names_of_slot("cudaMemAdvise_13")
    for major, version in affected(names):
        assert mistakes(world, major, version, stubs, names)[0] == []


def test_a_row_that_is_dropped(world, copy):
    text = copy.text(TABLE)
    rows = list(re.finditer(r"^\tSERVE(?:_BY)?\((\w+),[^)]*\)\n", text, re.M))
    assert len(rows) > 90
    unseen = []
    for row in rows:
        stubs = copy.with_change(TABLE, text[:row.start()] + text[row.end():])
        names = names_of_slot(row[1])
        # A slot may have a row for each major.
        if not is_red(world, stubs, names, affected(names, everywhere=False)) and \
                not is_red(world, stubs, names, affected(names, everywhere=True)):
            unseen.append(row[0])
    assert unseen == []


def conversions(text):
    """[(the struct made, its layout, the struct it is made of, its layout, where
    the list of copies ends)]"""
    found = re.finditer(r"^LC_CONVERSION\((\w+)_([A-Z]), (\w+)_([A-Z])\).*?\n()\t\t\{ 0 \}\n", text,
                        re.M | re.S)
    return [(*match.groups()[:4], match.start(5)) for match in found]


# What reads them.
CONVERTED = {
    "cudaDeviceProp": "cudaGetDeviceProperties cudaGetDeviceProperties_v2 cudaChooseDevice",
    "cudaExternalMemoryBufferDesc": "cudaExternalMemoryGetMappedBuffer",
    "cudaExternalMemoryHandleDesc": "cudaImportExternalMemory",
    "cudaExternalMemoryMipmappedArrayDesc": "cudaExternalMemoryGetMappedMipmappedArray",
    "cudaExternalSemaphoreHandleDesc": "cudaImportExternalSemaphore",
    "cudaExternalSemaphoreSignalParams_v1": "cudaSignalExternalSemaphoresAsync",
    "cudaExternalSemaphoreWaitParams_v1": "cudaWaitExternalSemaphoresAsync",
    "cudaFuncAttributes": "cudaFuncGetAttributes",
    "cudaPointerAttributes": "cudaPointerGetAttributes",
    "cudaResourceDesc": "cudaCreateSurfaceObject cudaGetSurfaceObjectResourceDesc",
    "cudaResourceViewDesc": "cudaGetTextureObjectResourceViewDesc cudaCreateTextureObject",
}
# Another name for a layout, which nothing converts by fields: it is one of the
# others to the byte, or is copied as it is.
NOT_BY_FIELDS = {"cudaDeviceProp_v1", "cudaTextureDesc_v1"}
# Nothing is made of these by fields: 13's callers call what 11 has as well.
ONLY_MADE = {"cudaExternalSemaphoreSignalParams", "cudaExternalSemaphoreWaitParams"}


def two_fields(both):
    """Two of one size, and of one union's member where there are such; none that
    another member lies over, which would put it right again."""
    offsets = [field.offset for field, _ in both]
    alone = [pair for pair in both if offsets.count(pair[0].offset) == 1]
    pairs = [(a, b) for i, a in enumerate(alone) for b in alone[i + 1:] if a[0].size == b[0].size]
    kin = [(a, b) for a, b in pairs
           if a[0].name.rpartition(".")[0] == b[0].name.rpartition(".")[0]]
    return (kin or pairs)[0]


def newest_with(struct, letter):
    return max(version for _, span, layout in symbols.read().libraries["cudart"].structs[struct]
               for version in map(symbols.version, VERSIONS)
               if layout == letter and version in span)


def test_two_fields_that_are_swapped(world, copy):
    text = copy.text(LAYOUTS)
    seen, unseen = set(), []
    for struct, letter, other, others, end in conversions(text):
        if {struct, other} & NOT_BY_FIELDS or other in ONLY_MADE:
            continue
        seen.add(other)
        target, source = ({field.name: field for field in layouts.fields(*layout)
                           if not field.reserved}
                          for layout in ((struct, newest_with(struct, letter)),
                                         (other, newest_with(other, others))))
        first, second = two_fields([(field, source[name]) for name, field in target.items()
                                    if name in source])
        # Copied once more, each to the other's place.
        swapped = "".join(f"\t\t{{ {to.offset}, {of.offset}, {to.size} }},\n"
                          for to, of in ((first[0], second[1]), (second[0], first[1])))
        stubs = copy.with_change(LAYOUTS, text[:end] + swapped + text[end:])
        if not is_red(world, stubs, CONVERTED[other].split()):
            unseen.append((struct, letter, other, others, swapped))
    assert unseen == []
    assert seen == set(CONVERTED)


# (file, what stands there, what is put there, the name to look at)
MISTAKES = [
    ("memory.c", r"LOCATION_DEVICE = 1, LOCATION_HOST = 2",
     "LOCATION_DEVICE = 2, LOCATION_HOST = 1", "cudaMemAdvise"),
    ("memory.c", r"CPU_DEVICE = -1", "CPU_DEVICE = -2", "cudaMemPrefetchAsync"),
    ("memory.c", r"words\[0\] == LOCATION_HOST \|\| words\[0\] == LOCATION_DEVICE", "1",
     "cudaMemAdvise"),
    ("memory.c", r"if \(ignores_location\(advice\)\)", "if (1)", "cudaMemAdvise"),
    ("memory.c", r"if \(ignores_location\(advice\)\)", "if (0)", "cudaMemAdvise"),
    ("textures.c", r"< KINDS_OF_RESOURCES", "< 0u", "cudaCreateSurfaceObject"),
    ("textures.c", r"!resource_fits\(resource\)", "0", "cudaCreateSurfaceObject"),
    ("memory.c", r"if \(error && fail_index\)", "if (0)", "cudaMemcpyBatchAsync"),
    ("memory.c", r"if \(flags\)", "if (0)", "cudaMemPrefetchAsync_ptsz"),
    ("graphs.c", r"_13\(graph, from, to, NULL, count\)", "_13(graph, to, from, NULL, count)",
     "cudaGraphAddDependencies"),
    ("graphs.c", r"if \(!plain_edges\(data, count\)\)", "if (0)", "cudaGraphAddDependencies"),
    ("graphs.c", r"error_node, info \+ LC_AT_cudaGraphExecUpdateResultInfo_A_errorNode",
     "error_node, info + LC_AT_cudaGraphExecUpdateResultInfo_A_errorFromNode",
     "cudaGraphExecUpdate"),
    ("graphs.c", r"parameters \+ LC_AT_cudaGraphInstantiateParams_A_errNode_out",
     "parameters + LC_AT_cudaGraphInstantiateParams_A_uploadStream", "cudaGraphInstantiate"),
    ("graphs.c", r"what >= UPDATE_ATTRIBUTES_CHANGED", "0", "cudaGraphExecUpdate"),
    ("textures.c", r"texture, callers, LC_SIZE_cudaTextureDesc_v1_A",
     "texture, callers, LC_SIZE_cudaTextureDesc_A", "cudaCreateTextureObject"),
    ("textures.c", r"out, theirs, LC_SIZE_cudaTextureDesc_v1_A",
     "out, theirs, LC_SIZE_cudaTextureDesc_A", "cudaGetTextureObjectTextureDesc"),
    ("textures.c", r"memset\(handle, 0, sizeof\(uint64_t\)\)", "(void)handle",
     "cudaCreateSurfaceObject"),
    ("functions.c", r"memcpy\(wide, value, SMALL_ATTRIBUTE\)", "memcpy(wide, value, 64)",
     "cudaStreamSetAttribute"),
    ("functions.c", r"memcpy\(value, wide, SMALL_ATTRIBUTE\)", "memcpy(value, wide, 64)",
     "cudaGraphKernelNodeGetAttribute"),
    ("by_driver.c", r"error \|\| query == QUERY_FOUND \? error", "1 ? error",
     "cudaGetDriverEntryPoint"),
    ("by_driver.c", r"if \(!is_too_old\(driver, symbol, version\)\)", "",
     "cudaGetDriverEntryPointByVersion"),
    ("by_driver.c", r"driver->version >= 12000", "0", "cudaGetDriverEntryPointByVersion"),
    ("by_driver.c", r"driver->version < changes", "driver->version <= changes",
     "cudaGetDriverEntryPointByVersion"),
    ("by_driver.c", r"PER_THREAD = 2", "PER_THREAD = 1", "cudaGetDriverEntryPoint_ptsz"),
    ("by_driver.c", r"newest_of\(callers\), flags \? flags", "newest_of(11), flags ? flags",
     "cudaGetDriverEntryPoint"),
    ("by_driver.c", r"\? lc_refuse_with\(slot, LC_REFUSED, error, DRIVER_FAILED\) : 0",
     "? error : 0", "cudaStreamGetDevice"),
    ("by_driver.c", r"pop\(&context\)", "(void)pop", "cudaStreamGetDevice"),
    ("by_driver.c", r"\|\| from->device == device", "", "cudaInitDevice"),
    ("by_driver.c", r"from->away && from->context", "0", "cudaKernelSetAttributeForDevice"),
    ("by_driver.c", r"if \(from->away\)", "if (0)", "cudaInitDevice"),
    ("by_driver.c", r"if \(flags\)\n", "if (1)\n", "cudaInitDevice"),
    ("by_driver.c", r"kernel \? set\(attribute, value", "kernel ? set(value, attribute",
     "cudaKernelSetAttributeForDevice"),
    ("by_driver.c", r"error = lc_slots.cudaFree\(NULL\);\n\n", "error = 0;\n\n",
     "cudaProfilerInitialize"),
    ("memory.c", r"order == DURING_CALL", "0", "cudaMemcpyBatchAsync"),
    ("memory.c", r"flags & ~\(uint32_t\)PREFER_OVERLAP", "flags", "cudaMemcpyBatchAsync"),
    ("memory.c", r"attributes \+ i \* LC_SIZE_cudaMemcpyAttributes_A", "attributes",
     "cudaMemcpyBatchAsync"),
    ("memory.c", r"\|\| batch->indexes\[0\]", "", "cudaMemcpyBatchAsync"),
    ("memory.c", r"batch->indexes\[i\] >= batch->count", "0", "cudaMemcpyBatchAsync"),
    ("memory.c", r"memcpy\(fail_index, &i, sizeof\(i\)\)", "memset(fail_index, 0, 8)",
     "cudaMemcpyBatchAsync"),
    ("memory.c", r"COPY_DEFAULT = 4", "COPY_DEFAULT = 3", "cudaMemcpyBatchAsync_ptsz"),
    ("properties.c", r"ATTRIBUTE\(clockRate\) = 13", "ATTRIBUTE(clockRate) = 36",
     "cudaGetDeviceProperties"),
    ("properties.c", r"attributes\[missing->number\], device", "attributes[missing->number], 0",
     "cudaGetDeviceProperties"),
    ("external.c", r"\(size_t\)i \* conversion->from", "(size_t)i * conversion->to",
     "cudaWaitExternalSemaphoresAsync"),
    ("convert.c", r"memset\(target, 0, conversion->to\)", "memset(target, 1, conversion->to)",
     "cudaImportExternalMemory"),
    # Forwarded by name, across a difference of interface; and not renamed.
    (GENERATED, r"\{ N\(cudaMemAdvise\), LC_VERSION\(13, 0\), LC_ANY_LATER \}",
     "{ N(cudaMemAdvise), LC_VERSION(12, 0), LC_ANY_LATER }", "cudaMemAdvise"),
    (GENERATED, r"\{ N\(cudaMemAdvise\), LC_VERSION\(11, 0\), LC_VERSION\(12, 99\) \}",
     "{ N(cudaMemAdvise), LC_VERSION(11, 0), LC_ANY_LATER }", "cudaMemAdvise"),
    (GENERATED, r"\{ N\(cudaMemAdvise_v2\), LC_VERSION\(12, 2\), LC_VERSION\(12, 99\) \}",
     "{ N(cudaMemAdvise), LC_VERSION(13, 0), LC_ANY_LATER }", "cudaMemAdvise"),
    ("convert.c", r"bytes\[lost->at \+ i\]", "0", "cudaImportExternalSemaphore"),
]


@pytest.mark.parametrize("file, old, new, name", MISTAKES,
                         ids=[f"{row[3]}-{i}" for i, row in enumerate(MISTAKES)])
def test_a_mistake_in_an_adaptor(world, copy, file, old, new, name):
    file = f"stubs/cudart/adaptors/{file}"
    text = copy.text(file)
    assert re.search(old, text), f"{file} is written another way now: find the like of {old}"
    assert is_red(world, copy.with_change(file, re.sub(old, new, text)), [name])
