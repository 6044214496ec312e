# SPDX-License-Identifier: MIT
"""What has to become of a call: worked out from symbols.txt, the meaning of
parameters (parameters.py) and the rules below, never from the stub.
"""
import re
from dataclasses import dataclass, field, replace

import done_with
import layouts
from layouts import is_struct, number
from parameters import (ATTRIBUTES, CALLER_ARMS, CALLER_GIVES, COUNTED, PROPERTY_ATTRIBUTES, ROOM,
                        RUNTIME_GIVES, names_of)
from sources import functions, listed, newest, parameters, runtime_returns, runtime_writes

OPAQUE = 0x200000000000
BUFFERS = 0x210000000000
BUFFER_SIZE = 0x40000
BUFFER_END = 0x20000
GUARD = bytes([layouts.GUARD]) * 64
FAILED = 4711
REFUSED, ABSENT = 801, 302
CAUSES = {ABSENT: 2, REFUSED: 3}

# Take the handle of a fat binary first.
HANDLES = {"__cudaInitModule", "__cudaRegisterFatBinaryEnd", "__cudaRegisterFunction",
           "__cudaRegisterHostVar", "__cudaRegisterManagedVar", "__cudaRegisterSurface",
           "__cudaRegisterTexture", "__cudaRegisterVar", "__cudaUnregisterFatBinary"}
# Their interface differs between 11.7 and 11.8, so what a caller means is not
# known; on 12 and 13 the stub has to assume what is harmless to both.
OF_11 = ("cudaStreamGetAttribute", "cudaStreamSetAttribute", "cudaGraphKernelNodeGetAttribute",
         "cudaGraphKernelNodeSetAttribute", "cudaCreateTextureObject",
         "cudaGetTextureObjectTextureDesc")
# A caller of 11.8 on 11.7: 11.7 writes and reads 72 bytes where that caller has
# 68, as it does without lazycuda.
WRITES_MORE = {("cudaGetTextureObjectTextureDesc", (11, 7))}
READS_MORE = {("cudaCreateTextureObject", (11, 7))}
# What an adaptor may ask besides.
QUERIES = {"cudaDeviceGetAttribute", "cudaPeekAtLastError", "cudaGetLastError"}

# CUDA 11 has no handles of kernels: the host function is its own.
KERNELS = {"__cudaGetKernel": None, "__cudaLaunchKernel": "cudaLaunchKernel",
           "__cudaLaunchKernel_ptsz": "cudaLaunchKernel_ptsz"}

# cudaMemoryAdvise
IGNORE_LOCATION = (1, 2, 4)

# Declared nowhere; their arguments, counted in the libraries, never changed.
MEASURED = {"__cudaRegisterHostVar", "__cudaRegisterUnifiedTable"}


def base(function):
    return function.family.removesuffix("_ptsz")


def suffixed(name, function):
    return name + "_ptsz" * function.name.endswith("_ptsz")


# --- which function is to be reached ---

@dataclass(frozen=True)
class Verdict:
    kind: str               # direct, renamed, adapted, refused, absent
    targets: tuple = ()     # names, the first of which is what to expect
    done: bool = False      # with several functions, or with the driver's: done_with.py


def preference(function):
    """The family's own name first, then the newest suffix."""
    return (function.name != function.family, [-int(n) for n in re.findall(r"\d+", function.name)])


def verdict(name, major, version):
    caller = functions(newest(major))[name]
    there = functions(version)
    wanted = listed().meaning(caller, newest(major))
    same_name = there.get(name)
    if same_name and version[0] == major:
        return Verdict("direct", (name,))
    if same_name and name in MEASURED:
        return Verdict("renamed", (name,))
    unclear = major == 11 and version[0] != 11 and name.removesuffix("_ptsz") in OF_11
    if not unclear:
        if same_name and listed().meaning(same_name, version) == wanted:
            return Verdict("direct", (name,))
        family = [f for f in there.values() if f.family == caller.family and f.name != name
                  and listed().meaning(f, version) == wanted]
        if base(caller) == "cudaGraphInstantiate" and major > version[0] == 11:
            family = [there["cudaGraphInstantiateWithFlags"]]
        if family:
            return Verdict("renamed", (min(family, key=preference).name,))
    if done_with.serves(caller, major, version):
        return Verdict("adapted", done=True)
    targets = conversions(caller, there, version)
    if version[0] == 11 and name in KERNELS:
        launch = KERNELS[name]
        return Verdict("renamed", (launch,)) if launch else Verdict("adapted")
    if targets:
        return Verdict("adapted", targets)
    return Verdict("refused" if same_name else "absent")


