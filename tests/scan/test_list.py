# SPDX-License-Identifier: MIT
"""The list itself: what is known of the real libraries must come out of it."""
import re

import pytest

import symbols

LIST = symbols.read()
VERSIONS = [symbols.version(text) for text in LIST.toolkits]

# Exported functions of 11.7, 11.8, 12.0 to 12.6, 12.8, 12.9 and 13.0 to 13.5.
COUNTS = {
    "cudart": [389, 395, 392, 393, 399, 413, 416, 418, 418, 435, 435, 422, 444, 452, 457, 458, 458],
    "nvrtc": [18, 18, 22, 22, 22, 22, 22, 22, 22, 27, 27, 25, 26, 28, 31, 31, 31],
    "nvJitLink": [0, 0, 13, 26, 39, 66, 80, 93, 106, 132, 145, 28, 41, 62, 77, 92, 107],
}
UNION = {"cudart": 502, "nvrtc": 33, "nvJitLink": 237}

UNDECLARED = {
    "cudart": {"__cudaGetProcAddress", "__cudaRegisterHostVar", "__cudaRegisterUnifiedTable",
               "cudaSubgridCreate", "cudaSubgridWorkerGridCreate", "cudaSubgridWorksetCreate"},
    "nvrtc": {"__nvrtcCPEx", "__nvrtcNvvmHandle"},
    "nvJitLink": {"__nvJitLinkAPI"},
}

# The same name with another interface than in the version before.
CHANGED = {
    (11, 8): """cudaCreateTextureObject cudaGetTextureObjectTextureDesc
        cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeSetAttribute cudaStreamGetAttribute
        cudaStreamGetAttribute_ptsz cudaStreamSetAttribute cudaStreamSetAttribute_ptsz""",
    (12, 0): """cudaChooseDevice cudaCreateTextureObject cudaFuncGetAttributes
        cudaGetDriverEntryPoint cudaGetDriverEntryPoint_ptsz cudaGetTextureObjectTextureDesc
        cudaGraphExecUpdate cudaGraphInstantiate""",
    (13, 0): """cudaChooseDevice cudaCreateSurfaceObject cudaCreateTextureObject
        cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray
        cudaGetDeviceProperties cudaGetSurfaceObjectResourceDesc cudaGetTextureObjectResourceDesc
        cudaGetTextureObjectResourceViewDesc cudaGraphAddDependencies cudaGraphAddNode
        cudaGraphGetEdges cudaGraphNodeGetDependencies cudaGraphNodeGetDependentNodes
        cudaGraphRemoveDependencies cudaImportExternalMemory cudaImportExternalSemaphore
        cudaMemAdvise cudaMemPrefetchAsync cudaMemPrefetchAsync_ptsz cudaMemcpy3DBatchAsync
        cudaMemcpy3DBatchAsync_ptsz cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz
        cudaPointerGetAttributes cudaSignalExternalSemaphoresAsync
        cudaSignalExternalSemaphoresAsync_ptsz cudaStreamGetCaptureInfo
        cudaStreamGetCaptureInfo_ptsz cudaStreamUpdateCaptureDependencies
        cudaStreamUpdateCaptureDependencies_ptsz cudaWaitExternalSemaphoresAsync
        cudaWaitExternalSemaphoresAsync_ptsz""",
}
DROPPED = {(12, 0): 14, (13, 0): 30}

SIZES = {   # in 11.7, 11.8, 12.9 and 13.5
    "cudaDeviceProp": (728, 728, 1032, 1008),
    "cudaDeviceProp_v1": (728, 728, 728, None),
    "cudaPointerAttributes": (24, 24, 24, 88),
    "cudaFuncAttributes": (56, 56, 144, 144),
    "cudaTextureDesc": (72, 72, 72, 72),
    "cudaTextureDesc_v1": (None, 68, None, None),
    "cudaResourceDesc": (64, 64, 64, 144),
    "cudaResourceViewDesc": (48, 48, 48, 112),
    "cudaExternalMemoryHandleDesc": (40, 40, 40, 104),
    "cudaExternalSemaphoreHandleDesc": (32, 32, 32, 96),
    "cudaExternalMemoryBufferDesc": (24, 24, 24, 88),
    "cudaExternalMemoryMipmappedArrayDesc": (64, 64, 64, 128),
    "cudaStreamAttrValue": (32, None, None, None),
    "cudaLaunchAttributeValue": (None, 64, 64, 64),
    "cudaLaunchAttribute": (None, 72, 72, 72),
    "cudaLaunchConfig_t": (None, 56, 56, 56),
    "cudaMemPoolProps": (88, 88, 88, 88),
    "cudaGraphNodeParams": (None, None, 256, 256),
}


