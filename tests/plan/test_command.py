# SPDX-License-Identifier: MIT
"""`lazycuda plan`: the decision on a command line."""
import json

import pytest

import made_up
from fakes import driver, fake, nvml

HAVE = ["--driver", "12.4", "--nvjitlink", "12.4", "--nvrtc", "12.4"]
KEYS = {"choice", "nvjitlink", "nvrtc", "nvvm", "tileiras", "compile_ir", "decision", "code", "input", "have", "need", "message",
        "options", "inputs", "rule", "arch", "policy", "notes", "environment", "lto", "compile",
        "symbol_errors"}
NONE = ["--driver", "none", "--nvrtc", "none", "--nvjitlink", "none"]


def ptx(isa="8.0", target="sm_80", body=".visible .entry k() { ret; }\n"):
    return f".version {isa}\n.target {target}\n.address_size 64\n{body}"


@pytest.fixture
def file(world):
    """file("k.ptx", text) is such a file."""
    def write(name, text):
        path = world.folder("files") / name
        path.write_text(text)
        return path
    return write


def plan(world, *words, status=0):
    done = world.cli("plan", "--json", *words, check=False)
    assert (done.status, done.err) == (status, "")
    return json.loads(done.out)


def environment(driver, branch, nvjitlink, nvrtc):
    """As the JSON has it where nothing else is installed."""
    return {"driver": driver, "branch": branch, "nvjitlink": nvjitlink, "nvrtc": nvrtc,
            "nvjitlinks": [], "nvrtcs": [], "nvvms": [], "tileirases": []}


# ---- with files ----

def test_json_has_the_keys_of_the_design(world, file):
    path = file("k.ptx", ptx())
    said = plan(world, *HAVE, "--arch", "sm_80", "--option", "-lineinfo", path)
    assert set(said) == KEYS
    assert said["decision"] == "nvjitlink" and said["rule"] == "B6"
    assert said["code"] is said["input"] is said["have"] is said["need"] is said["compile"] is None
    assert said["options"] == ["-arch=sm_80", "-lineinfo"] and said["lto"] is False
    assert said["policy"] == "best_effort" and any("leak" in note for note in said["notes"])
    assert said["environment"] == environment("12.4", None, "12.4", "12.4")
    assert said["inputs"] == [{"file": str(path), "name": str(path), "kind": "ptx", "input": 0,
                               "entry": 0, "form": "as_is", "reason": "the only code in it"}]


def test_a_decision_in_words(world, file):
    source = file("k.cu", "__global__ void k() {}\n")
    said = world.cli("plan", *HAVE, "--arch", "sm_80", "--lto", source).lines
    assert said[:5] == [
        "decision    nvjitlink",
        "because     nvJitLink 12.4 links for sm_80: nvJitLink takes everything, and the driver"
        " loads what it makes",
        "rule        B6 of the policy best_effort",
        "compile     -arch=compute_80 -dlto",
        "options     -arch=sm_80 -lto",
    ]
    assert said[5] == f"input       {source}: compiled by nvrtc 12.4 to LTO-IR for compute_80"
    assert said[6].startswith("note        nvJitLink 12.0 to 12.4 may leak")


def test_a_refusal_in_words(world, file):
    done = world.cli("plan", *HAVE, "--arch", "sm_80", file("k.ptx", ptx("9.0")), status=1)
    heads = [line[:12].strip() for line in done.lines]
    assert heads == ["refused", "because", "", "", "rule", "have", "need"]
    assert done.lines[0] == "refused     PTX_TOO_NEW"
    assert done.lines[2].startswith("            take nvJitLink 13.0 or later")


@pytest.mark.parametrize("words, options", [
    (["--lto", "--ptx"], ["-arch=sm_80", "-lto", "-ptx"]),
    (["--arch=compute_80", "--ptx"], ["-arch=compute_80", "-lto", "-ptx"]),
    (["--compile-option=-DX", "--option=-time"], ["-arch=sm_80", "-time"]),
    (["--policy", "strict"], ["-arch=sm_80"]),
])
def test_options_of_the_command(world, file, words, options):
    path = file("k.cu", "__global__ void k() {}\n")
    assert plan(world, *HAVE, "--arch", "sm_80", *words, path)["options"] == options


