# SPDX-License-Identifier: MIT
"""What symbols.txt does not tell: the meaning of parameters.

Written by hand from the CUDA documentation, for the functions whose interface
changed.  The same name means the same thing in every version; so what a caller
gave under a name has to arrive under that name.
"""

RESOURCE = "in cudaResourceDesc"

# {family, without _ptsz: {parameters: names}}
MEANINGS = {
    "cudaMemAdvise": {
        "ptr, u64, i32, i32": "devPtr size advice device",
        "ptr, u64, i32, cudaMemLocation": "devPtr size advice location"},
    "cudaMemPrefetchAsync": {
        "ptr, u64, i32, ptr": "devPtr size device stream",
        "ptr, u64, cudaMemLocation, u32, ptr": "devPtr size location flags stream"},
    "cudaGraphAddDependencies": {
        "ptr, in ptr, in ptr, u64": "graph from to n",
        "ptr, in ptr, in ptr, in cudaGraphEdgeData, u64": "graph from to edges n"},
    "cudaGraphAddNode": {
        "out ptr, ptr, in ptr, u64, inout cudaGraphNodeParams": "node graph deps n params",
        "out ptr, ptr, in ptr, in cudaGraphEdgeData, u64, inout cudaGraphNodeParams":
            "node graph deps edges n params"},
    "cudaGraphGetEdges": {
        "ptr, buf ptr, buf ptr, out u64": "graph from to n",
        "ptr, buf ptr, buf ptr, buf cudaGraphEdgeData, out u64": "graph from to edges n"},
    "cudaGraphNodeGetDependencies": {
        "ptr, buf ptr, out u64": "node deps n",
        "ptr, buf ptr, buf cudaGraphEdgeData, out u64": "node deps edges n"},
    "cudaStreamUpdateCaptureDependencies": {
        "ptr, in ptr, u64, u32": "stream deps n flags",
        "ptr, in ptr, in cudaGraphEdgeData, u64, u32": "stream deps edges n flags"},
    "cudaStreamGetCaptureInfo": {
        "ptr, out i32, out u64": "stream status id",
        "ptr, out i32, out u64, out ptr, out ptr, out u64": "stream status id graph deps n",
        "ptr, out i32, out u64, out ptr, out ptr, out ptr, out u64":
            "stream status id graph deps edges n"},
    "cudaLaunchHostFunc": {
        "ptr, ptr, ptr": "stream fn data", "ptr, ptr, ptr, u32": "stream fn data mode"},
    "cudaGraphConditionalHandleCreate": {
        "out u64, ptr, u32, u32": "handle graph value flags",
        "out u64, ptr, ptr, u32, u32": "handle graph context value flags"},
    "cudaGraphInstantiate": {
        "out ptr, ptr, out ptr, buf i8, u64": "exec graph errorNode log logSize",
        "out ptr, ptr, u64": "exec graph flags"},
    "cudaGraphInstantiateWithFlags": {"out ptr, ptr, u64": "exec graph flags"},
    "cudaGraphInstantiateWithParams": {
        "out ptr, ptr, inout cudaGraphInstantiateParams": "exec graph instantiation"},
    "cudaGraphExecUpdate": {
        "ptr, ptr, out ptr, out i32": "exec graph errorNode result",
        "ptr, ptr, out cudaGraphExecUpdateResultInfo": "exec graph info"},
    "cudaGetDriverEntryPoint": {
        "in i8, out ptr, u64": "symbol function flags",
        "in i8, out ptr, u64, out i32": "symbol function flags found"},
    "cudaGetDriverEntryPointByVersion": {
        "in i8, out ptr, u32, u64, out i32": "symbol function version flags found"},
    "cudaMemcpyBatchAsync": {
        "in ptr, in ptr, in u64, u64, in cudaMemcpyAttributes, in u64, u64, out u64, ptr":
            "dsts srcs sizes count attrs attrsIdxs numAttrs failIdx stream",
        "in ptr, in ptr, in u64, u64, in cudaMemcpyAttributes, in u64, u64, ptr":
            "dsts srcs sizes count attrs attrsIdxs numAttrs stream"},
    "cudaMemcpy3DBatchAsync": {
        "u64, in cudaMemcpy3DBatchOp, out u64, u64, ptr": "numOps ops failIdx flags stream",
        "u64, in cudaMemcpy3DBatchOp, u64, ptr": "numOps ops flags stream"},
    "cudaPointerGetAttributes": {"out cudaPointerAttributes, ptr": "attributes pointer"},
    "cudaFuncGetAttributes": {"out cudaFuncAttributes, ptr": "attributes function"},
    "cudaGetDeviceProperties": {
        "out cudaDeviceProp_v1, i32": "properties device",
        "out cudaDeviceProp, i32": "properties device"},
    "cudaChooseDevice": {"out i32, in cudaDeviceProp": "device properties"},
    "cudaCreateTextureObject": {
        f"out u64, {RESOURCE}, in cudaTextureDesc, in cudaResourceViewDesc":
            "object resource texture view",
        f"out u64, {RESOURCE}, in cudaTextureDesc_v1, in cudaResourceViewDesc":
            "object resource texture view"},
    "cudaCreateSurfaceObject": {f"out u64, {RESOURCE}": "object resource"},
    "cudaGetSurfaceObjectResourceDesc": {"out cudaResourceDesc, u64": "resource object"},
    "cudaGetTextureObjectResourceDesc": {"out cudaResourceDesc, u64": "resource object"},
    "cudaGetTextureObjectResourceViewDesc": {"out cudaResourceViewDesc, u64": "view object"},
    "cudaGetTextureObjectTextureDesc": {
        "out cudaTextureDesc, u64": "texture object",
        "out cudaTextureDesc_v1, u64": "texture object"},
    "cudaInitDevice": {"i32, u32, u32": "device deviceFlags initFlags"},
    "cudaStreamGetId": {"ptr, out u64": "stream id"},
    "cudaStreamGetDevice": {"ptr, out i32": "stream deviceOf"},
    "cudaKernelSetAttributeForDevice": {"ptr, i32, i32, i32": "kernel attribute value device"},
    "cudaProfilerInitialize": {"in i8, in i8, i32": "configuration output format"},
    "cudaImportExternalMemory": {"out ptr, in cudaExternalMemoryHandleDesc": "object handle"},
    "cudaImportExternalSemaphore": {
        "out ptr, in cudaExternalSemaphoreHandleDesc": "object handle"},
    "cudaExternalMemoryGetMappedBuffer": {
        "out ptr, ptr, in cudaExternalMemoryBufferDesc": "mapped object buffer"},
    "cudaExternalMemoryGetMappedMipmappedArray": {
        "out ptr, ptr, in cudaExternalMemoryMipmappedArrayDesc": "mapped object array"},
}
for what in ("Signal", "Wait"):
    MEANINGS[f"cuda{what}ExternalSemaphoresAsync"] = {
        f"in ptr, in cudaExternalSemaphore{what}Params{suffix}, u32, ptr":
            "semaphores params n stream" for suffix in ("_v1", "")}
