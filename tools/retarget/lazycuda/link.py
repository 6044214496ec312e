# SPDX-License-Identifier: MIT
"""Links device code: sees what the bytes are, decides which linker takes them, links.

    from lazycuda.link import Linker, PTXSource, Cubin

    linker = Linker("sm_90").add(PTXSource(ptx), Cubin.from_path("helper.cubin"))
    image = linker.link()                   # bytes, for cuModuleLoadData

    inspect(path).entries                   # what device code a file holds
    linker.plan().message                   # what link() would do, and why

A binding of liblazycuda_link with ctypes; docs/reference/linking.md says how it decides, and
docs/reference/python-link.md what other packages call the same.  It needs no compiler and no other
package, and is imported and used without CUDA: what is missing is an error then.

Versions are strings, "12.9"; None is "not installed" or "not known", as each says.
Sizes and lengths are bytes, limits of time seconds.

Data given as bytes is not copied, and is kept until the call that reads it is over;
str and other buffers are copied.  Results are objects of Python, and own what they show.

Every function may be called from any thread, and lets other threads run meanwhile.  A
Linker may be used from several threads: each link() takes the inputs that are there when
it begins.

What is refused raises LinkError, or one of the classes made from it.
"""
from __future__ import annotations

import _thread
import collections.abc
import contextlib
import ctypes
import errno
import operator
import os
import pathlib
import queue
import threading
import weakref
from dataclasses import dataclass, field
from typing import (IO, TYPE_CHECKING, Any, Callable, Collection, Dict, Iterable, Iterator, List, Mapping,
                    Optional, Sequence, Set, Tuple, Type, TypeVar, Union)

from . import link_abi as abi
from . import link_library as c
from .link_abi import Backend, Code, Form, Kind, Log, Output, Policy
from .link_library import LibraryNotFound
from .link_types import Number

__all__ = [
    "Archive", "Backend", "BadInput", "BadRequest", "Bitcode", "CUSource", "Code", "Component", "Cubin",
    "Entry", "Environment", "Fatbin", "Form", "Input", "Inspection", "IsolationError", "Kind", "LLVMIR",
    "LTOIR", "LibraryNotFound", "LinkError", "LinkFailed", "Linker", "Log", "NotInstalled", "Object",
    "Output", "PTXSource", "Plan", "Policy", "Result", "Step", "SupportModule", "Symbol",
    "SymbolError", "VersionRefused", "environment", "find_binary", "find_bitcode", "find_components", "find_header",
    "find_static_library", "inspect", "plan",
]

if TYPE_CHECKING:       # of Python 3.8 typing lacks them
    from typing_extensions import Concatenate, ParamSpec, TypedDict, Unpack
    _P = ParamSpec("_P")

    class _Of(TypedDict, total=False):
        setup_callback: Optional[Hook]
        teardown_callback: Optional[Hook]
        main: bool
        library: bool
        needs: Iterable[str]
        name_expressions: Iterable[str]
        headers: Optional[Mapping[str, Data]]

Data = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", IO[bytes], IO[str]]
Path = Union[str, "os.PathLike[str]"]
Hook = Callable[[Any], object]
LogHook = Callable[["Log", str, Optional["Input"]], object]
Arch = Union[str, Tuple[int, int], Tuple[int, int, str]]
_T = TypeVar("_T", bound="Input")
_N = TypeVar("_N", bound=Number)

_EFFORTS = ("0", "min", "mid", "max")


# ---- text and versions ----

def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "replace")