def conversions(caller, there, version):
    """Names of functions that an adaptor can lead to."""
    if not names_of(caller):
        return ()
    if base(caller) == "cudaGraphInstantiate":
        return ("cudaGraphInstantiateWithParams",)
    family = [f for f in there.values() if f.family == caller.family and names_of(f)]
    if base(caller) == "cudaGetDriverEntryPoint":
        # ByVersion names the caller's version, which is safer.
        by_version = suffixed("cudaGetDriverEntryPointByVersion", caller)
        if by_version in there:
            return (by_version,)
    # The one that can say the most.
    return tuple(f.name for f in sorted(family, key=lambda f: (
        len(f.parameters), sum(layouts.size(t, version) for _, t in parameters(f))))[-1:])


# --- what a caller gives ---

@dataclass(frozen=True)
class Case:
    label: str
    given: dict = field(default_factory=dict)   # {meaning: value}
    arms: int = 0           # which of CALLER_ARMS
    nulls: bool = False     # all pointers are NULL
    status: int = 0
    end: bool = False       # memory ends with each argument
    refused: bool = False   # by the adaptor
    other: bool = False     # the runtime writes RUNTIME_SAYS_ELSE
    returns: int = None     # if not status
    answers: dict = field(default_factory=dict)  # {meaning: number}, instead of the usual
    driver: int = 13050     # the version of the fake driver
    after: int = 0          # calls of the runtime that do not fail


@dataclass
class Argument:
    direction: str
    type: str
    meaning: str
    word: str               # for the plan
    bytes: bytes = b""      # by value, or pointed to
    pointer: int = None     # None: not one
    elements: tuple = ()    # of an array: bytes, or {field: bytes}
    version: tuple = None


def arguments(caller, version, case):
    made = []
    meanings = names_of(caller) or {}
    for i, (direction, kind) in enumerate(parameters(caller)):
        made.append(argument(caller, version, case, i, direction, kind, meanings.get(i)))
    return made


def plain(caller, case, i, kind, meaning, element=0):
    """A value that is no struct."""
    given = case.given.get(meaning, CALLER_GIVES.get(
        (base(caller), meaning), CALLER_GIVES.get(meaning)))
    size = layouts.SIZES[kind]
    if isinstance(given, int):
        return number(given, size)
    return layouts.value("caller", f"{caller.name} {i} {element}", size)


def argument(caller, version, case, i, direction, kind, meaning):
    made = Argument(direction, kind, meaning, "v", version=version)
    given = case.given.get(meaning, ())
    if not direction:
        if i == 0 and caller.name in HANDLES:
            made.word = "h"
            made.bytes = runtime_returns(functions(version)["__cudaRegisterFatBinary"], version)
        elif is_struct(kind):
            fixed = given or ({"type": 1, "id": 3} if meaning == "location" else {})
            made.bytes, values = layouts.filled("caller", kind, version, (), fixed)
            made.elements = (values,)
        elif kind == "ptr":
            made.bytes = number(given if isinstance(given, int) else
                                OPAQUE + 0x1000 * (i + 1), 8)
        else:
            made.bytes = plain(caller, case, i, kind, meaning)
        return made
    if case.nulls or given is None:
        made.bytes, made.pointer = bytes(8), 0
        return made
    count = 1
    if direction == "in":
        counted = COUNTED.get((base(caller), meaning))
        if counted:
            count = case.given.get(counted, CALLER_GIVES.get((base(caller), counted),
                                                             CALLER_GIVES[counted]))
    elif direction == "buf":
        count = ROOM.get(meaning, 1)
    if isinstance(given, bytes):
        made.bytes, made.elements = given, (given,)
    elif (direction, kind) == ("in", "i8"):
        made.bytes = CALLER_GIVES.get(meaning) or f"{caller.name} {i}\0".encode()
    elif direction in ("in", "inout"):
        elements = []
        for element in range(count):
            if is_struct(kind):
                choices = CALLER_ARMS.get(kind, [((), {})])
                wanted, fixed = choices[case.arms % len(choices)]
                image, values = layouts.filled("caller", kind, version, wanted,
                                               {**fixed, **(given or {})}, element)
                elements.append(values)
            else:
                image = plain(caller, case, i, kind, meaning, element)
                elements.append(image)
            made.bytes += image
        made.elements = tuple(elements)
    elif direction == "out" and (base(caller), meaning) in CALLER_GIVES:
        made.bytes = plain(caller, case, i, kind, meaning)
    else:
        made.bytes = bytes([layouts.GUARD]) * (layouts.size(kind, version) * count)
    at = BUFFERS + i * BUFFER_SIZE
    made.pointer = at + (BUFFER_END - len(made.bytes) if case.end else 4096)
    made.word = "b"
    return made