for what, handle in (("Stream", "stream"), ("GraphKernelNode", "node")):
    old = {"Stream": "cudaStreamAttrValue", "GraphKernelNode": "cudaKernelNodeAttrValue"}[what]
    for verb, direction in (("Get", "out"), ("Set", "in")):
        MEANINGS[f"cuda{what}{verb}Attribute"] = {
            f"ptr, i32, {direction} {value}": f"{handle} attribute value"
            for value in (old, "cudaLaunchAttributeValue")}
MEANINGS["cudaGraphRemoveDependencies"] = MEANINGS["cudaGraphAddDependencies"]
MEANINGS["cudaGraphNodeGetDependentNodes"] = MEANINGS["cudaGraphNodeGetDependencies"]


def names_of(function):
    """{index: name}, or None where symbols.txt says enough."""
    text = MEANINGS.get(function.family.removesuffix("_ptsz"), {}).get(
        ", ".join(function.parameters))
    return dict(enumerate(text.split())) if text else None


# Arrays, and the parameter that says how long they are: {(family, array): count}
COUNTED = {}
for family, rows in MEANINGS.items():
    for parameters, text in rows.items():
        for direction, name in zip(parameters.split(", "), text.split()):
            for count, arrays in (("n", "from to deps edges semaphores"),
                                  ("count", "dsts srcs sizes"), ("numAttrs", "attrs attrsIdxs"),
                                  ("numOps", "ops")):
                if name in arrays.split() or (
                        name == "params" and "ExternalSemaphores" in family and count == "n"):
                    COUNTED[family, name] = count

# What callers give under a name; other things get a value of their own.
CALLER_GIVES = {
    "n": 2, "count": 2, "numAttrs": 2, "numOps": 2, "device": 3, "advice": 3, "attribute": 1,
    "logSize": 64, "symbol": b"cuFunction\0",
}
# Elements that a caller has room for in what the function fills.
ROOM = {"from": 3, "to": 3, "deps": 3, "edges": 3, "log": 64}
# A query's count says how many the caller has room for.
for family in ("cudaGraphGetEdges", "cudaGraphNodeGetDependencies",
               "cudaGraphNodeGetDependentNodes"):
    CALLER_GIVES[family, "n"] = 3

# What fakes write under a name: the count of a query, and how many elements of
# an array.
RUNTIME_GIVES = {(family, name): 2 for family in (
    "cudaGraphGetEdges", "cudaGraphNodeGetDependencies", "cudaGraphNodeGetDependentNodes")
    for name in ("n", "from", "to", "deps", "edges")}
