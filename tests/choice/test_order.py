# SPDX-License-Identifier: MIT
"""Of the majors that serve all stubs, the one that lies nearest to the callers: the rule as a table, some
rows of which are also made of files."""
import itertools
import shutil

import pytest

import build
from choosing import FOUND, choose, candidate, used
from fakes import builtins, driver, fake
from world import user

CALLER, SHELL, PROCESS, MACHINE = range(4)      # enum lc_tier

# {stub: {major: its tiers}}, the major with LAZYCUDA_ORDER=near, highest, and own for callers of 12.
ROWS = {
    "beside each other": (dict(cudart={13: CALLER, 12: CALLER}), 13, 13, 12),
    "12 for the caller": (dict(cudart={13: MACHINE, 12: CALLER}), 12, 13, 12),
    "13 for the caller": (dict(cudart={13: CALLER, 12: MACHINE}), 13, 13, 12),
    "13 in the shell, 12 for the caller": (dict(cudart={13: SHELL, 12: CALLER}), 12, 13, 12),
    "13 in the shell, 12 for others": (dict(cudart={13: SHELL, 12: PROCESS}), 13, 13, 12),
    "12 for others, 13 on the machine": (dict(cudart={13: MACHINE, 12: PROCESS}), 12, 13, 12),
    "11 and 12 on the machine": (dict(cudart={12: MACHINE, 11: MACHINE}), 12, 12, 12),
    "only one of 12 near": (dict(cudart={13: MACHINE, 12: CALLER}, nvrtc={13: MACHINE, 12: MACHINE}),
                            12, 13, 12),
    "a stray 13 near": (dict(cudart={13: MACHINE, 12: CALLER}, nvrtc={13: CALLER, 12: CALLER}), 12, 13, 12),
    "each has one near": (dict(cudart={13: MACHINE, 12: CALLER}, nvrtc={13: CALLER, 12: MACHINE}),
                          13, 13, 12),
    "the next tier decides": (dict(cudart={13: CALLER, 12: CALLER}, nvrtc={13: MACHINE, 12: PROCESS}),
                              12, 13, 12),
    "of 12 one is nowhere": (dict(cudart={13: MACHINE, 12: CALLER}, nvrtc={13: MACHINE}), 13, 13, 13),
    "one stub has nothing": (dict(cudart={13: MACHINE, 12: CALLER}, nvrtc={}), 12, 13, 12),
    "none is for all": (dict(cudart={12: CALLER}, nvrtc={13: MACHINE}), 12, 13, 12),
    # ld.so comes to the shell's first, and the caller has one, too.
    "12 in both": (dict(cudart={13: SHELL, 12: (SHELL, CALLER)}), 12, 13, 12),
}


def candidates(majors):
    return [candidate(FOUND, major, tier=tier) for major, tiers in majors.items()
            for tier in (tiers if isinstance(tiers, tuple) else (tiers,))]


def common(voters, **circumstances):
    """The process's major, whoever asks and in whatever order."""
    said = {choose({name: voters[name] for name in order}, own, callers=[12], **circumstances)[0][4]
            for order in itertools.permutations(voters) for own in order}
    major, = said
    return major


@pytest.mark.parametrize("voters, near, highest, own", ROWS.values(), ids=ROWS)
def test_the_rule(voters, near, highest, own):
    voters = {name: candidates(majors) for name, majors in voters.items()}
    assert {order: common(voters, order=order) for order in ("near", "highest", "own")} == {
        "near": near, "highest": highest, "own": own}


NEAR_12 = [candidate(FOUND, 12, tier=CALLER)]
FAR_13 = [candidate(FOUND, 13, tier=MACHINE)]