def plan(name, case, given):
    """The lines of the caller's plan."""
    lines = [f"call {name} {case.status} {case.other:d} {'end' if case.end else 'guard'} "
             f"{case.driver} {case.after}"]
    for a in given:
        lines.append("h" if a.word == "h" else f"{a.word} {a.bytes.hex()}")
    return "\n".join([*lines, "go\n"])


# --- cases ---

PLAIN_CASES = [Case("main"), Case("at the end of memory", end=True),
               Case("fails", status=FAILED), Case("NULL", nulls=True)]


def cases(caller, version, said, target_version):
    """What each pair is tried with."""
    if said.done:
        usual = done_with.given(caller)
        return [replace(case, given={**usual, **case.given}) for case in (
            *PLAIN_CASES, *[Case(**words) for words in
                            done_with.cases(caller, version, target_version)])]
    if said.kind != "adapted" or not said.targets:
        return PLAIN_CASES
    target = functions(target_version)[said.targets[0]]
    mine, theirs = names_of(caller), names_of(target)
    given = {}
    types = {mine[i]: p for i, p in enumerate(parameters(caller))}
    target_types = {theirs[i]: p for i, p in enumerate(parameters(target))}
    lost = set(mine.values()) - set(theirs.values())
    found = []
    if "edges" in lost and types["edges"][0] == "in":
        given["edges"] = None
        found += [Case("zero edges", {"edges": bytes(16)}),
                  Case("an edge's type", {"edges": bytes(10) + b"\1" + bytes(5)}, refused=True),
                  Case("an edge's port", {"edges": b"\1" + bytes(15)}, refused=True)]
    if "edges" in lost and types["edges"][0] == "buf":
        found.append(Case("no edges", {"edges": None}))
    if base(caller) == "cudaStreamGetCaptureInfo":
        found.append(Case("only the status", {name: None for name in mine.values()
                                              if name not in ("stream", "status")}))
    if base(caller) == "cudaMemPrefetchAsync" and "flags" in lost:
        given["flags"] = 0
        found.append(Case("flags", {"flags": 1}, refused=True))
    for name in {"mode", "context"} & lost:     # what 0 stands for is what was before
        given[name] = 0
        found.append(Case(name, {name: 1}, refused=True))
    if "advice" in mine.values() and "location" in lost:
        # Read-mostly, set and unset, and no preferred location: wherever it is.
        found += [Case(f"advice {advice} ignores location {n}",
                       {"advice": advice, "location": {"type": n, "id": 0}})
                  for advice in IGNORE_LOCATION for n in (0, 2, 3, 4)]
        found += [Case(f"advice {advice} at no location",
                       {"advice": advice, "location": {"type": 0, "id": 0}}, refused=True)
                  for advice in (3, 5, 6)]
    if "location" in lost:
        found += [Case("host", {"location": {"type": 2, "id": 0}}),
                  Case("device 0", {"location": {"type": 1, "id": 0}}),
                  *[Case(f"location {n}", {"location": {"type": n, "id": 0}}, refused=True)
                    for n in (3, 4)]]
    if "device" in lost:
        found += [Case("host", {"device": -1}), Case("device 0", {"device": 0})]
    if "instantiation" in theirs.values():
        found.append(Case("no log", {"log": None, "logSize": 0}))
    if "found" in theirs.values() and "found" not in mine.values():
        # CUDA 11 says that there is no such function by cudaErrorSymbolNotFound.
        found.append(Case("no such function", other=True, returns=500))
    if "info" in theirs.values():
        # CUDA 11 has no cudaGraphExecUpdateErrorAttributesChanged.
        found.append(Case("a newer result", other=True, answers={"result": 1}))
    if "failIdx" in lost:
        found.append(Case("no failIdx", {"failIdx": None}))
    arms = 1
    for meaning, (direction, kind) in types.items():
        if direction != "in" or not is_struct(kind):
            continue
        arms = max(arms, len(CALLER_ARMS.get(kind, ())))
        if meaning in target_types and base(caller) != "cudaChooseDevice":
            lacking = beyond(kind, version, target_types[meaning][1], target_version)
            given[meaning] = {f.name: 0 for f in lacking}
            found += [Case(f"{f.name} at its {where}",
                           {meaning: {**given[meaning], f.name: 1 << bit}}, refused=True)
                      for f in lacking
                      for where, bit in (("beginning", 0), ("end", 8 * (f.size - 1)))]
    found += [Case(f"arm {n}", arms=n) for n in range(1, arms)]
    found += [Case(f"arm {n} at the end of memory", arms=n, end=True) for n in range(1, arms)]
    if "semaphores" in mine.values():
        found += [Case("70 of them", {"n": 70}), Case("none", {"n": 0})]
    if "attribute" in mine.values():
        found += attribute_cases(caller, version, target_version)
    if "view" in mine.values() and types["view"][0] == "in":
        found.append(Case("no view", {"view": None}))
    return [replace(case, given={**given, **case.given}) for case in (*PLAIN_CASES, *found)]