def _maybe(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else _text(value)


def _bytes(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else os.fsencode(value)


def _version(number: int) -> Optional[str]:
    """12090 is "12.9"."""
    return f"{number // 1000}.{number % 1000 // 10}" if number > 0 else None


def _number(version: Optional[str]) -> int:
    if version is None:
        return abi.VERSION_NONE
    if version == "unknown":
        return abi.VERSION_UNKNOWN
    major, dot, minor = _check("a version", version, str).partition(".")
    if not major.isdigit() or (dot and not (minor.isdigit() and len(minor) < 3)):
        raise ValueError(f"{version!r} is not a version: use one such as \"12.9\", or None, or \"unknown\"")
    return 1000 * int(major) + 10 * int(minor or 0)


def _milliseconds(seconds: Optional[float]) -> int:
    """As the request has it: 0 is the default."""
    if seconds is None:
        return 0
    if not _check("time_limit", seconds, int, float) > 0:
        raise ValueError(f"time_limit is a number of seconds above 0, not {seconds!r}")
    return abi.NO_LIMIT if seconds > 1e12 else max(1, round(seconds * 1000))


def _several(what: str, texts: Iterable[str]) -> Tuple[str, ...]:
    """The texts as a tuple; one string is refused, since its letters are hardly meant."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{what}: {texts!r} is one string where several are taken")
    several = tuple(_check(what, texts, collections.abc.Iterable))
    for text in several:
        _check(f"one of the {what}", text, str, bytes)
    return several


def _check(what: str, given: object, *kinds: Type[Any]) -> Any:
    """What is given, if it is of one of these types; else raises TypeError."""
    if not isinstance(given, kinds):
        raise TypeError(f"{what} is {' or '.join(one.__name__ for one in kinds)}, not {given!r}")
    return given


def _callable(what: str, given: object) -> None:
    if given is not None and not callable(given):
        raise TypeError(f"{what}, {given!r}, cannot be called")


def _one_of(what: str, given: object, numbers: Type[_N]) -> _N:
    """A member of an enumeration, given itself, by its name in either case, or as its number."""
    try:
        return numbers[given.upper()] if isinstance(given, str) else numbers(operator.index(given))  # type: ignore
    except (KeyError, TypeError):
        raise (ValueError if isinstance(given, str) else TypeError)(
            f"{what} is one of {', '.join(one.name.lower() for one in numbers)}, not {given!r};"
            f" the default is {numbers(0).name.lower()}") from None


def _whole(what: str, given: Any) -> int:
    """A whole number, or True or False."""
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{what} is a number, or True or False, not {given!r}") from None


def _flags(of: str, **wanted: int) -> int:
    """Those of abi.Flag that are wanted, by their names after LINK_ or the like."""
    return sum(getattr(abi.Flag, of + name.upper()) for name, flag in wanted.items() if _whole(name, flag))


def _settings(**wanted: Optional[int]) -> List[Any]:
    return [abi.Setting(kind=abi.SettingKind[name.upper()], value=_whole(name, value))
            for name, value in wanted.items() if value is not None]


def _data(given: Any, what: str = "data") -> bytes:
    """The bytes of bytes, text, a buffer, or what can be read."""
    if hasattr(given, "read"):
        given = given.read()
    if isinstance(given, str):
        return given.encode()
    if isinstance(given, bytes):
        return given
    try:
        return memoryview(given).tobytes()
    except TypeError:
        raise TypeError(f"{what} is bytes, text, a path or an open file, not {given!r}") from None


def _arch(given: Arch) -> str:
    """As the request has it; (9, 0) is "sm_90", as a driver says it, and (9, 0, "a") is "sm_90a"."""
    if isinstance(given, str):
        return given
    try:
        major, minor, *more = given
        suffix: str = _check("suffix", *(more or ("",)), str)
        major, minor = operator.index(major), operator.index(minor)
    except (TypeError, ValueError):
        raise TypeError(f"arch is such as \"sm_90a\", (9, 0) or (9, 0, \"a\"), not {given!r}") from None
    if not (0 < major and 0 <= minor < 10 and suffix in ("", "a", "f")):
        raise ValueError(f"{given!r} is no compute capability: (9, 0) is one, and (9, 0, \"a\")")
    return f"sm_{major}{minor}{suffix}"


# ---- what is put in ----

# What follows that word in the name of an input without one, where it is not the kind.
_UNNAMED = {Kind.UNKNOWN: "", Kind.SOURCE: "-cu", Kind.LLVMIR: "-llvm-ir"}


class Input:
    """Something to link, of a kind that the content tells: a class for each kind that can
    be declared is below, and what turns out to be another is refused (KIND_MISMATCH).

    data: bytes, or text, if that names no file; or a path, as from_path() takes it; or an open
    file or its like, which is read now.  A buffer that is not bytes is copied, now.
    name: for messages and logs.
    setup_callback, teardown_callback: called with the module by Result.setup() and
    teardown(), if this was linked.
    main: it is the program itself: what it declares as external decides on support
    modules.
    library: of LLVM IR, that other LLVM IR calls it: libnvvm takes of it what is needed.
    needs: names of support modules that it needs in any case.
    name_expressions: of source, C++ expressions for what it is to define, "&scale<float>":
    that is instantiated, and Result.lowered_names has its name in the code.
    headers: of source, the text of each header that it may include without a file for it,
    by the name in the #include.
    """
    kind = Kind.UNKNOWN

    def __init__(self, data: Data, name: Optional[str] = None,
                 setup_callback: Optional[Hook] = None, teardown_callback: Optional[Hook] = None,
                 *, main: bool = False, library: bool = False, needs: Iterable[str] = (),
                 name_expressions: Iterable[str] = (),
                 headers: Optional[Mapping[str, Data]] = None) -> None:
        _callable("setup_callback", setup_callback)
        _callable("teardown_callback", teardown_callback)
        if isinstance(data, str) and os.path.isfile(data):
            raise ValueError(f"text is what is linked, and {data!r} is the name of a file:"
                             f" {type(self).__name__}.from_path() takes that")
        self.path = os.fsdecode(data) if isinstance(data, os.PathLike) else None
        self.data = None if self.path is not None else _data(data)
        unnamed = f"<unnamed{_UNNAMED.get(self.kind, '-' + self.kind.name.lower())}>"
        self.name = _check("name", name or self.path or unnamed, str, bytes)
        self.setup_callback, self.teardown_callback = setup_callback, teardown_callback
        self.main, self.library = bool(_whole("main", main)), bool(_whole("library", library))
        self.needs = _several("needs", needs)
        self.name_expressions = _several("name_expressions", name_expressions)
        self.headers = {_check("a name in headers", name, str, bytes): _data(text, "a text in headers") for name, text in
                        _check("headers", {} if headers is None else headers,
                               collections.abc.Mapping).items()}
        if self.kind not in (Kind.UNKNOWN, Kind.SOURCE) and (self.headers or self.name_expressions):
            raise ValueError(f"only source has headers and name expressions, and this is a"
                             f" {type(self).__name__}")
        for name, text in self.headers.items():
            if b"\0" in text:
                raise ValueError(f"there is a NUL in the header {name!r}")

    @classmethod
    def from_path(cls: Type[_T], path: Path, name: Optional[str] = None, **more: Unpack[_Of]) -> _T:
        """A file, which is read when it is linked; one that cannot be read is BAD_INPUT
        then.  `more` is what the constructor takes by name."""
        return cls(pathlib.PurePath(path), name or os.fspath(path), **more)

    def __repr__(self) -> str:
        size = "" if self.data is None else f", {len(self.data)} bytes"
        return f"<{type(self).__name__} {self.name}{size}>"


class PTXSource(Input):
    """PTX, as text or bytes."""
    kind = Kind.PTX


class CUSource(Input):
    """CUDA C++, which nvrtc compiles first."""
    kind = Kind.SOURCE


class LLVMIR(Input):
    """LLVM IR as text, NVVM IR say, which libnvvm compiles to PTX or LTO-IR first."""
    kind = Kind.LLVMIR


class Bitcode(Input):
    """LLVM IR as bitcode, which libnvvm compiles to PTX or LTO-IR first."""
    kind = Kind.BITCODE


class Cubin(Input):
    """A relocatable cubin."""
    kind = Kind.CUBIN


class Fatbin(Input):
    """A fatbin."""
    kind = Kind.FATBIN


class LTOIR(Input):
    """LTO-IR: links with link-time optimisation."""
    kind = Kind.LTOIR


class Archive(Input):
    """A static library."""
    kind = Kind.ARCHIVE


class Object(Input):
    """A host object that has device code in it."""
    kind = Kind.OBJECT


@dataclass(frozen=True)
class SupportModule:
    """Helper functions, linked once if a main input declares one of `functions` as
    external (source does once it is compiled, so that plan() does not know), or something
    that is linked names this module in `needs`."""
    name: str
    input: Input
    functions: Sequence[str] = ()
    enabled: bool = True


@dataclass(frozen=True)
class Environment:
    """What is installed: versions, None for what is not, "unknown" for what is there and of
    an unknown version.  A driver may also be given by its own version, "580.65.06".  `branch`
    is the display driver's, 580; 0: not known."""
    driver: Optional[str] = None
    branch: int = 0
    nvjitlink: Optional[str] = None
    nvrtc: Optional[str] = None
    nvvm: Optional[str] = None      # libnvvm, with its libdevice


# ---- what comes out ----

@dataclass(frozen=True)
class Symbol:
    """A name that other inputs may meet, as in the code."""
    name: str
    defined: bool
    weak: bool
    kernel: bool
    unlisted: bool      # of LLVM IR: a kernel, or a variable that others see, not in @llvm.used
    variable: bool      # a definition that is no function


@dataclass(frozen=True)
class Entry:
    """One piece of device code of a file."""
    kind: Kind
    arch: Optional[str]             # "sm_90a"; None: not known
    toolkit: Optional[str]          # that made it; None: not known
    isa: Optional[str]              # of PTX, "8.8"
    level: Optional[int]            # of LTO-IR: 0 linked, 1 from a compiler, 2 OptiX
    abi: Optional[int]              # of a cubin: 7 or 8
    relocatable: bool
    linked: bool
    compressed: Optional[str]       # "lz4", "zstd"
    obfuscated: bool
    debug: bool
    unseen: bool                    # compressed, and not unpacked
    over_limit: bool
    not_ascii: bool                 # PTX with other bytes in a comment
    no_root: bool                   # no kernel, and no variable that others see
    libdevice: bool                 # LLVM IR as text that declares functions of libdevice
    no_layout: bool                 # LLVM IR as text without a data layout
    listed: bool                    # LLVM IR as text whose list @llvm.used has all that it offers
    addresses_32: bool              # PTX with addresses of 32 bits
    no_debug_info: bool             # PTX for debugging without debug information
    error: Optional[str]            # why it cannot be used
    member: Optional[str]           # of an archive
    section: Optional[str]          # of a host file
    fatbin: Optional[int]           # which container of the file
    offset: int                     # the payload in the file, as stored
    length: int
    unpacked: int                   # its length when unpacked
    symbols: Tuple[Symbol, ...]     # of PTX and relocatable cubins


class Inspection:
    """What a file is.

    kind, error (None, or what is wrong and where), warning, length, fatbin_count, and
    entries in the order of the file.
    """

    def __init__(self, handle: Any, kept: object) -> None:
        seen = handle.contents
        self.kind = Kind(seen.kind)
        self.name = _text(seen.name)
        self.error, self.warning = _maybe(seen.error), _maybe(seen.warning)
        self.length: int = seen.length
        self.fatbin_count: int = seen.fatbin_count
        self.entries: Tuple[Entry, ...] = tuple(map(_entry, _structs(seen.entries, seen.entry_count)))
        self._handle = handle
        # The library does not copy the bytes.
        self._close = weakref.finalize(self, lambda _kept: c.library().lazycuda_inspection_free(handle), kept)

    def payload(self, entry: int, unpack: bool = True) -> bytes:
        """The code of an entry; unpacked, or as it is stored.  Raises ValueError with the
        reason if it cannot be had, and IndexError."""
        return self._copy("lazycuda_entry_payload", entry, int(unpack))

    def fatbin(self, entry: int) -> bytes:
        """A fatbin of this entry alone, as it is stored.  Raises as payload() does."""
        return self._copy("lazycuda_entry_fatbin", entry)

    def _copy(self, function: str, entry: int, *more: int) -> bytes:
        if not 0 <= entry < len(self.entries):
            raise IndexError(f"{self.name} has {len(self.entries)} entries")
        length, error = ctypes.c_size_t(), ctypes.c_char_p()
        block = getattr(c.library(), function)(self._handle, entry, *more, ctypes.byref(length),
                                               ctypes.byref(error))
        if not block:
            raise ValueError(f"{self.name}, entry {entry}: {_text(error.value)}")
        try:
            return ctypes.string_at(block, length.value)
        finally:
            c.free(block)

    def __repr__(self) -> str:
        error = f", {self.error}" if self.error else ""
        return f"<Inspection {self.name}: {self.kind.name}, {len(self.entries)} entries{error}>"


def _entry(seen: Any) -> Entry:
    def has(flag: str) -> bool:
        return bool(seen.flags & getattr(abi.Flag, f"ENTRY_{flag}"))
    return Entry(
        kind=Kind(seen.kind),
        arch=f"sm_{seen.arch}{seen.suffix.decode().strip(chr(0))}" if seen.arch else None,
        toolkit=_version(seen.toolkit), isa=f"{seen.isa // 10}.{seen.isa % 10}" if seen.isa else None,
        level=seen.level if seen.kind == Kind.LTOIR and seen.level >= 0 else None,
        abi=seen.abi or None, compressed="lz4" if has("LZ4") else "zstd" if has("ZSTD") else None,
        relocatable=has("RELOCATABLE"), linked=has("LINKED"), obfuscated=has("OBFUSCATED"),
        debug=has("DEBUG"), unseen=has("UNSEEN"), over_limit=has("OVER_LIMIT"), not_ascii=has("NOT_ASCII"),
        no_root=has("NO_ROOT"), libdevice=has("LIBDEVICE"), no_layout=has("NO_LAYOUT"),
        listed=has("LISTED"), addresses_32=has("32_BIT"), no_debug_info=has("NO_DEBUG_INFO"),
        error=_maybe(seen.error), member=_maybe(seen.member), section=_maybe(seen.section),
        fatbin=seen.fatbin if seen.fatbin >= 0 else None, offset=seen.offset, length=seen.length,
        unpacked=seen.unpacked,
        symbols=tuple(Symbol(_text(one.name), bool(one.defined), bool(one.weak), bool(one.kernel),
                             bool(one.flags & abi.Flag.SYMBOL_UNLISTED),
                             bool(one.flags & abi.Flag.SYMBOL_VARIABLE))
                      for one in seen.symbols[:seen.symbol_count]))


@dataclass(frozen=True)
class Step:
    """One thing that the linker is given: an entry of an input, or all of it (entry is
    None); or of a support module, and then `input` is None."""
    input: Optional[int]
    support: Optional[int]
    entry: Optional[int]
    form: Form
    kind: Kind                      # what the linker is told it is
    name: str
    reason: str


@dataclass(frozen=True)
class SymbolError:
    """A name that stops a link, as in the code: nothing defines it, and `input` needs it; or
    it is defined `twice`, by `input` and by `other`.  Numbers of inputs; None: a support
    module, or nobody knows."""
    name: str
    twice: bool
    input: Optional[int]
    other: Optional[int]


@dataclass(frozen=True)
class Plan:
    """A decision: which linker takes what, or, where `code` is not OK, why none does."""
    backend: Backend
    code: Code
    rule: str                       # the row of the table in docs/reference/linking.md, "B11"; or ""
    input: Optional[int]            # the offending one
    had: Optional[str]              # "LTO-IR of CUDA 12.5"
    needed: Optional[str]           # "nvJitLink 12.5 or later"
    message: str
    lto: bool
    options: Tuple[str, ...]        # for nvJitLink; of the driver's linker, in words
    compile_options: Tuple[str, ...]
    compile_to: Optional[Kind]      # None: nothing is to be compiled
    steps: Tuple[Step, ...]
    notes: Tuple[str, ...]
    nvjitlink: Optional[str]        # the versions that this plan is for, of all that are
    nvrtc: Optional[str]            # installed; "unknown" as in Environment; nvrtc is None where it
                                    # was not asked for, since nothing is compiled
    choice: Optional[str]           # why these; None: the first of their kind are taken
    symbol_errors: Tuple[SymbolError, ...]  # with DUPLICATE_SYMBOL all of them
    nvvm: Optional[str]             # the libnvvm for LLVM IR; None: there is no LLVM IR
    nvvm_options: Tuple[str, ...]
    nvvm_to: Optional[Kind] = None  # PTX or LTOIR
    arch: Optional[str] = None      # the target; chosen from the inputs, if that was asked for
    tileiras: Optional[str] = None  # the one for Tile IR

    def check(self) -> "Plan":
        """Itself; raises LinkError if it is a refusal."""
        if self.code != Code.OK:
            raise _error(self.code, self.message, self, self.input,
                         symbol_errors=self.symbol_errors)
        return self


@dataclass(frozen=True, repr=False)
class Result:
    """What a link made.  `linked` are those whose code is in the image, support modules
    too, each once, in the order of linking."""
    image: bytes
    plan: Plan
    info_log: str
    error_log: str
    linked: Tuple[Input, ...]
    lowered_names: Dict[str, str] = field(default_factory=dict)     # by the expression

    def __repr__(self) -> str:
        return f"<Result of {self.plan.backend.name}: {len(self.image)} bytes>"

    def setup(self, module: Any) -> None:
        """For whoever loaded the image as `module`: calls what setup callbacks there are, in
        the order of linking."""
        for one in self.linked:
            if one.setup_callback:
                one.setup_callback(module)

    def teardown(self, module: Any) -> None:
        """The teardown callbacks, in the opposite order; before the module is unloaded."""
        for one in reversed(self.linked):
            if one.teardown_callback:
                one.teardown_callback(module)


# ---- errors ----

class LinkError(Exception):
    """Why there is no image.

    code: a Code.  message: one line.  input: the offending Input, None if it is no
    single one; index: its number.  had, needed: versions in words, or None.  plan: None
    if it did not come to one.  log: what compiler and linker said, errors last; info_log,
    error_log: the same apart.  call, status: the function that failed, "nvJitLinkAddData",
    and what it returned; None and 0.  symbol_errors: with UNDEFINED_SYMBOL and
    DUPLICATE_SYMBOL all names that are known, of LTO-IR those in the log.
    """

    def __init__(self, code: Code, message: str, *, plan: Optional[Plan] = None,
                 input: Optional[Input] = None, index: Optional[int] = None, info_log: str = "",
                 error_log: str = "", call: Optional[str] = None, status: int = 0,
                 symbol_errors: Tuple[SymbolError, ...] = ()) -> None:
        super().__init__(f"{code.name}: {message}")
        self.code, self.message, self.plan = code, message, plan
        self.input, self.index = input, index
        self.had = plan.had if plan else None
        self.needed = plan.needed if plan else None
        self.info_log, self.error_log = info_log, error_log
        self.log = "\n".join(filter(None, (info_log, error_log)))
        self.call, self.status = call, status
        self.symbol_errors = symbol_errors

    def __reduce__(self) -> Any:
        return type(self), (self.code, self.message), self.__dict__


class BadRequest(LinkError):
    """What is asked for makes no sense."""


class BadInput(LinkError):
    """An input cannot be linked, whatever is installed."""


class VersionRefused(LinkError):
    """An input, or what is asked for, is not for this linker or target."""


class NotInstalled(LinkError):
    """What is installed cannot do it."""


class LinkFailed(LinkError):
    """Compiler, linker or machine failed: see the log."""


class IsolationError(LinkFailed):
    """The process of an isolated link crashed, came to a limit, was cancelled, or could not
    be started."""


# By the tens of a code.
_CLASSES: Dict[int, Type[LinkError]] = {0: BadRequest, 1: BadInput, 2: VersionRefused,
                                        3: NotInstalled, 4: NotInstalled, 6: IsolationError}


def _error(code: Code, message: str, plan: Optional[Plan], index: Optional[int],
           **more: Any) -> LinkError:
    return _CLASSES.get(code // 10, LinkFailed)(code, message, plan=plan, index=index, **more)


# ---- calls ----

def _index(value: int) -> Optional[int]:
    return None if value == abi.NO_INDEX else value


def _texts(array: Any, count: int) -> Tuple[str, ...]:
    return tuple(map(_text, array[:count]))


def _structs(array: Any, count: int) -> List[Any]:
    return [one.contents for one in array[:count]]


def _symbol_errors(made: Any) -> Tuple[SymbolError, ...]:
    return tuple(SymbolError(_text(one.name), bool(one.twice), _index(one.input), _index(one.other))
                 for one in _structs(made.symbol_errors, made.symbol_error_count))


def _installed(version: int) -> Optional[str]:
    return "unknown" if version == abi.VERSION_UNKNOWN else _version(version)


def _plan(handle: Any) -> Plan:
    made = handle.contents
    return Plan(
        backend=Backend(made.backend), code=Code(made.code), rule=_text(made.rule),
        input=_index(made.input), had=_maybe(made.have), needed=_maybe(made.need),
        message=_text(made.message), lto=bool(made.lto),
        options=_texts(made.options, made.option_count),
        compile_options=_texts(made.compile_options, made.compile_option_count),
        compile_to=Kind(made.compile_to) if made.compile_to else None,
        steps=tuple(Step(_index(step.input), _index(step.support), _index(step.entry),
                         Form(step.form), Kind(step.kind), _text(step.name), _text(step.reason))
                    for step in _structs(made.steps, made.step_count)),
        notes=_texts(made.notes, made.note_count), nvjitlink=_installed(made.nvjitlink),
        nvrtc=_installed(made.nvrtc), choice=_maybe(made.choice),
        symbol_errors=_symbol_errors(made), nvvm=_installed(made.nvvm),
        nvvm_options=_texts(made.nvvm_options, made.nvvm_option_count),
        nvvm_to=Kind(made.nvvm_to) if made.nvvm_to else None,
        arch=_maybe(made.arch), tileiras=_installed(made.tileiras))


def _c_input(one: Input, modules: Dict[str, int]) -> Any:
    unknown = set(one.needs) - modules.keys()
    if unknown:
        raise ValueError(f"{one.name} needs {', '.join(sorted(unknown))}: no such support module")
    made = abi.Input(size=ctypes.sizeof(abi.Input), kind=one.kind, name=_bytes(one.name),
                     path=_bytes(one.path), flags=_flags("INPUT_", main=one.main, library=one.library),
                   needs=sum(1 << modules[name] for name in set(one.needs)))
    _set_texts(made, "name_expressions", one.name_expressions)
    made.include_names = ctypes.cast(_c_texts(one.headers), c.TextPointer)
    _set_texts(made, "headers", one.headers.values())
    if one.data is not None:
        # A pointer to the bytes themselves, which the caller of this keeps.
        made.bytes = ctypes.cast(ctypes.c_char_p(one.data), ctypes.c_void_p)
        made.length = len(one.data)
    return made


def _c_texts(texts: Collection[Union[str, bytes]]) -> Any:
    made = [os.fsencode(text) for text in texts]
    for text in made:
        if b"\0" in text:
            raise ValueError(f"there is a NUL in {text!r}")
    return (ctypes.c_char_p * (len(made) or 1))(*made)


def _set_texts(struct: Any, name: str, texts: Collection[Union[str, bytes]]) -> None:
    """Sets the array of that name, and its count."""
    # ctypes.cast() keeps the array for as long as the struct exists.
    setattr(struct, name, ctypes.cast(_c_texts(texts), c.TextPointer))
    setattr(struct, f"{name[:-1]}_count", len(texts))


def _c_environment(given: Environment) -> Any:
    driver, branch = ctypes.c_int(), ctypes.c_int()
    # The library knows which CUDA each display driver has.
    version = _check("the version of a driver", given.driver or "none", str)
    if c.library().lazycuda_read_driver(_bytes(version), ctypes.byref(driver), ctypes.byref(branch)):
        raise ValueError(f"{given.driver!r} is not a version of a driver: give that of its CUDA,"
                         " \"12.4\", or its own, \"550.120\"")
    return abi.Environment(size=ctypes.sizeof(abi.Environment), driver=driver.value,
                         branch=given.branch or branch.value, nvjitlink=_number(given.nvjitlink),
                         nvrtc=_number(given.nvrtc))


def _got(made: Any) -> Any:
    """What the library made, which it only fails to do without memory."""
    if not made:
        raise MemoryError("liblazycuda_link has no memory left")
    return made


def environment() -> Environment:
    """What is installed here, as the stubs find it; loads those libraries."""
    found = c.library().lazycuda_get_environment()
    others = c.library().lazycuda_get_others()
    nvvms = others.contents.nvvms[:others.contents.nvvm_count] if others else []
    return Environment(_installed(found.driver), found.branch, _installed(found.nvjitlink),
                       _installed(found.nvrtc), _installed(nvvms[0]) if nvvms else None)


def inspect(what: Union[Input, bytes, bytearray, memoryview, Path], *, payloads: bool = True,
            unpack_limit: int = 0) -> Inspection:
    """Says what something is: an Input, bytes, or the file of a path.

    Never fails for what it sees: a damaged or unreadable file has an `error`.  Without
    `payloads` only headers are read: that is quick for a large file, and shows neither
    symbols nor what is in compressed code.  unpack_limit: bytes that all compressed code
    of the file may unpack to; 0: 32 times its length, and at least 256 MiB.
    """
    one = what if isinstance(what, Input) else Input(what) if not isinstance(
        what, (str, os.PathLike)) else Input.from_path(what)
    if not 0 <= unpack_limit < 2**64:
        raise ValueError(f"C cannot hold {unpack_limit!r}, the unpack_limit")
    given = _c_input(one, dict.fromkeys(one.needs, 0))
    return Inspection(_got(c.library().lazycuda_inspect_input(
        ctypes.byref(given), abi.Flag.INSPECT_PAYLOADS if payloads else 0, unpack_limit)), (one.data, given))


class Linker:
    """A link: inputs, and what is to become of them.

    arch: the target, "sm_90", "sm_90a"; "compute_90" for PTX output; or (9, 0), (9, 0, "a"); "native":
    that of the current context's GPU or, without one, of `device`; "from-inputs:sm_120": that, or
    sm_120f or sm_120a where inputs need it; "from-inputs": the same of "native".
    lto: optimise at link time; LTO-IR among the inputs implies it.
    ignore_non_lto: optimise at link time, and leave out what cannot take part in that, with
    a note: what is not LTO-IR.
    ignore_tile: leave out, with a note, what __tile_global__ kernels become.
    tile_only: have tileiras make an image of these, and leave out, with a note, all else.
    output: Output.CUBIN, an image to load; PTX, RELOCATABLE or LTOIR; or its name, "ptx".
    options: for the linker, in nvJitLink's spelling, "-lineinfo".
    compile_options: for nvrtc, where there is source.
    symbols: names that the image has to define.
    support: modules that are linked if they are needed, at most 64; use_support=False
    leaves all of them out.
    constraint: on the toolkit, ">=13.2,<14".
    policy, lto_across_majors, offline, forward_compatible: docs/reference/linking.md.
    device: whose primary context the driver's linker takes where none is current.
    unpack_limit: of each input, as inspect() has it.
    environment: plan for that, and not for what is installed.
    isolated: compiler and linker run in a process of their own, whose crash is an
    IsolationError; cancel() ends it.  Implied by the limits.
    time_limit: seconds, on both together; None: ten minutes; math.inf: none.
    memory_limit: bytes, on each; None: no limit.
    lineinfo, debug, fast_math: for compiler and linker, in the words of each; so are the next.
    optimize: 0 to 4, of the linker; nvJitLink has 0 and 3.
    max_registers: of a thread.
    ftz, prec_div, prec_sqrt, fma: None: as it is by itself, or as fast_math has it.
    fast_compile: "0", "min", "mid" or "max".
    split_compile: threads to compile with; 0: one for each CPU.
    pch: nvrtc, from 12.8 on, keeps what headers become for later links of this process that begin
    alike; create_pch, use_pch, pch_dir: a file or a folder for that.  The info_log says whether nvrtc
    made one; its heap grows to what it asks for.
    log: called by link(), in its thread, with a Log, a text and None or the Input that it is
    of: notes once there is a plan, logs once compiler or linker is done; nothing twice in
    one link().  What it raises is raised by that link() when it is over.
    """

    def __init__(self, arch: Arch = "native", *, lto: bool = False,
                 output: Union[Output, str] = Output.CUBIN,
                 options: Sequence[str] = (), compile_options: Sequence[str] = (),
                 symbols: Sequence[str] = (), support: Sequence[SupportModule] = (),
                 use_support: bool = True, constraint: Optional[str] = None,
                 policy: Union[Policy, str] = Policy.BEST_EFFORT,
                 ignore_non_lto: bool = False, ignore_tile: bool = False, tile_only: bool = False,
                 lto_across_majors: bool = False, offline: bool = False,
                 forward_compatible: bool = False, device: int = 0, unpack_limit: int = 0,
                 environment: Optional[Environment] = None, isolated: bool = False,
                 time_limit: Optional[float] = None,
                 memory_limit: Optional[int] = None, log: Optional[LogHook] = None,
                 lineinfo: bool = False, debug: bool = False, optimize: Optional[int] = None,
                 max_registers: Optional[int] = None, fast_math: bool = False,
                 ftz: Optional[bool] = None, prec_div: Optional[bool] = None,
                 prec_sqrt: Optional[bool] = None, fma: Optional[bool] = None,
                 fast_compile: Optional[str] = None,
                 split_compile: Optional[int] = None, pch: bool = False,
                 create_pch: Optional[Path] = None, use_pch: Optional[Path] = None,
                 pch_dir: Optional[Path] = None) -> None:
        _callable("log", log)
        self.arch, self.lto = _arch(arch), bool(_whole("lto", lto))
        self.output, self.policy = _one_of("output", output, Output), _one_of("policy", policy, Policy)
        self.options = _several("options", options)
        headers = {"create-pch=": create_pch, "use-pch=": use_pch, "pch-dir=": pch_dir}
        self.compile_options = (*_several("compile_options", compile_options),
                                *["-pch"] * bool(_whole("pch", pch)), *(
                                    f"-{option}{os.fsdecode(path)}" for option, path in headers.items()
                                    if path is not None))
        self.symbols = _several("symbols", symbols)
        self.support = tuple(_check("support", one, SupportModule) for one in support)
        self.constraint = None if constraint is None else _check("constraint", constraint, str)
        self.device, self.unpack_limit = _whole("device", device), _whole("unpack_limit", unpack_limit)
        self.environment = None if environment is None else \
            _check("environment", environment, Environment)
        self.log = log
        limited = time_limit is not None or memory_limit is not None
        self.flags = _flags("LINK_", lto_across_majors=lto_across_majors, offline=offline,
                            forward_compatible=forward_compatible, ignore_non_lto=ignore_non_lto,
                            ignore_tile=ignore_tile, tile_only=tile_only,
                            no_support=not _whole("use_support", use_support),
                            isolated=_whole("isolated", isolated) or limited)
        self.time_limit, self.memory_limit = _milliseconds(time_limit), _whole("memory_limit", memory_limit or 0)
        if fast_compile is not None and fast_compile not in _EFFORTS:
            raise ValueError(f"fast_compile is one of {', '.join(_EFFORTS)}, not {fast_compile!r}")
        self.settings = _settings(
            lineinfo=lineinfo or None, debug=debug or None, optimize=optimize, max_registers=max_registers,
            fast_math=fast_math or None, ftz=ftz, prec_div=prec_div, prec_sqrt=prec_sqrt, fma=fma,
            fast_compile=None if fast_compile is None else _EFFORTS.index(fast_compile),
            split_compile=split_compile)
        self.inputs: List[Input] = []
        self.result: Optional[Result] = None
        self._lock = threading.Lock()
        self._running: Set[int] = set()

    def add(self, *inputs: Input) -> "Linker":
        """Adds inputs, linked in this order.  Itself.  What makes no sense in one is a LinkError of
        link(), key() and run()."""
        for one in inputs:
            if not isinstance(one, Input):
                raise TypeError(f"{one!r} is not an Input: PTXSource, Cubin.from_path, ...")
        self.inputs.extend(inputs)
        return self

    def plan(self) -> Plan:
        """What link() would do, and why; or why not.  Links nothing; a refusal is a plan,
        too, and its check() raises it."""
        call, library = _Call(self), c.library()
        with contextlib.ExitStack() as made:
            for given in call.all:
                given.inspection = _got(library.lazycuda_inspect_input(
                    ctypes.byref(given), abi.Flag.INSPECT_PAYLOADS, self.unpack_limit))
                made.callback(library.lazycuda_inspection_free, given.inspection)
            request = (ctypes.byref(call.request), call.pointers, len(call.inputs))
            plan = _got(library.lazycuda_plan_here(*request) if call.environment is None else
                        library.lazycuda_plan(ctypes.byref(call.environment), *request))
            made.callback(library.lazycuda_plan_free, plan)
            return _plan(plan)

    def run(self) -> Result:
        """Links, and says what came of it besides the image.  Raises LinkError.  May be
        called again, after more was added, say: each call links everything anew.

        In the main thread Ctrl-C ends an isolated link; one that is not ends by itself first."""
        self.result = None
        with self._handle() as (library, handle, call):
            self.result = self._run(library, handle, call)
            return self.result

    def key(self) -> str:
        """A key for caches of images: of all inputs, arguments and decisions, and of the versions of
        this library and of all tools that take part.  Files that source includes are not in it.
        Links nothing; raises LinkError where link() would before it compiles or links."""
        with self._handle() as (library, handle, call):
            key: Optional[bytes] = library.lazycuda_link_key(handle)
            if key is None:
                self._run(library, handle, call)
            return _text(_got(key))

    @contextlib.contextmanager
    def _handle(self) -> Iterator[Tuple[ctypes.CDLL, int, "_Call"]]:
        """The link of the library, with its inputs."""
        call, library = _Call(self), c.library()
        handle = _got(library.lazycuda_link_new(
            ctypes.byref(call.request),
            None if call.environment is None else ctypes.byref(call.environment)))
        with self._lock:
            self._running.add(handle)
        try:
            for given in call.inputs:
                library.lazycuda_link_add(handle, ctypes.byref(given))
            yield library, handle, call
        finally:
            with self._lock:        # cancel() may be looking at it
                self._running.remove(handle)
                library.lazycuda_link_free(handle)

    def cancel(self) -> None:
        """Ends what link() calls are running in other threads: they raise IsolationError,
        CANCELLED.  Raises ValueError if the link is not isolated."""
        if not self.flags & abi.Flag.LINK_ISOLATED:
            raise ValueError("only an isolated link can be cancelled")
        with self._lock:
            for handle in self._running:
                c.library().lazycuda_link_cancel(handle)

    def _run(self, library: ctypes.CDLL, handle: int, call: "_Call") -> Result:
        if self.flags & abi.Flag.LINK_ISOLATED and \
                threading.current_thread() is threading.main_thread():
            call.run_aside(library, handle)
        # A second call returns the same result.
        made = library.lazycuda_link_run(handle).contents
        if call.raised:
            raise call.raised[0]
        plan = _plan(made.plan) if made.plan else None
        code = Code(made.code)
        if code != Code.OK or plan is None:
            index = _index(made.input)
            raise _error(code, _text(made.message), plan, index,
                         input=None if index is None else call.of[index],
                         info_log=_text(made.info_log), error_log=_text(made.error_log),
                         call=_maybe(made.backend_call), status=made.backend_status,
                         symbol_errors=_symbol_errors(made))
        call.linked.clear()
        # The library knows what was linked, and in which order: its callbacks tell.
        library.lazycuda_link_setup(handle, None)
        return Result(ctypes.string_at(made.image, made.image_length), plan,
                      _text(made.info_log), _text(made.error_log), tuple(call.linked),
                      {_text(one.expression): _text(one.name)
                       for one in _structs(made.lowered_names, made.lowered_name_count)})

    def link(self) -> bytes:
        """The image: a cubin, or what `output` says.  Raises LinkError.  `result` has what
        else came of it."""
        return self.run().image


def _planner(linker: Callable[_P, Linker]) -> Callable[Concatenate[Iterable[Input], _P], Plan]:
    def plan(inputs: Iterable[Input], /, *arguments: _P.args, **more: _P.kwargs) -> Plan:
        """What a Linker of the same arguments would do, and why; or why not."""
        return linker(*arguments, **more).add(*inputs).plan()
    return plan


plan = _planner(Linker)


# ---- what lies beside the tools ----

@dataclass(frozen=True)
class Component:
    """A part of CUDA that goes with a library: "headers" (path: of cuda.h), "cccl" (of
    cub/version.cuh), "cudadevrt", "libdevice", "libnvvm", "nvcc", "tileiras", "nvrtc-builtins",
    "nccl_device", "nvshmem_device"."""
    name: str
    path: Optional[str]             # None: it is not where the library's installation has it
    version: Optional[str]          # of its toolkit; None: not known
    fits: Optional[bool]            # whether its version goes with the library's; None: not known
    relation: str                   # what has to hold, and what does
    library: str                    # that it is looked for beside


def find_components(library: Optional[Path] = None) -> Tuple[Component, ...]:
    """What lies in the toolkit, the site-packages or the conda prefix of a library, and whether
    it goes with it.  Without an argument: of the nvrtc that links here use, else of the
    nvJitLink; empty if there is neither."""
    with _components(library) as found:
        return tuple(Component(_text(one.name), None if one.path is None else os.fsdecode(one.path),
                               _version(one.version), None if one.fits < 0 else bool(one.fits),
                               _text(one.relation), os.fsdecode(found.library))
                     for one in found.list[:found.count])


@contextlib.contextmanager
def _components(library: Optional[Path]) -> Iterator[Any]:
    made = _got(c.library().lazycuda_get_components() if library is None else
                c.library().lazycuda_find_components(_c_texts([os.fsencode(library)])[0]))
    try:
        yield made.contents
    finally:
        c.library().lazycuda_components_free(made)


def _beside(library: Optional[Path], *names: str) -> Tuple[List[str], str]:
    """The files of components that go with the library, and why the others do not."""
    each = [one for one in find_components(library) if one.name in names]
    lacking = [one for one in each if one.path is None or one.fits is False]
    why = [f"{one.name}, beside {one.library}: {one.relation}" for one in lacking]
    if not each:
        why = ["no such library" if library else
               "there is no nvrtc and no nvJitLink that it could lie beside"]
    return [one.path for one in each if one.path and one not in lacking], "; ".join(why)


def _found(name: str, library: Optional[Path], component: str) -> str:
    files, why = _beside(library, component)
    if not files:
        raise FileNotFoundError(errno.ENOENT, why, name)
    return files[0]


def find_header(name: str, library: Optional[Path] = None) -> str:
    """The path of a header, "cuda_fp16.h", "cub/cub.cuh" or "curand_kernel.h", that goes with a library,
    as find_components() has it.  Raises FileNotFoundError, which says why."""
    if os.path.isabs(name) or ".." in pathlib.PurePath(name).parts:
        raise ValueError(f"{name!r} is not the name of a header, as in #include <NAME>")
    in_cccl = pathlib.PurePath(name).parts[0] in ("cub", "cuda", "nv", "thrust")
    _, why = _beside(library, "cccl" if in_cccl else "headers")
    return _in_folders(name, library, "includes", why)


def find_binary(name: str, library: Optional[Path] = None) -> str:
    """The path of a program that comes with CUDA, "nvcc", "ptxas" or "nvdisasm", likewise."""
    if os.path.basename(name) != name:
        raise ValueError(f"{name!r} is not the name of a program")
    return _in_folders(name, library, "bins", "")


def _in_folders(name: str, library: Optional[Path], which: str, why: str) -> str:
    with _components(library) as found:
        folders = [os.fsdecode(one) for one in getattr(found, which)[:getattr(found, f"{which[:-1]}_count")]]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and (which != "bins" or os.access(path, os.X_OK)):
            return path
    why = "; ".join(filter(None, (why, *(f"it is not in {folder}" for folder in folders))))
    raise FileNotFoundError(errno.ENOENT, why or "there is no such library", name)


def find_static_library(name: str = "cudadevrt", library: Optional[Path] = None) -> str:
    """The path of a static library of device code, likewise: "cudadevrt" is the one."""
    if name != "cudadevrt":
        raise ValueError(f"{name!r} is not a known static library: \"cudadevrt\" is one")
    return _found(name, library, name)


_BITCODE = {"device": "libdevice", "nccl_device": "nccl_device", "nvshmem_device": "nvshmem_device"}


def find_bitcode(name: str = "device", library: Optional[Path] = None, *,
                 arch: Optional[Arch] = None) -> str:
    """The path of a library of LLVM IR, likewise: "device" is libdevice; "nccl_device",
    "nvshmem_device".  Where there is a file for each of some architectures, NVSHMEM's, it is the
    newest that code for `arch` may use, and without one a ValueError."""
    if name not in _BITCODE:
        raise ValueError(f"{name!r} is not a known bitcode library: {', '.join(_BITCODE)} are")
    file = pathlib.Path(_found(name, library, _BITCODE[name]))
    stem, one_of_several, _ = file.name.rpartition("_sm_")
    if not one_of_several:
        return str(file)
    there = {int(one.stem.rpartition("_")[2]): one for one in file.parent.glob(f"{stem}_sm_*.bc")
             if one.stem.rpartition("_")[2].isdigit()}
    if arch is None:
        raise ValueError(f"there is a {name} for each of sm_{', sm_'.join(map(str, sorted(there)))}:"
                         " give `arch`")
    wanted = int("".join(filter(str.isdigit, _arch(arch))) or 0)
    fitting = [number for number in there if number <= wanted]
    if not fitting:
        raise FileNotFoundError(errno.ENOENT, f"there is none for {_arch(arch)} in {file.parent}", name)
    return str(there[max(fitting)])


class _Call:
    """What one call of the library is given, and all that it points to."""

    def __init__(self, linker: Linker) -> None:
        modules = {module.name: number for number, module in enumerate(linker.support)}
        self.of = tuple(linker.inputs)
        self.linked: List[Input] = []
        self.raised: List[BaseException] = []       # by the callback for logs
        # What is to be done in the thread that waits for another one.
        self._told: Optional["queue.SimpleQueue[Any]"] = None
        self._interrupted = threading.Event()
        # `data` of the C struct is a number, from 1, of an Input.
        everything = (*self.of, *(module.input for module in linker.support))
        self._note = abi.InputSetup(lambda _module, number: self.linked.append(everything[number - 1]))
        self.all = [_c_input(one, modules) for one in everything]
        for number, given in enumerate(self.all, 1):
            given.setup, given.data = self._note, number
        self.inputs = self.all[:len(self.of)]
        # The structs point to their bytes.
        self._kept = everything
        self.pointers = (c.InputPointer * (len(self.inputs) or 1))(
            *map(c.InputPointer, self.inputs))
        self.environment = None if linker.environment is None else \
            _c_environment(linker.environment)
        self.request = self._request(linker)

    def run_aside(self, library: ctypes.CDLL, handle: int) -> None:
        """Runs the link in another thread, while this one answers signals, and calls the
        callback for logs, for which the link waits.  What a signal raises cancels the link."""
        told: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._told = told

        def run(_kept: Set[None]) -> None:
            try:
                library.lazycuda_link_run(handle)
            finally:
                told.put(None)

        # The thread alone keeps it: where there is no memory, a thread ends before it gets to run().
        # Thread.start() would wait for one.
        kept: Set[None] = set()
        ended = weakref.ref(kept, told.put)
        try:
            _thread.start_new_thread(run, (kept,))
        except (RuntimeError, MemoryError):     # there can be no more: at exit, from 3.12 on
            self._told = None
            return
        del kept
        raised: Optional[BaseException] = None
        while True:
            try:
                one = told.get()
                if one is None or one is ended:
                    break
                one()
            except BaseException as error:
                raised = raised or error
                self._interrupted.set()
                library.lazycuda_link_cancel(handle)
        if raised:
            raise raised

    def _log(self, log: LogHook) -> Any:
        def tell(kind: int, index: int, text: str) -> None:
            if self.raised:
                return
            try:
                log(Log(kind), text, self.of[index] if index < len(self.of) else None)
            except BaseException as error:      # which ctypes would print
                if self._told and isinstance(error, KeyboardInterrupt):
                    raise
                self.raised.append(error)

        def told(_data: object, kind: int, index: int, text: bytes) -> None:
            if not self._told:
                tell(kind, index, _text(text))
                return
            done = threading.Event()

            def tell_there() -> None:
                try:
                    tell(kind, index, _text(text))
                finally:
                    done.set()

            self._told.put(tell_there)
            # A signal may come just before it is called.
            while not done.wait(.1) and not self._interrupted.is_set():
                pass
        return abi.RequestLog(told)

    def _request(self, linker: Linker) -> Any:
        made = abi.Request(
            size=ctypes.sizeof(abi.Request), arch=_bytes(linker.arch), lto=int(linker.lto),
            output=linker.output, policy=linker.policy, flags=linker.flags,
            constraint=_bytes(linker.constraint), device=linker.device,
            unpack_limit=linker.unpack_limit, time_limit=linker.time_limit,
            memory_limit=linker.memory_limit)
        for name in ("options", "compile_options", "symbols"):
            _set_texts(made, name, getattr(linker, name))
        made.settings = (abi.Setting * (len(linker.settings) or 1))(*linker.settings)
        made.setting_count = len(linker.settings)
        if linker.log is not None:
            made.log = self._log(linker.log)
        self._add_support(made, linker)
        if linker.environment is not None:
            # What abi.Environment lacks: libnvvm, with its libdevice.
            nvvm = ctypes.c_int(_number(linker.environment.nvvm))
            made.others = c.OthersPointer(abi.Others(
                size=ctypes.sizeof(abi.Others), nvvms=c.NumberPointer(nvvm),
                libdevices=c.NumberPointer(nvvm), nvvm_count=int(nvvm.value != 0)))
        return made

    def _add_support(self, request: Any, linker: Linker) -> None:
        structs = []
        for module, given in zip(linker.support, self.all[len(self.inputs):]):
            structs.append(abi.Support(size=ctypes.sizeof(abi.Support), name=_bytes(module.name),
                                       enabled=int(module.enabled), input=c.InputPointer(given)))
            _set_texts(structs[-1], "functions", _several("functions", module.functions))
        pointers = (c.SupportPointer * (len(structs) or 1))(*map(c.SupportPointer, structs))
        request.support = ctypes.cast(pointers, c.SupportPointers)
        request.support_count = len(structs)