@pytest.mark.parametrize("near, far, circumstances, major", [
    # What does not serve is not taken for lying near.
    (dict(refuses=1), {}, {}, 13),
    (dict(lacks="its builtins are not there"), {}, {}, 13),
    (dict(lacks="its builtins are not there"), dict(refuses=1), {}, 12),
    (dict(unusable="is damaged"), {}, {}, 13),
    # The driver is a preference.
    ({}, {}, dict(driver=1104), 12),
    ({}, {}, dict(driver=1104, order="highest"), 13),
    ({}, {}, dict(driver=1202, order="highest"), 12),
    # The user's words go before all.
    ({}, {}, dict(major=13), 13),
    ({}, {}, dict(constraint=">=13"), 13),
    ({}, {}, dict(agreed=13), 13),
])
def test_what_goes_before_nearness(near, far, circumstances, major):
    voters = dict(cudart=[candidate(FOUND, 12, tier=CALLER, **near), candidate(FOUND, 13, tier=MACHINE, **far)])
    assert common(voters, **circumstances) == major


def test_what_is_said_of_it():
    said, why = choose(dict(cudart=FAR_13 + NEAR_12))
    assert said[2] == "CUDA 12 lies nearer to the callers than CUDA 13"
    assert why[0] == "CUDA 12 was chosen"
    said, _ = choose(dict(cudart=FAR_13 + NEAR_12), order="own", callers=[12])
    assert said[2] == "LAZYCUDA_ORDER=own, and callers were compiled for CUDA 12"


def test_a_compiler_does_not_ask_the_driver():
    """One that is too old for all is named, and the library answers for itself."""
    said, _ = choose(dict(cudart=FAR_13), driver=1202)
    assert said[:2] == (0, "taken")
    assert said[2].endswith("; the installed driver supports CUDA 12.2 and cannot run CUDA 13")
    for compiler in ("nvrtc", "nvJitLink"):
        said, _ = choose({compiler: FAR_13}, driver=1202)
        assert said[1:3] == ("taken", "the highest CUDA major that serves all stubs here")
        assert said[3] == "00"
        assert choose({compiler: FAR_13}, driver=1202, guard="strict")[0][1] == "driver"


def test_the_order_of_first_calls_changes_nothing():
    files = [candidates({major: tier for major, tier in zip((13, 12), tiers) if tier is not None})
             for tiers in itertools.product((None, CALLER, MACHINE), repeat=2)]
    for three in itertools.product(files, repeat=3):
        voters = dict(zip(("cudart", "nvrtc", "nvJitLink"), three))
        outcomes = [used(voters, order, told=voters) for order in itertools.permutations(voters)]
        assert all(outcome == outcomes[0] for outcome in outcomes), (voters, outcomes)


def test_what_is_mixed_does_not_hang_on_it_either():
    """Beside CUDA 11 nvJitLink reads what nvrtc 11 writes, whichever nvrtc else there is."""
    voters = dict(cudart=candidates({11: CALLER}), nvrtc=[candidate(FOUND, 13, 1305), candidate(FOUND, 11, 1108)],
                 nvJitLink=[candidate(FOUND, 13, 1300, latest=1300), candidate(FOUND, 12, 1200, latest=1200)])
    assert {used(voters, order, told=voters)["nvJitLink"][1] for order in itertools.permutations(voters)} == {13}


# ---- made of files ----

@pytest.fixture
def taken(world):
    """The versions after loading in each order, where 12 and 13 lie in these places."""
    def taken(near, far, libraries=("cudart", "nvrtc"), order=None, **env):
        for place, version in ((near, "12.9"), (far, "13.5")):
            for library in libraries:
                world.put(place, fake(library, version))
        files = []
        for library in libraries:
            file = user(library=library, runpath=f"{world.root}/runpath")
            files.append(world.folder("bin") / f"lib{library}_user.so")
            shutil.copy(file, files[-1])
        world.search(build.STUBS)
        opened = [f"open:{file}" for file in files] + ([f"order:{order}"] if order else [])
        said = {tuple(one["version"] for one in world.probe(
                    *opened, *[f"load:{name}" for name in names],
                    *[f"status:{name}" for name in libraries], **env)[-len(libraries):])
                for names in itertools.permutations(libraries)}
        versions, = said
        return set(versions)
    return taken