def beyond(kind, version, target_kind, target_version):
    """Fields that the older runtime's struct has not: a caller that sets one is
    refused."""
    if layout(kind, version) == layout(target_kind, target_version):
        return []
    known = {f.name for f in layouts.fields(target_kind, target_version)}
    return [f for f in layouts.fields(kind, version)
            if f.name not in known and not layouts.in_union(f, kind, version)]


def layout(kind, version):
    return kind, listed().layout(kind, version)


def attribute_cases(caller, version, target_version):
    """Attribute values: 32 bytes in 11.7, 64 from 11.8 on."""
    own = {"cudaStream": 3}.get(base(caller)[:10], 2)
    field_of = {3: "syncPolicy", 2: "cooperative"}[own]
    setter = "Set" in caller.name
    if version[0] == 11:
        # These two values are all of the 32 bytes that 11.7's callers have.
        small = {n: layouts.value("caller", f"attribute {n}", 32) if setter else
                 bytes([layouts.GUARD]) * 32 for n in (1, own)}
        return [Case(f"attribute {n} of 11.7", {"attribute": n, "value": image}, end=end)
                for n, image in small.items() for end in (False, True)]
    assert target_version == (11, 7), target_version
    return [Case(field_of, {"attribute": own}),
            Case("an attribute of 11.8", {"attribute": 4}, refused=True),
            Case("an attribute of 12", {"attribute": 10}, refused=True)]


# --- what was reached ---

@dataclass
class Reached:
    name: str
    arguments: list = field(default_factory=list)   # bytes, or (address, bytes or None)


@dataclass
class Outcome:
    """What the caller printed of one call."""
    name: str
    reached: list = field(default_factory=list)
    returned: bytes = b""
    buffers: list = field(default_factory=list)
    error: tuple = None
    last: int = None
    crash: str = None