@pytest.mark.parametrize("words, code", [
    (["--policy", "strict", "--driver", "13.0", "--lto"], "CROSS_MAJOR"),
    (["--relocatable"], "NVJITLINK_TOO_OLD"),
    # An option for the linker: else nvrtc made the LTO-IR.
    (["--ltoir", "--option=-lineinfo", "--driver", "13.0", "--nvjitlink", "13.0", "--nvrtc", "13.0"],
     "NVJITLINK_TOO_OLD"),
    (["--constraint", ">=12.6"], "CONSTRAINT"), ([*NONE, "--option=-lineinfo"], "NO_BACKEND"),
    # What --lto-across-majors and --offline lift.
    (["--nvjitlink", "13.0", "--driver", "13.0", "--lto"], "LTOIR_CROSS_MAJOR"),
    (["--nvjitlink", "13.0", "--lto"], "CROSS_MAJOR"),
])
def test_a_refusal_of_the_command(world, file, words, code):
    path = file("k.cu", "__global__ void k() {}\n")
    assert plan(world, *HAVE, "--arch", "sm_80", *words, path, status=1)["code"] == code


def test_flags_lift_refusals(world, file):
    path = file("k.cu", "__global__ void k() {}\n")
    have = ["--driver", "12.4", "--nvjitlink", "13.0", "--nvrtc", "12.4", "--arch", "sm_80", "--lto"]
    plan(world, *have, "--offline", "--lto-across-majors", path)
    plan(world, *have, "--forward-compatible", "--lto-across-majors", path)


def test_the_driver_may_be_given_by_its_own_version(world, file):
    path = file("k.ptx", ptx())
    said = plan(world, "--driver=550.54.14", "--nvjitlink=none", "--nvrtc=none", "--arch=sm_80", path)
    assert said["environment"] == environment("12.4", 550, "none", "none")
    said = plan(world, "--driver=unknown", "--nvjitlink=12.9", "--nvrtc=none", "--arch=sm_80", path)
    assert said["environment"]["driver"] is None and said["rule"] == "B5"


def test_what_is_not_given_is_what_is_installed(world, file):
    path = file("k.ptx", ptx())
    assert plan(world, "--arch", "sm_80", path, status=1)["code"] == "NO_BACKEND"
    world.loader(fake("nvrtc", "12.9"), fake("nvJitLink", "12.9"), driver("12.2"),
                 nvml("535.104.05"))
    said = plan(world, "--arch", "sm_80", path)
    assert said["environment"] == environment("12.2", 535, "12.9", "12.9")
    said = plan(world, "--arch", "sm_80", "--nvjitlink", "12.5", path)
    assert said["environment"] == environment("12.2", 535, "12.5", "12.9")


@pytest.mark.parametrize("result, known, status", [(999, None, 1), (34, "none", 0)])
def test_a_driver_that_does_not_say_its_version(world, result, known, status):
    """34 is said by NVIDIA's stand-in for linking, which is no driver."""
    world.loader(driver("12.9", result=result), fake("nvJitLink", "12.9"))
    done = world.cli("plan", "--policy=strict", "--json", check=False)
    assert done.status == status and json.loads(done.out)["environment"]["driver"] == known


def test_tile_ir_beside_other_code(world):
    """nvcc puts both into an object, and nvJitLink leaves the Tile IR out without a word."""
    code, tile = ptx().encode() + b"\0", b"\x7fTileIR\0" + bytes(56)
    both, alone = world.folder("files") / "both", world.folder("files") / "alone"
    both.write_bytes(made_up.fatbin(made_up.entry(made_up.PTX, code)) +
                     made_up.fatbin(made_up.entry(made_up.TILEIR, tile)))
    alone.write_bytes(made_up.fatbin(made_up.entry(made_up.TILEIR, tile)))
    said = plan(world, *HAVE, "--arch", "sm_80", both, status=1)
    assert said["code"] == "UNSUPPORTED_KIND"
    assert "there is Tile IR for sm_80" in said["message"] and "PTX 8.0" in said["message"]
    said = plan(world, *HAVE, "--arch", "sm_80", "--ignore-tile", both)
    assert [step["kind"] for step in said["inputs"]] == ["ptx"]
    assert any("Tile IR for sm_80 is left out" in note for note in said["notes"])
    said = plan(world, *HAVE, "--arch", "sm_80", "--ignore-tile", alone, status=1)
    assert said["code"] == "UNSUPPORTED_KIND" and "only Tile IR" in said["message"]


