# SPDX-License-Identifier: MIT
"""What real toolkits make, seen by the inspector."""
import ctypes
import re

import pytest

import containers
from samples import Sample
from test_fatbins import LZ4, OBFUSCATED, UNSEEN, ZSTD, flags


def has(library):
    try:
        return bool(ctypes.CDLL(library))
    except OSError:
        return False


def archs(toolkit):
    return ["sm_80", *(["sm_90a"] if toolkit.major >= 12 else []),
            *(["sm_100"] if (toolkit.major, toolkit.minor) >= (12, 8) else [])]


def number(toolkit):
    return str(1000 * toolkit.major + 10 * toolkit.minor)


def made(toolkit):
    """Fatbins of all kinds for each architecture, one for each way of compressing."""
    if toolkit.version not in containers.versions():
        pytest.skip(f"there is no nvFatbin of CUDA {toolkit.version}")
    entries = [Sample(toolkit.version, kind, arch, "k") for arch in archs(toolkit)
               for kind in ("ptx", "cubin", "ltoir")]
    ways = [(), ("-compress=false",), ("-compress-all",)]
    if (toolkit.major, toolkit.minor) >= (12, 9):
        ways += [("-compress-mode=size",), ("-compress-mode=speed",)]
    return [containers.fatbin(toolkit.version, entries, *way) for way in ways]


def test_fatbins_of_a_real_toolkit(see, extract, toolkit):
    fatbins = made(toolkit)
    if not (has("liblz4.so.1") and has("libzstd.so.1")):
        pytest.skip("liblz4.so.1 or libzstd.so.1 is not installed")
    for fatbin in fatbins:
        seen = see(fatbin, "--payloads", "--symbols")
        assert (seen.error, seen.warning, seen.fatbins) == (None, None, "1")
        assert sorted(seen.column("arch")) == sorted(
            arch.removeprefix("sm_") for arch in archs(toolkit) for _ in range(3))
        assert seen.column("error") == [None] * len(seen.entries)
        for index, entry in enumerate(seen.entries):
            obfuscated = bool(flags(entry) & OBFUSCATED)
            packed = bool(flags(entry) & (LZ4 | ZSTD))
            assert bool(flags(entry) & UNSEEN) == obfuscated
            # 12.4 and 12.5 compress LTO-IR for sm_90a alone without obfuscating it.
            if entry["arch"] != "90a":
                assert obfuscated == (packed and entry["kind"] == "ltoir")
            if obfuscated:
                continue
            if (toolkit.version, entry["kind"]) == ("12.6", "ptx"):
                # Its PTX ISA is that of 12.5, and nvFatbin takes out the comment
                # that says more.
                assert entry["toolkit"] == "12050"
            else:
                assert entry["toolkit"] == number(toolkit)
            original = Sample(toolkit.version, entry["kind"], f"sm_{entry['arch']}",
                              "k").path.read_bytes()
            code = extract(fatbin.read_bytes(), "code", index)
            if entry["kind"] == "ptx":
                assert re.findall(rb"^\.(?:version|target).*", code, re.M) == \
                    re.findall(rb"^\.(?:version|target).*", original, re.M)
            else:
                assert code.rstrip(b"\0") == original.rstrip(b"\0")


def test_headers_alone_tell_the_same_as_far_as_they_tell(see, toolkit):
    for fatbin in made(toolkit):
        for less, more in zip(see(fatbin).entries, see(fatbin, "--payloads").entries):
            for key in ("kind", "arch", "isa", "container", "header", "offset", "length",
                        "unpacked"):
                assert less[key] == more[key], (fatbin, key)
            assert less["toolkit"] in (more["toolkit"], "0")


def test_the_real_libraries_themselves(see, toolkit):
    """Host libraries: nvJitLink and nvrtc have device code inside, or none, but
    nothing that cannot be read."""
    for path in toolkit.files():
        seen = see(path)
        assert (seen.kind, seen.error) == ("shared", None)
        assert seen.column("error") == [None] * len(seen.entries)