def outcomes(text):
    lines = iter(text.splitlines())
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "call":
            made = Outcome(rest)
        elif word == "at":
            made.reached.append(Reached(rest))
        elif word == "v":
            made.reached[-1].arguments.append(bytes.fromhex(rest))
        elif word == "a":
            address, _, image = rest.partition(" ")
            made.reached[-1].arguments.append(
                (int(address, 16), None if image == "-" else bytes.fromhex(image)))
        elif word == "returned":
            made.returned = bytes.fromhex(rest)
        elif word == "b":
            made.buffers.append(bytes.fromhex(rest))
        elif word == "last":
            made.last = int(rest)
        elif word == "crash":
            made.crash = rest
        elif word == "error":
            cause, status, last, function, message = rest.split(" ", 4)
            made.error = int(cause), int(status), int(last), function, message
        elif word == "end":
            yield made
        elif word == "done":
            return
    raise AssertionError("the caller did not come to its end: " + text[-500:])


def observed(name, outcome, said):
    """The kind of what happened, or "wrong"."""
    names = [r.name for r in outcome.reached if r.name == name or r.name not in QUERIES]
    status = int.from_bytes(outcome.returned, "little")
    if outcome.crash:
        return "wrong"
    if said.done:
        return {REFUSED: "refused", ABSENT: "absent"}.get(status, said.kind)
    if names:
        return said.kind if names[-1] in said.targets else "wrong"
    if not outcome.error:
        # Answered by the adaptor itself; or refused, and has no status to say so.
        return said.kind if not said.targets else "wrong"
    return {REFUSED: "refused", ABSENT: "absent"}.get(status, "wrong")


# --- checks; each yields what is wrong ---

def check(name, major, version, case, said, outcome):
    caller = functions(newest(major))[name]
    given = arguments(caller, newest(major), case)
    if outcome.crash:
        if not (case.end and major == 11 and (name, version) in WRITES_MORE | READS_MORE):
            yield f"crashed with signal {outcome.crash}"
        return
    buffers = iter(outcome.buffers)
    after = [next(buffers) if a.word == "b" else None for a in given]
    yield from untouched(given, after, case, name, version)
    if said.done:
        if not case.nulls:
            yield from done_with.check(caller, newest(major), case, given, after, outcome, version)
        return
    if said.kind in ("refused", "absent") or case.refused:
        yield from not_forwarded(caller, given, after, case, said, outcome, newest(major))
        return
    main = [r for r in outcome.reached if r.name in said.targets]
    others = [r for r in outcome.reached if r.name not in said.targets]
    if case.nulls and said.kind == "adapted":
        return      # it may refuse or go on, and has not crashed
    if name == "__cudaGetKernel" and said.kind == "adapted":
        if outcome.reached or any(outcome.returned) or after[0][:8] != given[1].bytes:
            yield f"returned {outcome.returned.hex()} and the kernel {after[0][:8].hex()}"
        return
    if len(main) != 1:
        returned = int.from_bytes(outcome.returned[:4], "little")
        yield (f"reached {[r.name for r in outcome.reached]} and returned {returned}, "
               f"not {said.targets}: {outcome.error and outcome.error[4]}")
        return
    yield from attribute_queries(others, given, said, version)
    target = functions(version)[main[0].name]
    yield from results(caller, case, outcome, target, version)
    if said.kind == "adapted":
        yield from adapted(caller, given, after, case, main[0], target, version)
    else:
        yield from passed(caller, given, after, case, main[0], target, version)


def attribute_queries(others, given, said, version):
    """What an adaptor asks besides: attributes of the caller's device that stand
    for fields which the runtime's struct has not."""
    unknown = False
    for reached in others:
        if said.kind != "adapted" or reached.name not in QUERIES:
            yield f"reached {reached.name} as well"
        elif reached.name == "cudaDeviceGetAttribute":
            _, attribute, device = reached.arguments
            attribute = int.from_bytes(attribute, "little")
            unknown |= not has_attribute(attribute, version)
            if device != next(a.bytes for a in given if a.meaning == "device"):
                yield f"asked for an attribute of device {device.hex()}"
            if attribute not in PROPERTY_ATTRIBUTES.values():
                yield f"asked for attribute {attribute}, which is none of a property"
        elif reached.name == "cudaGetLastError" and not unknown:
            yield "took the caller's last error away"


def has_attribute(attribute, version):
    return attribute <= 111 or version >= ATTRIBUTES.get(attribute, (99, 0))


