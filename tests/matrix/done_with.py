# SPDX-License-Identifier: MIT
"""What a runtime lacks and the stub does with what it has: with several functions of the
runtime, or with the driver's.  For each, what is called in which order, and what the caller
gets; worked out from the documentation, never from the stub.
"""
import re
import struct

import symbols
from layouts import number
from sources import functions, runtime_writes

# cudaDriverEntryPointQueryResult: found, not found, found for later versions.
FOUND, NONE, LATER = range(3)
# A function that the fake driver has since 12.0.
NEWER = "cuStreamGetId"
INVALID_VALUE, NOT_FOUND, REFUSED, DRIVER_FAILED, FAILED = 1, 500, 801, 4712, 4711
SIZE_MAX = 2 ** 64 - 1
PER_THREAD = 2
ADDRESSES = 0x700000000000      # of functions of the fake driver that cannot be called
CONTEXT = 0x600000000000
# cudaMemcpyDefault
DEFAULT = 4


def base(caller):
    return caller.name.removesuffix("_ptsz")


def suffix(caller):
    return "_ptsz" * caller.name.endswith("_ptsz")


def serves(caller, major, version):
    done = DONE.get(base(caller))
    return bool(done and done[0](major, version))


# ---- which driver function a name stands for ----

def changes():
    """[(name, version)]: driver functions whose name stands for another interface since."""
    listed = symbols.read().libraries["cuda"].functions
    types = {f.name: f.parameters for f in listed}
    found = []
    for f in listed:
        part = re.fullmatch(r"(cu\w+)_v(\d+)", f.name)
        since = min(map(symbols.version, (v for v in symbols.read().toolkits
                                          if symbols.version(v) in f.range)))
        before = part and types.get(part[1] + f"_v{int(part[2]) - 1}" * (part[2] != "2"))
        if part and before is not None and since > (11, 7) and before != f.parameters:
            found.append((part[1], since[0] * 1000 + since[1] * 10))
    return sorted(found)


# ---- cases ----

def attributes(*pairs):
    """cudaMemcpyAttributes: the source's order of access, and flags."""
    return {"attrs": b"".join(ATTRIBUTES.pack(order, 1, 7, 1, 8, flags) for order, flags in pairs)}


ATTRIBUTES = struct.Struct("<iiiiiI")
USUAL = {
    "cudaMemcpyBatchAsync": {**attributes((1, 0), (3, 1)), "attrsIdxs": struct.pack("<QQ", 0, 1)},
    "cudaInitDevice": {"deviceFlags": 4, "initFlags": 1},
    "cudaGetDriverEntryPoint": {"flags": 0}, "cudaGetDriverEntryPointByVersion": {
        "flags": 0, "version": 12090},
}


def given(caller):
    return USUAL.get(base(caller), {})


def cases(caller, version, target):
    """What to try besides the plain cases: words for expected.Case."""
    return DONE[base(caller)][1](caller, target)


def driver_fails(caller, target):
    return [{"label": "the driver's function fails", "other": True}]


def stream_id_cases(caller, target):
    return [*driver_fails(caller, target), {"label": "a driver of 11", "driver": 11080}]


def kernel_cases(caller, target):
    if target[0] == 11:
        return [{"label": "the thread's device", "given": {"device": current_device(target)}},
                {"label": "no such device", "status": FAILED, "after": 4}]
    return driver_fails(caller, target)


def entry_point_cases(caller, target):
    drivers = [12020, 13050] + [11080] * (target[0] == 11)
    found = []
    for driver in drivers:
        for symbol in ("cuNothing", "cuMemAdvise", "cuGraphExecUpdate", "cuMemcpyBatchAsync"):
            found.append({"label": f"{symbol} of driver {driver}", "driver": driver,
                          "given": {"symbol": symbol.encode() + b"\0"}})
    for flags in (1, 2, 4):
        found.append({"label": f"flags {flags}", "given": {"flags": flags}})
    if "ByVersion" in caller.name:
        for version in (12010, 12020):
            found.append({"label": f"cuMemAdvise of {version}", "driver": 12010,
                          "given": {"symbol": b"cuMemAdvise\0", "version": version}})
        found += [{"label": f"too old a version for driver {driver}", "driver": driver, "given": {
            "symbol": NEWER.encode() + b"\0", "version": 11080}} for driver in drivers]
    return [*found, {"label": "no query", "given": {"found": None}}]


