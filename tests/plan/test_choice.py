# SPDX-License-Identifier: MIT
"""Which entry of a container is taken, and in what form."""
import pytest

# The shape for which display driver 526.67 loaded the wrong entry.
SHAPE = "{ptx 8.0 sm_52/lto 12.0 sm_52/lto 12.0 sm_61}"
HAVE = "driver=12.4 nvjitlink=12.4"
DRIVER = "driver=12.4 nvjitlink=none"


def test_the_reason_names_the_entry_its_neighbours_and_why(ask):
    assert ask(f"{HAVE} lto arch=sm_86", f"k:{SHAPE}").reasons == \
        ["lto sm_61 of {ptx sm_52, lto sm_52, lto sm_61}: the highest not above sm_86"]
    assert ask(f"{HAVE} lto arch=sm_61", f"k:{SHAPE}").reasons == \
        ["lto sm_61 of {ptx sm_52, lto sm_52, lto sm_61}: just for sm_61"]
    assert ask(f"{HAVE} arch=sm_86", "k:{ptx 8.0 sm_80}").reasons == \
        ["ptx sm_80 of {ptx sm_80}: the only one"]
    assert ask(f"{HAVE} arch=sm_86", "k:ptx 8.0 sm_80").reasons == ["the only code in it"]


@pytest.mark.parametrize("words, code, entry", [
    # with optimisation the highest LTO-IR; else the PTX alone
    (f"{HAVE} lto arch=sm_52", SHAPE, 1), (f"{HAVE} arch=sm_86", SHAPE, 0), (f"{DRIVER} arch=sm_86", SHAPE, 0),
    # cubins before PTX, the exact one before a lower one
    (f"{HAVE} arch=sm_86", "{cubin 12.0 sm_80/cubin 12.0 sm_86/ptx 8.0 sm_86}", 1),
    (f"{HAVE} arch=sm_89", "{cubin 12.0 sm_80/cubin 12.0 sm_86/ptx 8.0 sm_80}", 1),
    (f"{HAVE} arch=sm_90", "{cubin 12.0 sm_80/cubin 12.0 sm_86/ptx 8.0 sm_80}", 2),
    # the highest PTX that is not above the target
    (f"{HAVE} arch=sm_89", "{ptx 8.0 sm_90/ptx 8.0 sm_80/ptx 8.0 sm_52}", 1),
    # an exact variant before the plain one
    (f"{HAVE} arch=sm_90a", "{ptx 8.0 sm_90a/ptx 8.0 sm_90}", 0),
    (f"{HAVE} arch=sm_90", "{ptx 8.0 sm_90a/ptx 8.0 sm_90}", 1),
    # of two alike the last
    (f"{HAVE} arch=sm_80", "{ptx 8.0 sm_80/ptx 8.0 sm_80}", 1),
    # nvJitLink alone fails at each of these: it looks at the architecture only
    (f"{HAVE} arch=sm_90", "{ptx 8.0 sm_80/ptx 9.0 sm_90}", 0),
    (f"{HAVE} arch=sm_80", "{cubin 13.0 sm_80/ptx 8.0 sm_80}", 1),
    (f"{HAVE} arch=sm_80 lto", "{lto 12.9 sm_80/ptx 8.0 sm_80}", 1),
    (f"{HAVE} arch=sm_80 lto", "{lto 12.9 sm_80/lto 12.0 sm_52}", 1),
    # linked cubins are dropped by the linker
    (f"{HAVE} arch=sm_80", "{cubin 12.0 sm_80 linked/ptx 8.0 sm_80}", 1),
    # what is of no use is passed over
    (f"{HAVE} arch=sm_80", "{ptx 8.0 sm_80 damaged/ptx 8.0 sm_52}", 1),
    (f"{HAVE} arch=sm_80", "{unknown ? sm_80/optixir ? sm_80/ptx 8.0 sm_52}", 2),
    # what is sure to be taken before what may be
    (f"{HAVE} arch=sm_80", "{cubin ? sm_80 zstd unseen/ptx 8.0 sm_80}", 1),
    (f"{HAVE} arch=sm_80 lto", "{lto 12.5 sm_80 obfuscated/lto 12.0 sm_52/ptx 8.0 sm_80}", 1),
    # on the driver, too
    (f"{DRIVER} arch=sm_86", "{cubin 12.0 sm_80/cubin 12.0 sm_86/ptx 8.0 sm_86/lto 12.0 sm_86}", 1),
    (f"{DRIVER} arch=sm_90", "{ptx 8.0 sm_80/ptx 9.0 sm_90/lto 12.0 sm_90}", 0),
    (f"{DRIVER} arch=sm_90", "{ptx 8.0 sm_80/ptx 8.0 sm_90 zstd unseen}", 0),
])
def test_an_entry_is_chosen(ask, words, code, entry):
    plan = ask(words, f"k:{code}")
    assert plan.code == "OK", plan.message
    assert plan.steps[0].startswith(f"input 0 entry {entry} ")