def untouched(given, after, case, name, version):
    """What lies behind the caller's memory, and what is not to be written."""
    for a, image in zip(given, after):
        if image is None:
            continue
        size = len(a.bytes)
        if not case.end and image[size:] != GUARD and (name, version) not in WRITES_MORE:
            yield f"wrote behind the caller's {a.type} {a.meaning or ''}: {image[size:].hex()}"
        if a.direction == "in" and image[:size] != a.bytes:
            yield f"changed the caller's {a.type} {a.meaning or ''}"


def not_forwarded(caller, given, after, case, said, outcome, version):
    if outcome.reached:
        yield f"reached {[r.name for r in outcome.reached]} where it is refused"
        return
    for a, image in zip(given, after):
        size = len(a.bytes)
        zeroed = a.direction == "out" and not caller.undeclared
        if image is not None and image[:size] != (bytes(size) if zeroed else a.bytes):
            yield f"refused, and left {a.type} {a.meaning or ''} as {image[:size].hex()}"
    if caller.result != "i32":
        if any(outcome.returned):
            yield f"refused, and returned {outcome.returned.hex()}"
        return
    status = int.from_bytes(outcome.returned, "little")
    wanted = ABSENT if said.kind == "absent" else REFUSED
    if status != wanted:
        yield f"refused with {status}, not {wanted}"
    elif outcome.error is None:
        yield "refused without an error"
    else:
        cause, told, last, function, message = outcome.error
        if (cause, told, last) != (CAUSES[status], status, status):
            yield f"refused, and the error is {outcome.error}"
        # Names of one interface share a slot, which has the family's name.
        if function not in (caller.name, caller.family) or function not in message:
            yield f"the message does not name the function: {message}"


def results(caller, case, outcome, target, version):
    if caller.name == "__cudaRegisterFatBinary":
        if not any(outcome.returned):
            yield "returned no handle"
    elif caller.name == "cudaDeviceGetAttribute":
        return      # the fake knows its attributes
    elif caller.result == "i32":
        status = int.from_bytes(outcome.returned, "little")
        if status != (case.status if case.returns is None else case.returns):
            yield f"returned {status}"
    elif caller.result != "void" and outcome.returned != runtime_returns(target, version):
        yield f"returned {outcome.returned.hex()}"


def passed(caller, given, after, case, reached, target, version):
    """The call as it was: the same values, the same addresses, and the same bytes
    in the runtime's layout."""
    taken = parameters(target)
    assert len(given) == len(reached.arguments) == len(taken)
    for i, (a, got, (direction, kind)) in enumerate(zip(given, reached.arguments, taken)):
        if not a.direction:
            if got != a.bytes:
                yield f"argument {i} is {got.hex()}, not {a.bytes.hex()}"
            continue
        address, image = got
        if address != a.pointer:
            yield f"argument {i} points to {address:x}, not {a.pointer:x}"
        elif address and a.direction in ("in", "inout"):
            yield from content(a, image, kind, version, f"argument {i}", False)
        written = runtime_writes(target, i, version)
        if address and written and case.status == 0 and caller.name != "cudaDeviceGetAttribute":
            size = min(len(a.bytes), len(written[0]) * written[2])
            if after[i][:size] != (written[0] * written[2])[:size]:
                yield f"argument {i} does not hold what was written"


def content(a, image, kind, version, what, converted=True):
    """What the runtime reads is what the caller put there."""
    if (a.direction, a.type) == ("in", "i8"):
        if image != a.bytes.rstrip(b"\0"):
            yield f"{what} is {image}"
        return
    size = layouts.size(kind, version)
    for element, values in enumerate(a.elements):
        part = image[element * size:(element + 1) * size]
        if isinstance(values, dict):
            yield from same_fields(values, a.type, a.version, part, kind, version,
                                   f"{what}[{element}]", converted)
        elif part != values[:size]:
            yield f"{what}[{element}] is {part.hex()}, not {values.hex()}"


