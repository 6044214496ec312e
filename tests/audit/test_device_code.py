# SPDX-License-Identifier: MIT
"""What device code a file holds, and which GPUs it serves: --device-code and --arch."""
import json

import pytest

import build
import made_up as c
import wheel_files


def cubin(arch, suffix=0, toolkit=129, linked=True):
    return c.entry(c.CUBIN, c.cubin(arch, toolkit, linked), arch=arch, flags=c.PLAIN | suffix)


def ptx(arch, suffix=0, isa="8.0"):
    return c.entry(c.PTX, c.ptx(isa, target=f"sm_{arch}"), arch=arch, flags=c.PLAIN | suffix)


def ltoir(arch):
    return c.entry(c.LTOIR, c.ltoir(arch=10 * arch), arch=arch, version=(1, 64))


def unknown():
    return c.entry(0x4000, b"of a later toolkit", arch=90)


def library(folder, *fatbins, section=".nv_fatbin", name="k.so"):
    """A shared library with these fatbins in it."""
    (folder / name).write_bytes(c.elf([(section, b"".join(c.fatbin(*entries) for entries in fatbins))], type=3))
    return folder / name


TAKE_13 = ", which a driver of CUDA 12.4 does not take: take one of CUDA 13.0 or later"
OLD = "--driver", "12.4"


@pytest.mark.parametrize("driver, entries, target, by, advice", [
    ((), [cubin(80)], "sm_80", "cubin", "a cubin"), ((), [cubin(80)], "sm_86", "cubin", "a cubin"),
    ((), [cubin(80)], "sm_87", None, "nothing: compile with -gencode arch=compute_87,code=sm_87"),
    ((), [cubin(80)], "sm_90", None, "nothing: compile with -gencode arch=compute_90,code=sm_90"),
    ((), [cubin(80)], "sm_75", None, "nothing"), ((), [cubin(90, c.SUFFIX_A)], "sm_90", None, "nothing"),
    ((), [cubin(90, c.SUFFIX_A)], "sm_90a", "cubin", "a cubin"),
    ((), [cubin(80), ptx(90)], "sm_120", "ptx", "-gencode arch=compute_120,code=sm_120"),
    ((), [ptx(90, c.SUFFIX_A)], "sm_120", None, "nothing"),
    ((), [cubin(80), ltoir(90)], "sm_90", "ltoir", "`lazycuda link --lto --arch sm_90`"),
    ((), [ptx(80), ltoir(90)], "sm_90", "ptx", "PTX 8.0, which a driver of CUDA 12.0 or later compiles"),
    # A driver is judged by the rules of plan.
    # Minor versions of a major are compatible for cubins, and not for PTX.
    (OLD, [cubin(80)], "sm_80", "cubin", "a cubin of CUDA 12.9, for a driver of CUDA 12.0 or later"),
    (OLD, [cubin(80, toolkit=130), ptx(80, isa="9.0")], "sm_80", None, f"a cubin of CUDA 13.0{TAKE_13}, or "
     "compile with the oldest nvcc that has the architectures you need, for this one nvcc 12.0"),
    (OLD, [ptx(80, isa="8.8")], "sm_89", None, "PTX 8.8, which a driver of CUDA 12.4 does not take: take "
     "one of CUDA 12.9 or later"),
    (OLD, [cubin(80, toolkit=130), ptx(80, isa="8.4")], "sm_80", "ptx", "PTX 8.4, which a driver of CUDA 12.4"),
    (OLD, [cubin(110, toolkit=130)], "sm_110", None, "a driver of CUDA 12.4 does not know sm_110; take one "
     "of CUDA 13.0"),
    (OLD, [ptx(80)], "sm_120", None, "a driver of CUDA 12.4 does not know sm_120; take one of CUDA 12.8"),
    (OLD, [c.entry(c.CUBIN, b"\0" * 64, arch=80)], "sm_80", None, "")])
def test_what_serves_a_gpu(audit, tmp_path, driver, entries, target, by, advice):
    path = library(tmp_path, entries)
    status = int(by not in ("cubin", "ptx"))
    said = json.loads(audit("--json", "--arch", target, *driver, path, status=status).out)
    row = said["files"][0]["device_code"]["targets"][target]
    assert row["by"] == by and advice in row["advice"]
    assert said["all"]["without_code_for"] == {target: status}
    out = audit(f"--arch={target}", *driver, path, status=status).out
    assert f"  for {target:<6} {row['advice']}\n" in out