# cudaDriverEntryPointSuccess; the other outcome is an error in CUDA 11.
RUNTIME_GIVES["cudaGetDriverEntryPoint", "found"] = 0
RUNTIME_GIVES["cudaGetDriverEntryPointByVersion", "found"] = 0
# cudaGraphExecUpdateErrorNodeTypeChanged
RUNTIME_GIVES["cudaGraphExecUpdate", "result"] = 3

# What they write when asked for something else: that the driver has no such
# function; cudaGraphExecUpdateErrorAttributesChanged, which is new in 12.0.
RUNTIME_SAYS_ELSE = {"found": 1, "info": 8}

# A union's member, and what says that it is this one: {struct: (prefix, fields)}
RUNTIME_ARMS = {
    "cudaResourceDesc": (("res.pitch2D.",), {"resType": 3}),
    "cudaLaunchAttributeValue": (("accessPolicyWindow.",), {}),
    "cudaGraphNodeParams": (("kernel.",), {"type": 0}),
    "cudaGraphExecUpdateResultInfo": ((), {"result": 3}),
}
CALLER_ARMS = {
    "cudaResourceDesc": [(("res.array.",), {"resType": 0}), (("res.mipmap.",), {"resType": 1}),
                         (("res.linear.",), {"resType": 2}), (("res.pitch2D.",), {"resType": 3})],
    "cudaExternalMemoryHandleDesc": [
        (("handle.fd",), {"type": 1}), (("handle.win32.",), {"type": 2}),
        (("handle.nvSciBufObject",), {"type": 8})],
    "cudaExternalSemaphoreHandleDesc": [
        (("handle.fd",), {"type": 1}), (("handle.win32.",), {"type": 2}),
        (("handle.nvSciSyncObj",), {"type": 6})],
    "cudaGraphNodeParams": [
        (("kernel.",), {"type": 0}), (("memset.",), {"type": 2}), (("host.",), {"type": 3})],
    "cudaMemcpy3DBatchOp": [(("src.op.ptr.", "dst.op.ptr."), {"src.type": 1, "dst.type": 1})],
    "cudaLaunchAttributeValue": [
        ((member,), {}) for member in ("accessPolicyWindow.", "clusterDim.", "syncPolicy")],
}
for what in ("Signal", "Wait"):
    for suffix in ("", "_v1"):
        CALLER_ARMS[f"cudaExternalSemaphore{what}Params{suffix}"] = [
            (("params.nvSciSync.fence",), {}), (("params.nvSciSync.reserved",), {})]

# Device attributes above 111 and the toolkit whose cudaDeviceAttr has them first.
ATTRIBUTES = {
    **{a: (11, 7) for a in (*range(112, 120), 121)}, 120: (11, 8),
    **{a: (12, 0) for a in range(122, 127)}, **{a: (12, 1) for a in (127, 128, 129, 132)},
    **{a: (12, 2) for a in (130, 131, 134)}, 133: (12, 3), 135: (12, 5),
    **{a: (12, 8) for a in (136, 137, 138, 139, 140, 143)}, 141: (12, 9), 142: (12, 9),
    144: (13, 0), 145: (13, 0)}

# Fields of cudaDeviceProp that not every version has, and their attribute.
PROPERTY_ATTRIBUTES = {
    "clockRate": 13, "deviceOverlap": 15, "kernelExecTimeoutEnabled": 17, "computeMode": 20,
    "memoryClockRate": 36, "maxTexture1DLinear": 69, "singleToDoublePrecisionPerfRatio": 87,
    "hostRegisterSupported": 99, "sparseCudaArraySupported": 112,
    "hostRegisterReadOnlySupported": 113, "timelineSemaphoreInteropSupported": 114,
    "memoryPoolsSupported": 115, "gpuDirectRDMASupported": 116,
    "gpuDirectRDMAFlushWritesOptions": 117, "gpuDirectRDMAWritesOrdering": 118,
    "memoryPoolSupportedHandleTypes": 119, "clusterLaunch": 120,
    "deferredMappingCudaArraySupported": 121, "ipcEventSupported": 125,
    "unifiedFunctionPointers": 129, "deviceNumaConfig": 130, "deviceNumaId": 131,
    "mpsEnabled": 133, "hostNumaId": 134, "gpuPciDeviceID": 139, "gpuPciSubsystemID": 140,
    "hostNumaMultinodeIpcSupported": 143,
    "cooperativeMultiDeviceLaunch": None,    # gone without a successor: 0
}
assert all(a is None or a <= 111 or a in ATTRIBUTES for a in PROPERTY_ATTRIBUTES.values())