def same_fields(values, kind, version, image, target_kind, target_version, what, converted=True):
    """Field by field: those that both have carry over; others are zero, if the
    struct was converted."""
    seen = layouts.read(target_kind, target_version, image)
    for name, bits in values.items():
        if name in seen and len(seen[name]) == len(bits) and seen[name] != bits:
            yield f"{what}.{name} is {seen[name].hex()}, not {bits.hex()}"
    if not converted or layout(kind, version) == layout(target_kind, target_version):
        return
    yield from zero_elsewhere(image, target_kind, target_version,
                              {f.name for f in layouts.fields(kind, version)}, what)


def zero_elsewhere(image, kind, version, known, what, told=()):
    """Bytes of fields that the other side has not."""
    covered = bytearray(len(image))
    for f in layouts.fields(kind, version):
        if f.name in known:
            covered[f.offset:f.end] = b"\1" * f.size
    for f in layouts.fields(kind, version):
        bits = bytes(b for b, c in zip(image[f.offset:f.end], covered[f.offset:f.end]) if not c)
        if f.name not in known and f.name not in told and any(bits):
            yield f"{what}.{f.name} is {bits.hex()}, not 0"


# --- adapted calls ---

def adapted(caller, given, after, case, reached, target, version):
    mine = {a.meaning: (a, image) for a, image in zip(given, after)}
    theirs = names_of(target)
    got = {theirs[i]: (value, *parameters(target)[i]) for i, value in enumerate(reached.arguments)}
    written = {theirs[i]: runtime_writes(target, i, version) for i in theirs}
    for meaning, (value, direction, kind) in got.items():
        if meaning in mine:
            yield from carried(mine[meaning][0], value, direction, kind, version, meaning, case)
        else:
            yield from supplied(meaning, value, mine, direction, kind, target, version, case)
    for meaning, answer in case.answers.items():
        a, image = mine[meaning]
        if image[:len(a.bytes)] != number(answer, len(a.bytes)):
            yield f"{meaning} is {image[:len(a.bytes)].hex()}, not {answer}"
    if case.status or case.other:
        # No copy is to blame.
        if "failIdx" in mine and "failIdx" not in got and mine["failIdx"][1][:8] != b"\xff" * 8:
            yield f"failIdx is {mine['failIdx'][1].hex()}, not SIZE_MAX"
        return
    for meaning, (a, image) in mine.items():
        if image is None or a.direction not in ("out", "inout", "buf"):
            continue
        if meaning in written:
            yield from arrived(a, image, written[meaning], dict(
                zip(theirs.values(), parameters(target)))[meaning][1], version, case)
        else:
            yield from answered(meaning, a, image, written, got)


def carried(a, value, direction, kind, version, meaning, case):
    """An argument that both have."""
    if not direction:
        bits = value[:len(a.bytes)]
        if is_struct(kind):
            yield from same_fields(a.elements[0], a.type, a.version, value, kind, version, meaning)
        elif bits != a.bytes:
            yield f"{meaning} is {bits.hex()}, not {a.bytes.hex()}"
        return
    address, image = value
    if not a.pointer:
        if address and meaning not in ("errorNode", "result"):
            yield f"{meaning} was NULL and is not"
    elif not address:
        yield f"{meaning} is NULL"
    elif direction in ("in", "inout"):
        if meaning == "value" and a.elements and isinstance(a.elements[0], bytes):
            # 32 bytes of 11.7: neither more nor less.
            if image[:28] != a.bytes[:28] or any(image[32:]):
                yield f"value is {image.hex()}, not {a.bytes.hex()}"
        else:
            yield from content(a, image, kind, version, meaning)


def location_of(device):
    return (2, None) if device == -1 else (1, device)