@pytest.mark.parametrize("far, variable", [("shell", "LD_LIBRARY_PATH"), ("toolkit/lib64", "CUDA_HOME"),
                                           ("sites/nvidia/cu13/lib", "PYTHONPATH")])
def test_what_the_caller_has_goes_before_what_the_shell_says(world, taken, far, variable):
    above = {"CUDA_HOME": "toolkit", "PYTHONPATH": "sites"}.get(variable, far)
    env = {variable: f"{world.root}/{above}" + (f":{build.STUBS}" if above == far else "")}
    assert taken("runpath", far, **env) == {"12.9"}
    assert taken("runpath", far, LAZYCUDA_ORDER="highest", **env) == {"13.5"}
    assert taken("runpath", far, order="highest", **env) == {"13.5"}
    # The user has the last word.
    assert taken("runpath", far, order="highest", LAZYCUDA_ORDER="near", **env) == {"12.9"}


def test_the_major_that_callers_were_compiled_for(world, taken):
    env = {"CUDA_HOME": world.root / "toolkit"}
    assert taken("toolkit/lib64", "runpath", **env) == {"13.5"}
    assert taken("toolkit/lib64", "runpath", LAZYCUDA_ORDER="own", **env) == {"12.9"}


def test_an_nvrtc_without_its_builtins(world, taken):
    """A far one that has them goes before; where none has, they are no reason."""
    world.folder("toolkit/lib64")
    (world.root / "toolkit/lib64/libnvrtc-builtins.so.13.5").touch()
    assert taken("runpath", "toolkit/lib64", CUDA_HOME=world.root / "toolkit") == {"13.5"}
    (world.folder("runpath") / "libnvrtc-builtins.so.12.9").touch()
    assert taken("runpath", "toolkit/lib64", CUDA_HOME=world.root / "toolkit") == {"12.9"}
    # Beside one of a file's paths is enough: uv and pip link files.
    (world.folder("linked") / "libnvrtc.so.12").hardlink_to(world.root / "runpath/libnvrtc.so.12")
    assert taken("runpath", "toolkit/lib64", CUDA_HOME=world.root / "toolkit",
                 LAZYCUDA_PATH=world.root / "linked") == {"12.9"}


@pytest.mark.parametrize("listed", [False, True])
def test_builtins_that_ld_so_finds_elsewhere(world, taken, listed):
    """As where somebody has linked nvrtc alone into a folder of his own."""
    world.put("toolkit/lib64", builtins("13.5"))
    folder = world.put("elsewhere", builtins("12.9"))
    if listed:
        world.cached(folder)
    else:
        world.search(folder)
    assert taken("runpath", "toolkit/lib64", CUDA_HOME=world.root / "toolkit") == {"12.9"}


@pytest.mark.parametrize("wrong", ["nearest", "13", "NEAR", "near,own"])
def test_a_wrong_order_is_an_error(world, wrong):
    world.loader(fake("cudart", "12.9"))
    status = world.status(LAZYCUDA_ORDER=wrong)
    assert status["state"] == "broken"
    assert status["reason"] == (f"LAZYCUDA_ORDER={wrong} is not an order: use near, highest or own,"
                                " or unset it")
    said = world.probe("stub:cudart", f"order:{wrong}", "order:own", "load", "status:cudart")
    assert [one["order"] for one in said[1:3]] == [-1, 0]


def test_a_driver_that_is_too_old_for_all_refuses_nothing(world):
    """It is the library that answers, as it would directly."""
    for library in build.LIBRARIES:
        world.loader(fake(library, "13.5"))
    world.loader(driver("12.2"), folder="driver")
    said = world.statuses("cudart", "nvrtc", "nvJitLink")
    assert [one["version"] for one in said.values()] == ["13.5"] * 3
    assert "cannot run CUDA 13" in said["cudart"]["reason"]
    said = world.statuses("cudart", "nvrtc", "nvJitLink", LAZYCUDA_GUARD="strict")
    assert [one["cause"] for one in said.values()] == [4] * 3