def test_a_better_entry_that_cannot_be_taken_is_named(ask):
    assert ask(f"{HAVE} arch=sm_90", "k:{ptx 8.0 sm_80/ptx 9.0 sm_90}").reasons == \
        ["ptx sm_80 of {ptx sm_80, ptx sm_90}: the highest not above sm_90"
         " (not ptx sm_90: PTX_TOO_NEW)"]
    assert ask(f"{HAVE} arch=sm_80 lto", "k:{lto 12.9 sm_80/ptx 8.0 sm_80}").reasons == \
        ["ptx sm_80 of {lto sm_80, ptx sm_80}: just for sm_80 (not lto sm_80: LTOIR_TOO_NEW)"]


def test_every_container_of_a_file_is_chosen_from(ask):
    plan = ask(f"{HAVE} arch=sm_80", "k:+is=object;{ptx 8.0 sm_80/ptx 8.0 sm_52}/{cubin 12.0 sm_80}")
    assert plan.steps == ["input 0 entry 0 ptx as_is", "input 0 entry 2 cubin as_is"]


def test_every_member_of_an_archive_is_an_input_with_its_name(ask):
    plan = ask(f"{HAVE} arch=sm_80", "lib.a:+is=archive;ptx 8.0 sm_80 member=a.o/"
               "{ptx 8.0 sm_52 member=b.o/ptx 8.0 sm_80 member=b.o}/cubin 12.0 sm_80 member=c.o")
    assert plan.steps == ["input 0 entry 0 ptx as_is", "input 0 entry 2 ptx as_is",
                          "input 0 entry 3 cubin as_is"]
    assert plan.names == ["lib.a(a.o)", "lib.a(b.o)", "lib.a(c.o)"]


def test_of_a_linked_program_the_relocatable_code_is_taken(ask):
    code = ("k:+is=shared;{cubin 12.0 sm_80 linked section=.nv_fatbin}/"
            "{ptx 8.0 sm_80 section=__nv_relfatbin}")
    plan = ask(f"{HAVE} arch=sm_80", code)
    assert plan.steps == ["input 0 entry 1 ptx as_is"]
    assert "only what is in __nv_relfatbin is taken" in plan.notes[0]
    # an object is not linked yet: what is in it is all there
    assert ask(f"{HAVE} arch=sm_80", code.replace("shared", "object")).code == "LINKED_CUBIN"


def test_a_container_with_ltoir_alone_asks_for_lto(ask):
    plan = ask(f"{HAVE} arch=sm_80", "k:{lto 12.0 sm_80}", "h:ptx 8.0 sm_80")
    assert plan.options == ["-arch=sm_80", "-lto"] and plan.lto == "1"
    # also where what is beside it is for another target, or for newer linkers
    for code in ("{ptx 8.0 sm_90/lto 12.0 sm_80}", "{cubin 12.0 sm_80 linked/lto 12.0 sm_80}",
                 "{ptx 9.0 sm_80/lto 12.0 sm_80}"):
        assert ask(f"{HAVE} arch=sm_80", f"k:{code}").options == ["-arch=sm_80", "-lto"]
    # not where only the driver takes what is beside it
    newer = ask("driver=12.9 nvjitlink=12.4 arch=sm_80", "k:{ptx 8.8 sm_80/lto 12.0 sm_80}")
    assert (newer.decision, newer.steps) == ("driver", ["input 0 entry 0 ptx as_is"])


# ---- in what form ----

@pytest.mark.parametrize("nvjitlink, code, step", [
    ("12.4", "{ptx 8.0 sm_80 lz4}", "ptx unpacked"),
    ("12.4", "{ptx 8.0 sm_80 zstd}", "ptx unpacked"),
    ("none", "{ptx 8.0 sm_80 lz4}", "ptx unpacked"),	# the driver gets no container
    ("12.0", "{ptx 8.0 sm_80 zstd}", "ptx unpacked"),	# 12.0 crashes on the container
    ("12.4", "{cubin 12.0 sm_80 lz4}", "cubin unpacked"),
    ("12.0", "{ptx 8.0 sm_80 lz4 unseen}", "fatbin fatbin"),
    ("12.4", "{ptx 8.0 sm_80 zstd unseen}", "fatbin fatbin"),
    ("12.4", "{lto 12.0 sm_80 obfuscated}", "fatbin fatbin"),
    ("12.4", "{lto 12.0 sm_80}", "ltoir as_is"),
    ("12.4", "{lto 12.0 sm_80 lz4}", "ltoir unpacked"),
])
def test_a_payload_is_unpacked_here_or_handed_over_in_a_fatbin_of_its_own(ask, nvjitlink, code,
                                                                        step):
    plan = ask(f"policy=off driver=12.4 nvjitlink={nvjitlink} arch=sm_80", f"k:{code}")
    assert plan.steps == [f"input 0 entry 0 {step}"], plan.message
