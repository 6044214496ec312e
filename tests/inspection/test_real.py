# SPDX-License-Identifier: MIT
"""What real toolkits make, seen by the inspector."""
import ctypes
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
RELOCATABLE, LINKED, LZ4, ZSTD, OBFUSCATED, _, UNSEEN = (1 << i for i in range(7))


def flags(entry):
    return int(entry["flags"], 16)


def has(library):
    try:
        return bool(ctypes.CDLL(library))
    except OSError:
        return False


def archs(toolkit):
    return ["sm_80", *(["sm_90a"] if toolkit.major >= 12 else []),
            *(["sm_100"] if (toolkit.major, toolkit.minor) >= (12, 8) else [])]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(toolkit): the folder with all that produce.py makes of it."""
    folders = {}

    def made(toolkit):
        if toolkit.version not in folders:
            folder = tmp_path_factory.mktemp("made")
            command = [sys.executable, HERE / "produce.py", toolkit.file("nvrtc"),
                       toolkit.file("nvfatbin") or "-", folder, *archs(toolkit)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            folders[toolkit.version] = folder
        return folders[toolkit.version]
    return made


def number(toolkit):
    return str(1000 * toolkit.major + 10 * toolkit.minor)


def test_bare_code_of_a_real_toolkit(see, made, toolkit):
    for arch in archs(toolkit):
        for kind in ("ptx", "cubin", "ltoir"):
            seen = see(made(toolkit) / f"{arch}.{kind}", "--payloads", "--symbols")
            assert (seen.kind, seen.error, seen.warning) == (kind, None, None)
            entry, = seen.entries
            assert entry["error"] is None and entry["toolkit"] == number(toolkit)
            assert entry["arch"] == arch.removeprefix("sm_")
            assert flags(entry) == RELOCATABLE
            if kind != "ltoir":
                assert entry["names"] == {"kernel": "defined kernel", "_Z6helperi": "needed"}
        entry, = see(made(toolkit) / f"{arch}.linked.cubin").entries
        assert flags(entry) == LINKED


def test_fatbins_of_a_real_toolkit(see, extract, made, toolkit):
    folder = made(toolkit)
    fatbins = sorted(folder.glob("*.fatbin"))
    if not fatbins:
        pytest.skip(f"there is no nvFatbin of CUDA {toolkit.version}")
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
            original = (folder / f"sm_{entry['arch']}.{entry['kind']}").read_bytes()
            code = extract(fatbin.read_bytes(), "--code", index)
            if entry["kind"] == "ptx":
                assert re.findall(rb"^\.(?:version|target).*", code, re.M) == \
                    re.findall(rb"^\.(?:version|target).*", original, re.M)
            else:
                assert code.rstrip(b"\0") == original.rstrip(b"\0")


def test_headers_alone_tell_the_same_as_far_as_they_tell(see, made, toolkit):
    fatbins = sorted(made(toolkit).glob("*.fatbin"))
    if not fatbins:
        pytest.skip(f"there is no nvFatbin of CUDA {toolkit.version}")
    for fatbin in fatbins:
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
