# SPDX-License-Identifier: MIT
"""Of all nvJitLinks and nvrtcs that are installed, the first that fits the link."""
import pytest

OLD = "k:ptx 7.0 sm_60"
BOTH = "nvjitlink=13.0 nvjitlinks=12.9 nvrtc=13.0 nvrtcs=12.9"
SWAPPED = "nvjitlink=12.9 nvjitlinks=13.0 nvrtc=12.9 nvrtcs=13.0"
LTO_12 = "k:lto 12.9 sm_80"
SOURCE = "k.cu:source"


@pytest.mark.parametrize("installed", [BOTH, SWAPPED])
@pytest.mark.parametrize("words, text, version", [
    ("arch=sm_60", OLD, 12090), ("arch=sm_110", "k:ptx 9.0 sm_110", 13000),
    ("arch=sm_80 lto", LTO_12, 12090), ("arch=sm_80 lto", "k:lto 13.0 sm_80", 13000),
    ("arch=sm_80", "k:cubin 13.0 sm_80", 13000), ("arch=sm_60", SOURCE, 12090),
    ("arch=sm_110", SOURCE, 13000), ("arch=sm_80 output=relocatable", OLD, 13000),
    ("arch=sm_80 constraint=<13", OLD, 12090), ("arch=sm_80 constraint=>=13", SOURCE, 13000),
])
def test_what_the_link_needs_decides(ask, installed, words, text, version):
    plan = ask(f"driver=none {installed} {words}", text)
    assert (plan.decision, plan.code, int(plan.nvjitlink)) == ("nvjitlink", "OK", version)
    if text == SOURCE:
        assert int(plan.nvrtc) == version
    assert (plan.choice is None) == (int(plan.nvjitlink) == (13000 if installed == BOTH
                                                             else 12090))


def test_the_first_is_taken_where_both_fit(ask):
    for installed, version in ((BOTH, 13000), (SWAPPED, 12090)):
        plan = ask(f"driver=none {installed} arch=sm_80", OLD)
        assert (int(plan.nvjitlink), plan.choice) == (version, None)


def test_the_choice_is_told(ask):
    plan = ask(f"driver=none {BOTH} arch=sm_80 lto", LTO_12)
    assert plan.choice.startswith("nvJitLink 12.9, not 13.0: k: ")
    plan = ask(f"driver=none {BOTH} arch=sm_60", SOURCE)
    assert plan.choice == "nvJitLink 12.9 and nvrtc 12.9, not 13.0: nvJitLink 13.0 does not " \
        "link for sm_60; take nvJitLink 12.9 or earlier"
    plan = ask("driver=none nvjitlink=13.0 nvrtc=12.8 nvrtcs=12.9 arch=sm_100f", SOURCE)
    assert plan.choice.startswith("nvrtc 12.9, not 12.8: k.cu: nvrtc 12.8 cannot compile for sm_100f;")


def test_what_the_driver_loads_decides(ask):
    """With a driver of 12 a later nvJitLink's image would not load, and one of 12 is there."""
    plan = ask(f"driver=12.4 branch=550 {BOTH} arch=sm_80 lto", "k:ptx 8.0 sm_80")
    assert (plan.decision, plan.rule, plan.nvjitlink) == ("nvjitlink", "B6", "12090")


@pytest.mark.parametrize("words, decision, rule", [
    ("lto flags=offline", "nvjitlink", "B9o"), ("flags=forward output=relocatable", "nvjitlink", "B9o"),
    ("lto", "refused", "B15"),
    ("policy=off", "nvjitlink", "O1"), ("", "driver", "B13")])
def test_one_that_the_stub_refuses_for_the_driver_can_be_used_elsewhere(ask, words, decision,
                                                                         rule):
    plan = ask(f"driver=12.4 branch=550 nvjitlink=none nvjitlinks=13.0 arch=sm_80 {words}",
               "k:ptx 8.0 sm_80")
    assert (plan.decision, plan.rule) == (decision, rule)
    assert plan.nvjitlink == "13000"


def test_where_none_fits_the_first_says_why(ask):
    plan = ask(f"driver=none {BOTH} arch=sm_90 lto", "k:lto 13.4 sm_90")
    assert (plan.decision, plan.code, plan.nvjitlink) == ("refused", "LTOIR_TOO_NEW", "13000")
    assert plan.choice is None