def test_what_a_file_holds(audit, said, tmp_path):
    path = library(tmp_path, [cubin(80), ptx(90)], [cubin(80), ltoir(90)], [ltoir(90)])
    code = said("--device-code", path)["device_code"]
    assert code["entries"] == [
        {"kind": "cubin", "arch": "sm_80", "toolkit": "12.9", "isa": None, "driver": "12.0", "count": 2,
         "loadable": True},
        {"kind": "ptx", "arch": "compute_90", "toolkit": "12.0", "isa": "8.0", "driver": "12.0", "count": 1,
         "loadable": True},
        {"kind": "ltoir", "arch": "sm_90", "toolkit": "12.9", "isa": None, "driver": None, "count": 2,
         "loadable": True}]
    assert (code["beside_ltoir"], code["error"], code["targets"]) == (1, None, {})
    out = audit("--device-code", path).out
    assert "  device     2 cubins of CUDA 12.9 for sm_80 (driver 12.0 or later), 1 PTX 8.0 for " \
        "compute_90 (driver 12.0 or later), 2 LTO-IR of CUDA 12.9 for sm_90\n" in out
    assert "note       1 of its fatbins holds LTO-IR beside other code: hand no driver" in out


@pytest.mark.parametrize("fatbins, mixed", [
    ([[ltoir(90)], [ptx(80)]], 0), ([[ltoir(90), ptx(80)], [ptx(80), ltoir(90), cubin(80)]], 2),
    ([[ptx(80), cubin(80)], [ltoir(90), ltoir(80)]], 0),
    ([[ltoir(90)], [unknown(), cubin(80)]], 0), ([[unknown(), ltoir(90), unknown(), ptx(80)]], 1)])
def test_fatbins_that_no_driver_is_to_be_handed_whole(said, tmp_path, fatbins, mixed):
    assert said("--device-code", library(tmp_path, *fatbins))["device_code"]["beside_ltoir"] == mixed


@pytest.mark.parametrize("entries", [[cubin(80), ptx(80)], [ptx(80), ltoir(80)]])
def test_code_that_is_only_there_to_be_linked(audit, tmp_path, entries):
    path = library(tmp_path, entries, section="__nv_relfatbin")
    out = audit("--arch", "sm_80", path, status=1).out
    assert "1 relocatable PTX 8.0 for compute_80" in out
    assert "  for sm_80  relocatable code, which is loaded once it is linked: with" in out
    assert "  for sm_75  nothing" in audit("--arch", "sm_75", path, status=1).out


def test_a_relocatable_cubin_is_no_code_to_load(audit, tmp_path):
    out = audit("--arch", "sm_80", library(tmp_path, [cubin(80, linked=False)]), status=1).out
    assert "relocatable code, which is loaded once it is linked" in out


def test_without_the_option_nothing_of_it_is_said(audit, said, tmp_path):
    path = library(tmp_path, [cubin(80), ltoir(90)])
    assert "device_code" not in said(path)
    assert "device" not in audit(path).out
    assert "with_device_code" not in json.loads(audit("--json", path).out)["all"]


def test_damage_is_told(said, tmp_path):
    path = library(tmp_path, [cubin(80)])
    data = path.read_bytes()
    path.write_bytes(data.replace(c.fatbin(cubin(80))[:16], c.fatbin(cubin(80), size=1 << 40)[:16]))
    code = said("--device-code", path)["device_code"]
    assert "fatbin" in code["error"]


def test_a_wheel_is_counted(audit, tmp_path):
    wheel = wheel_files.make(tmp_path, {
        "package/one.so": library(tmp_path, [cubin(80)], name="one.so"),
        "package/two.so": library(tmp_path, [cubin(80), ptx(80)], name="two.so"), "package/none.py": b""})
    out = audit("--arch", "sm_80,sm_90", wheel, status=1).out
    assert "for sm_80: a driver loads code of 2 of 2 files with device code\n" in out
    assert "for sm_90: a driver loads code of 1 of 2 files with device code\n" in out
    said = json.loads(audit("--json", "--arch", "sm_80,sm_90", wheel, status=1).out)["all"]
    assert (said["with_device_code"], said["without_code_for"]) == (2, {"sm_80": 0, "sm_90": 1})


def test_a_file_without_device_code_lacks_none(audit, tmp_path):
    (tmp_path / "none.c").write_text("int nothing;")
    path = build.shared(tmp_path / "none.c", name="none.so")
    assert "device" not in audit("--arch", "sm_90", path).out


@pytest.mark.parametrize("list_", ["", "sm_", "90", "sm_90,", ",sm_90", "compute_90", "sm_90;sm_80",
                                   ",".join(["sm_90"] * 33), "sm_" + "9" * 50])
def test_what_is_no_gpu(audit, tmp_path, list_):
    done = audit("--arch", list_, library(tmp_path, [cubin(80)]), status=2)
    assert (": give at most 32 GPUs" if list_ else "--arch is empty") in done.err