def test_a_file_that_begins_with_a_dash(world, file):
    file("-k.ptx", ptx())
    done = world.cli("plan", *HAVE, "--arch", "sm_80", "--", world.root / "files" / "-k.ptx")
    assert done.lines[0] == "decision    nvjitlink"


# ---- without files ----

@pytest.mark.parametrize("words, outcome, message", [
    (["--nvrtc", "12.9", "--nvjitlink", "13.2", "--lto"], "incompatible", "major"),
    (["--nvrtc", "12.9", "--nvjitlink", "13.2", "--lto", "--lto-across-majors"], "compatible", "12.9"),
    (["--nvrtc", "13.0", "--nvjitlink", "13.2", "--driver", "550"], "driver_too_old", "12.4"),
    (["--cudart=12.9", "--driver", "535"], "compatible", "cudart 12.9, driver 12.2: compatible"),
    (["--cudart", "12.9", "--constraint", ">=13"], "incompatible", "cudart 12.9"),
    (["--cudart", "unknown", "--driver", "580", "--policy", "strict"], "insufficient_metadata", "cudart"),
])
def test_which_versions_go_together(world, words, outcome, message):
    words, status = [*NONE, *words], int(outcome != "compatible")
    said = plan(world, *words, status=status)
    assert set(said) == {"outcome", "message", "environment", "cudart"}
    assert said["outcome"] == outcome and message in said["message"]
    done = world.cli("plan", *words, check=False)
    assert (done.status, done.lines) == (status, [outcome, *said["message"].split("; ", 1)])


def test_the_runtime_that_is_installed(world):
    world.loader(fake("cudart", "13.5"))
    said = plan(world, status=0)
    assert (said["cudart"], said["message"]) == ("13.5", "cudart 13.5: compatible")
    # Not where versions are given: those are of another machine.
    said = plan(world, "--driver", "12.2", "--nvrtc", "none", "--nvjitlink", "none", status=0)
    assert (said["cudart"], said["outcome"]) == ("none", "compatible")
    assert plan(world, "--cudart", "13.5", "--driver", "12.2", status=1)["outcome"] == "driver_too_old"


@pytest.mark.parametrize("words", [["--cudart", "x"], ["--cudart"], ["--cudart="],
                                   ["--cudart", "12.9", "--arch", "sm_80", "a file"]])
def test_a_wrong_cudart(world, words):
    (world.root / "a file").write_text(ptx())
    assert world.cli("plan", *words, check=False).status == 2
    assert world.cli("link", "--cudart", "12.9", check=False).status == 2


# ---- wrong usage ----

@pytest.mark.parametrize("words, why", [
    (["--driver", "twelve", "k.ptx"], "--driver twelve: give a version of CUDA"),
    (["--nvjitlink", "12.4.x", "k.ptx"], "--nvjitlink 12.4.x: give a version"),
    (["--policy", "lax", "k.ptx"], "--policy lax: give strict, best_effort or off; the default is best_effort"),
])
def test_wrong_usage_is_status_2(world, file, words, why):
    path = file("k.ptx", ptx())
    done = world.cli("plan", *[path if word == "k.ptx" else word for word in words], check=False)
    assert done.status == 2 and done.out == ""
    assert why in done.err and "usage: lazycuda plan" in done.err


@pytest.mark.parametrize("words, code", [
    ("--nvjitlink 13.5 --option -O3 --compile-option -G", "BAD_OPTION"),
    ("--nvjitlink none --setting debug --setting optimize=3", "BAD_OPTION"),
    ("--nvjitlink none --setting optimize=3 --compile-option -G", "BAD_OPTION"),
    ("--nvjitlink none --setting optimize=3 --compile-option -G --compile-option -dopt=on", None),
    ("--nvjitlink none --setting debug --setting optimize=0", None)])
def test_source_that_is_debugged_is_not_optimised(world, file, words, code):
    said = plan(world, "--driver", "none", "--nvrtc", "13.5", "--arch", "sm_80", *words.split(),
                file("k.cu", "__global__ void k() {}"), status=1 if code else 0)
    assert said["code"] == code
    assert not code or "is not optimised, by -O3; leave one out" in said["message"]