def supplied(meaning, value, mine, direction, kind, target, version, case):
    """An argument that only the runtime has."""
    if meaning == "location":
        device = int.from_bytes(mine["device"][0].bytes, "little", signed=True)
        wanted, identity = location_of(device)
        seen = {name: int.from_bytes(bits, "little")
                for name, bits in layouts.read(kind, version, value).items()}
        if seen["type"] != wanted or seen["id"] != (identity or 0):
            yield f"device {device} is location {seen}"
    elif meaning == "device":
        if "advice" in mine and mine["advice"][0].bytes[0] in IGNORE_LOCATION:
            return
        values = {name: int.from_bytes(bits, "little")
                  for name, bits in mine["location"][0].elements[0].items()}
        wanted = {1: values["id"], 2: -1}[values["type"]]
        if int.from_bytes(value, "little", signed=True) != wanted:
            yield f"location {values} is device {value.hex()}"
    elif meaning == "flags":
        if any(value):
            yield f"flags are {value.hex()}"
    elif meaning == "version":
        major = next(iter(mine.values()))[0].version[0]
        if int.from_bytes(value, "little") // 1000 != major:
            yield f"version is {int.from_bytes(value, 'little')}"
    elif meaning in ("edges", "graph", "deps", "n"):
        if value[0]:
            yield f"{meaning} is not NULL"
    elif meaning == "instantiation":
        if not value[0]:
            yield "no parameters"
            return
        seen = layouts.read(kind, version, value[1])
        if any(seen["flags"]) or any(seen["uploadStream"]):
            yield f"flags {seen['flags'].hex()}, uploadStream {seen['uploadStream'].hex()}"
    elif meaning == "found":
        pass    # NULL, or a place of the adaptor's own
    elif meaning in ("info", "failIdx", "errorNode", "result"):
        if not value[0]:
            yield f"{meaning} is NULL"
    else:
        yield f"nothing says what {meaning} is to be"


def arrived(a, image, written, kind, version, case):
    """An output that both have."""
    bits, values, count = written
    size = layouts.size(a.type, a.version)
    if a.elements and isinstance(a.elements[0], bytes) or a.meaning == "value":
        # An attribute's value: what 11.7 has room for.
        if image[:28] != bits[:28]:
            yield f"value is {image.hex()}, not {bits.hex()}"
        return
    if values is None:
        if image[:size * count] != bits * count:
            yield f"{a.meaning} is {image[:size * count].hex()}, not {(bits * count).hex()}"
        return
    seen = layouts.read(a.type, a.version, image[:size])
    for name, wanted in values.items():
        if name in seen and len(seen[name]) == len(wanted) and seen[name] != wanted:
            yield f"{a.meaning}.{name} is {seen[name].hex()}, not {wanted.hex()}"
    if layout(kind, version) == layout(a.type, a.version):
        return
    queried = PROPERTY_ATTRIBUTES if a.type.startswith("cudaDeviceProp") else {}
    theirs = {f.name for f in layouts.fields(kind, version)}
    yield from zero_elsewhere(image[:size], a.type, a.version, theirs, a.meaning, queried)
    for name, attribute in queried.items():
        if name in theirs or name not in seen:
            continue
        known = attribute is not None and has_attribute(attribute, version)
        wanted = number(100000 + attribute if known else 0, len(seen[name]))
        if seen[name] != wanted:
            yield f"{a.meaning}.{name} is {seen[name].hex()}, not {wanted.hex()}"


def answered(meaning, a, image, written, got):
    """An output that only the caller has."""
    size = len(a.bytes)
    image = image[:size]
    if meaning == "failIdx":
        return      # nothing has failed
    if meaning == "edges":
        # Zero as far as there are edges.
        wanted = bytes(8 * RUNTIME_GIVES.get(("cudaGraphGetEdges", "n"), 0)
                       if a.direction == "buf" else 8)
        image = image[:len(wanted)]
    elif meaning == "log":
        wanted, image = b"\0", image[:1]
    elif meaning == "errorNode":
        source, member = ("instantiation", "errNode_out") if "instantiation" in written else (
            "info", "errorNode")
        wanted = written[source][1][member]
    elif meaning == "result":
        wanted = written["info"][1]["result"]
    elif meaning == "info":
        values = layouts.read(a.type, a.version, image)
        for name, source in (("errorNode", "errorNode"), ("result", "result")):
            if values[name] != written[source][0]:
                yield f"info.{name} is {values[name].hex()}"
        if any(values["errorFromNode"]):
            yield f"info.errorFromNode is {values['errorFromNode'].hex()}"
        return
    else:
        yield f"nothing says what {meaning} is to be"
        return
    if image != wanted:
        yield f"{meaning} is {image.hex()}, not {wanted.hex()}"