def batch_cases(caller, target):
    return [
        *[{"label": f"orders {one} and {two}", "given": attributes((one, 0), (two, 0))}
          for one, two in ((3, 3), (0, 1), (1, 2), (1, 4))],
        {"label": "flags", "given": attributes((1, 0), (1, 2))},
        *[{"label": f"attributes from {a} and {b} on", "given": {
            "attrsIdxs": struct.pack("<QQ", a, b)}} for a, b in ((1, 2), (0, 0), (0, 2))],
        {"label": "attributes for the second alone", "given": {
            "attrsIdxs": struct.pack("<Q", 1), "numAttrs": 1}},
        {"label": "more attributes than copies", "given": {"count": 1, "dsts": bytes(8)}},
        {"label": "no attributes", "given": {"numAttrs": 0}},
        *[{"label": f"copy {n} fails", "status": FAILED, "after": n} for n in (1, 2)],
        {"label": "no failIdx", "given": {"failIdx": None}},
    ]


def init_cases(caller, target):
    return [
        {"label": "no flags", "given": {"initFlags": 0}},
        {"label": "other flags", "given": {"initFlags": 2}},
        {"label": "the thread's device", "given": {"device": current_device(target)}},
        {"label": "no such device", "status": FAILED, "after": 4},
        {"label": "no context", "status": FAILED, "after": 5},
    ]


def current_device(version):
    """What the fake cudaGetDevice says."""
    written = runtime_writes(functions(version)["cudaGetDevice"], 0, version)
    return int.from_bytes(written[0], "little", signed=True)


# ---- what is to happen: (status, {output: bytes}, [(function, values)]) ----

def value(argument):
    return int.from_bytes(argument.bytes, "little")


def entry_point(caller, version, case, mine, target):
    if case.status:
        return case.status, {}, []
    asked = value(mine["version"]) if "version" in mine else version[0] * 1000 + version[1] * 10
    flags = value(mine["flags"]) or PER_THREAD * caller.name.endswith("_ptsz")
    symbol = mine["symbol"].bytes.rstrip(b"\0").decode()
    if flags > PER_THREAD:
        return INVALID_VALUE, {}, []
    found = FOUND
    if symbol.startswith("cuNo") or any(
            symbol == name and case.driver < since <= asked for name, since in changes()):
        found = NONE
    elif symbol == NEWER and asked < 12000:     # a driver of 11 cannot tell the difference
        found = LATER if case.driver >= 12000 else NONE
    outputs = {"function": number(0 if found else ADDRESSES + asked * 16 + flags, 8)}
    if "found" in mine:
        return 0, {**outputs, "found": number(found, 4)}, []
    return NOT_FOUND if found else 0, outputs, []


def batch(caller, version, case, mine, target):
    def words(meaning):
        return struct.unpack(f"<{len(mine[meaning].bytes) // 8}Q", mine[meaning].bytes)
    count, attributes = value(mine["count"]), value(mine["numAttrs"])
    indexes = words("attrsIdxs")[:attributes]
    stream = value(mine["stream"])
    look = ("cudaStreamGetFlags" + suffix(caller), [stream])
    refused = {"failIdx": number(SIZE_MAX, 8)}
    if case.status and not case.after:
        return case.status, refused, [look]
    if not 0 < attributes <= count or indexes[0] or sorted(set(indexes)) != list(indexes) or \
            indexes[-1] >= count:
        return INVALID_VALUE, refused, [look]
    for order, *_, flags in list(ATTRIBUTES.iter_unpack(mine["attrs"].bytes))[:attributes]:
        if order not in (1, 3) or flags > 1:
            return REFUSED, refused, [look]
    calls = [look, *[("cudaMemcpyAsync" + suffix(caller), [*triple, DEFAULT, stream])
                     for triple in zip(words("dsts"), words("srcs"), words("sizes"))]]
    status, made = run(case, calls)
    return status, {"failIdx": number(case.after - 1, 8)} if status else {}, made


def run(case, steps):
    """(status, the calls that are made): those of the runtime fail from one on, or those of the
    driver do."""
    made, calls = [], 0
    for name, values in steps:
        made.append((name, values))
        if not name.startswith("cuda"):
            if case.other:
                return DRIVER_FAILED, made
        elif case.status and calls >= case.after:
            return case.status, made
        else:
            calls += 1
    return 0, made


# What leads to the driver's cuGetProcAddress(), and tells its version.
DRIVER = [("cudaGetDriverEntryPoint", None)] * 2


def elsewhere(device, calls, case, target):
    """The same, of calls that are made for a device, on CUDA 11."""
    current = current_device(target)
    if device == current:
        return run(case, [("cudaGetDevice", None), *calls])
    there = [("cudaGetDevice", None), *DRIVER, ("cuCtxGetCurrent", None),
             ("cudaSetDevice", [device])]
    status, made = run(case, [*there, *calls])
    if len(made) > len(there):
        made += [("cudaSetDevice", [current]), ("cuCtxSetCurrent", [CONTEXT])]
    return status, made