def rows(library, wanted):
    """{name: function} of one version; a name has one interface in it."""
    found = {}
    for function in LIST.libraries[library].functions:
        if wanted in function.range:
            assert function.name not in found, f"{function.name} has two rows for {wanted}"
            found[function.name] = function
    return found


def interfaces(library, wanted):
    return {name: LIST.libraries[library].interface(function, wanted)
            for name, function in rows(library, wanted).items()}


@pytest.mark.parametrize("library", COUNTS)
def test_as_many_names_as_the_real_libraries_export(library):
    assert [len(rows(library, wanted)) for wanted in VERSIONS[:17]] == COUNTS[library]
    if len(VERSIONS) == 17:
        assert len({f.name for f in LIST.libraries[library].functions}) == UNION[library]


def test_changes_between_versions():
    for old, new in zip(VERSIONS, VERSIONS[1:17]):
        before, after = interfaces("cudart", old), interfaces("cudart", new)
        changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
        # Names that no header declares count as another interface in each major.
        changed -= UNDECLARED["cudart"]
        assert changed == set(CHANGED.get(new, "").split()), (old, new)
        assert len(before.keys() - after.keys()) == DROPPED.get(new, 0), (old, new)


@pytest.mark.parametrize("library", ["nvrtc", "nvJitLink"])
def test_no_change_elsewhere(library):
    for old, new in zip(VERSIONS, VERSIONS[1:17]):
        before, after = interfaces(library, old), interfaces(library, new)
        changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
        assert changed <= UNDECLARED[library]


@pytest.mark.parametrize("library", UNDECLARED)
def test_names_that_no_header_declares(library):
    assert {f.name for f in LIST.libraries[library].functions if f.undeclared} == UNDECLARED[library]


@pytest.mark.parametrize("struct", SIZES)
def test_sizes(struct):
    rows = LIST.libraries["cudart"].structs[struct]
    for wanted, size in zip([(11, 7), (11, 8), (12, 9), (13, 5)], SIZES[struct]):
        assert [row[0] for row in rows if wanted in row[1]] == ([size] if size else [])


def test_layouts_inside_a_major_are_interchangeable():
    for library in LIST.libraries.values():
        for struct, rows in library.structs.items():
            for major in (12, 13):
                letters = {letter for _, span, letter in rows if major in span.majors()}
                assert len(letters) <= 1, struct


@pytest.mark.parametrize("wanted", VERSIONS)
def test_per_thread_twins_are_like_their_base_names(wanted):
    names = rows("cudart", wanted)
    twins = [name for name in names if re.search("_pt[ds][sz]$", name)]
    assert len(twins) >= 58
    for twin in twins:
        base = names[twin[:-5]]
        assert names[twin].parameters == base.parameters, twin
        assert (names[twin].result, names[twin].hook) == (base.result, base.hook), twin
        # A family of twins is a family of base names.
        assert names[twin].family == base.family + twin[-5:], twin


def test_a_family_agrees_on_what_it_writes():
    """Equal types, equal directions; else the stub would treat outputs of one
    name otherwise than those of a name that does the same."""
    for library in LIST.libraries.values():
        families = {}
        for function in library.functions:
            families.setdefault(function.family, []).append(function)
        for members in families.values():
            directions = {}
            for function in members:
                types = tuple(re.sub("^(in|out|inout|buf) ", "* ", p) for p in function.parameters)
                assert directions.setdefault(types, function.parameters) == function.parameters


def test_unsuffixed_device_properties_of_12_are_those_of_11():
    twelve = interfaces("cudart", (12, 9))
    assert interfaces("cudart", (11, 8))["cudaGetDeviceProperties"] == twelve["cudaGetDeviceProperties"]
    assert twelve["cudaGetDeviceProperties"] != twelve["cudaGetDeviceProperties_v2"]


def test_every_version_has_one_soname():
    for name, library in LIST.libraries.items():
        for wanted in VERSIONS:
            found = [soname for soname, span in library.sonames if wanted in span]
            assert len(found) == (0 if (name, wanted[0]) == ("nvJitLink", 11) else 1)