def init_device(caller, version, case, mine, target):
    flags = value(mine["initFlags"])
    if flags > 1:
        return INVALID_VALUE, {}, []
    calls = [("cudaSetDeviceFlags", [value(mine["deviceFlags"])])] * flags + [("cudaFree", [0])]
    status, made = elsewhere(value(mine["device"]), calls, case, target)
    return status, {}, made


def stream_id(caller, version, case, mine, target):
    stream = value(mine["stream"])
    look = [*DRIVER, ("cudaStreamGetFlags" + suffix(caller), [stream])]
    if case.driver < 12000:
        return REFUSED, {"id": bytes(8)}, look
    status, made = run(case, [*look, ("cuStreamGetId" + suffix(caller), [stream])])
    return status, {} if status else {"id": number(0x1122334455667788, 8)}, made


def stream_device(caller, version, case, mine, target):
    stream = value(mine["stream"])
    status, made = run(case, [
        *DRIVER, ("cudaStreamGetFlags" + suffix(caller), [stream]),
        ("cuStreamGetCtx" + suffix(caller), [stream]), ("cuCtxPushCurrent", [CONTEXT]),
        ("cuCtxGetDevice", []), ("cuCtxPopCurrent", [])])
    return status, {} if status else {"deviceOf": number(5, 4)}, made


def kernel_attribute(caller, version, case, mine, target):
    kernel, attribute, new, device = (
        value(mine[name]) for name in ("kernel", "attribute", "value", "device"))
    if target[0] == 11:
        status, made = elsewhere(device, [("cudaFuncSetAttribute", [kernel, attribute, new])],
                                 case, target)
    else:
        status, made = run(case, [*DRIVER, (
            "cuKernelSetAttribute", [attribute, new, kernel, device])])
    return status, {}, made


def profiler(caller, version, case, mine, target):
    arguments = [mine["configuration"].pointer, mine["output"].pointer, value(mine["format"])]
    initialize = [("cudaFree", [0])]
    if target < (12, 5):
        initialize = [*DRIVER, *initialize]
    else:
        initialize.append(("cudaGetDriverEntryPointByVersion", None))
        if case.other:      # the runtime says that the driver has no such function
            return REFUSED, {}, initialize
    status, made = run(case, [*initialize, ("cuProfilerInitialize", arguments)])
    return status, {}, made


def until(*first):
    return lambda major, version: version < first


# {function, without _ptsz: (whether a runtime of `version` lacks it, for callers of `major`; cases; what
# is to happen)}
DONE = {
    "cudaGetDriverEntryPoint": (lambda major, version: major != version[0] and version < (12, 5),
                                entry_point_cases, entry_point),
    "cudaGetDriverEntryPointByVersion": (until(12, 5), entry_point_cases, entry_point),
    "cudaMemcpyBatchAsync": (until(12, 8), batch_cases, batch),
    "cudaInitDevice": (until(12, 0), init_cases, init_device),
    "cudaStreamGetId": (until(12, 0), stream_id_cases, stream_id),
    "cudaStreamGetDevice": (until(12, 8), driver_fails, stream_device),
    "cudaKernelSetAttributeForDevice": (until(12, 8), kernel_cases, kernel_attribute),
    "cudaProfilerInitialize": (lambda major, version: version >= (12, 0), driver_fails, profiler),
}


# ---- what did happen ----

def number_of(word):
    return int.from_bytes(word, "little") if isinstance(word, bytes) else word[0]


def same(words, values):
    """An argument of 32 bits fills half a register."""
    return values is None or all(
        got == want or want < 2 ** 32 and got % 2 ** 32 == want
        for got, want in zip(map(number_of, words), values))


def check(caller, version, case, given, after, outcome, target):
    """Yields what is wrong."""
    mine = {a.meaning: a for a in given}
    status, outputs, calls = DONE[base(caller)][2](caller, version, case, mine, target)
    returned = int.from_bytes(outcome.returned, "little")
    if returned != status:
        yield f"returned {returned}, not {status}"
    if calls or "EntryPoint" not in caller.name:
        if [reached.name for reached in outcome.reached] != [name for name, _ in calls]:
            yield f"called {[reached.name for reached in outcome.reached]}, not {calls}"
            return
        for reached, (name, values) in zip(outcome.reached, calls):
            if not same(reached.arguments, values):
                yield f"called {name}{reached.arguments}, not {values}"
    for a, image in zip(given, after):
        if a.meaning in outputs and image and image[:len(a.bytes)] != outputs[a.meaning]:
            yield f"{a.meaning} is {image[:len(a.bytes)].hex()}, not {outputs[a.meaning].hex()}"
    if status in (INVALID_VALUE, NOT_FOUND, DRIVER_FAILED) and outcome.last != status:
        yield f"cudaGetLastError says {outcome.last}"
    if status == REFUSED and (not outcome.error or outcome.error[:3] != (3, REFUSED, REFUSED)):
        yield f"refused, and the error is {outcome.error}"
