# SPDX-License-Identifier: MIT
"""The decision tables: every row of each, written down from the published
matrix and the rules for the direction of a mismatch, not from the code."""
import ctypes
import itertools

import pytest

import build

PTX_OLD = "k:ptx 8.0 sm_80"		# every linker from 12.0 on reads it
PTX_12_9 = "k:ptx 8.8 sm_80"
PTX_13 = "k:ptx 9.0 sm_80"
LTO_12 = "k:ltoir 12.3 sm_80"
LTO_13 = "k:ltoir 13.0 sm_80"

# what is installed and asked for, the input, the outcome, the row
STRICT = [
    # the matrix of cuda-python #1911: driver, nvJitLink, needs
    ("driver=12.4 nvjitlink=none", PTX_OLD, "driver", "A1"),
    ("driver=12.4 nvjitlink=12.2", PTX_OLD, "driver", "A1"),	# below 12.3: absent
    ("driver=12.4 nvjitlink=none lto", PTX_OLD, "NVJITLINK_REQUIRED", "A2"),
    ("driver=12.4 nvjitlink=none", LTO_12, "NVJITLINK_REQUIRED", "A2"),
    ("driver=12.4 nvjitlink=12.2 lto", PTX_OLD, "NVJITLINK_TOO_OLD", "A2"),
    ("driver=12.4 nvjitlink=12.9", PTX_OLD, "nvjitlink", "A3"),
    ("driver=12.4 nvjitlink=12.9 lto", LTO_12, "nvjitlink", "A3"),
    ("driver=13.0 nvjitlink=13.0 output=ptx", LTO_13, "nvjitlink", "A3"),
    ("driver=13.0 nvjitlink=12.9", PTX_OLD, "driver", "A4"),
    ("driver=12.9 nvjitlink=13.0", PTX_OLD, "driver", "A4"),
    ("driver=13.0 nvjitlink=12.9 lto", PTX_OLD, "CROSS_MAJOR", "A5"),
    ("driver=13.0 nvjitlink=12.9", LTO_12, "CROSS_MAJOR", "A5"),
    ("driver=12.9 nvjitlink=13.0 lto", PTX_OLD, "CROSS_MAJOR", "A5"),
    ("driver=12.9 nvjitlink=13.0 output=ptx flags=offline", LTO_13, "nvjitlink", "A4o"),
    ("driver=13.0 nvjitlink=12.9 no_device", PTX_OLD, "nvjitlink", "A4o"),
    ("driver=unknown nvjitlink=12.9", PTX_OLD, "nvjitlink", "A6"),
    ("driver=none nvjitlink=12.9 lto", LTO_12, "nvjitlink", "A6"),
    ("driver=12.4 nvjitlink=unknown", PTX_OLD, "nvjitlink", "A6"),
    ("driver=unknown nvjitlink=none", PTX_OLD, "driver", "A7"),
    ("driver=none nvjitlink=12.2", PTX_OLD, "driver", "A7"),
    ("driver=unknown nvjitlink=none lto", PTX_OLD, "NVJITLINK_REQUIRED", "A8"),
    ("driver=none nvjitlink=12.2 lto", PTX_OLD, "NVJITLINK_TOO_OLD", "A8"),
    # what the chosen linker objects to
    ("driver=12.4 nvjitlink=none", PTX_13, "PTX_TOO_NEW", "A1"),
    ("driver=13.0 nvjitlink=13.0", "k:ptx 9.1 sm_80", "PTX_TOO_NEW", "A3"),
    ("driver=12.4 nvjitlink=13.0", PTX_13, "PTX_TOO_NEW", "A4"),
]

BEST_EFFORT = [
    ("driver=unknown nvjitlink=none", PTX_OLD, "NO_BACKEND", "B1"),
    ("driver=none nvjitlink=12.2", PTX_OLD, "NVJITLINK_TOO_OLD", "B1"),
    ("driver=none nvjitlink=none lto", PTX_OLD, "NVJITLINK_REQUIRED", "B2"),
    ("driver=13.0 nvjitlink=none", LTO_12, "NVJITLINK_REQUIRED", "B2"),
    ("driver=13.0 nvjitlink=12.2 lto", PTX_OLD, "NVJITLINK_TOO_OLD", "B2"),
    ("driver=12.4 nvjitlink=none", PTX_OLD, "driver", "B3"),
    ("driver=12.4 nvjitlink=12.2", PTX_OLD, "driver", "B3"),
    ("driver=12.4 nvjitlink=none", PTX_12_9, "PTX_TOO_NEW", "B4"),
    ("driver=unknown nvjitlink=12.9", PTX_OLD, "nvjitlink", "B5"),
    ("driver=none nvjitlink=unknown lto", LTO_13, "nvjitlink", "B5"),
    ("driver=none nvjitlink=12.9", PTX_13, "PTX_TOO_NEW", "B5"),
    ("driver=12.9 nvjitlink=12.9", PTX_OLD, "nvjitlink", "B6"),
    ("driver=12.4 nvjitlink=12.9", PTX_12_9, "nvjitlink", "B6"),	# minor-version compatibility
    ("driver=12.4 nvjitlink=unknown", PTX_13, "nvjitlink", "B6"),
    ("driver=12.9 nvjitlink=12.4", PTX_12_9, "driver", "B7"),
    ("driver=12.9 nvjitlink=12.4 arch=sm_100", PTX_OLD, "driver", "B7"),	# unknown to 12.4
    ("driver=12.9 nvjitlink=12.4 option=-nvvm-latest", PTX_OLD, "driver", "B7"),
    ("driver=12.4 nvjitlink=12.4", "k:ptx 8.5 sm_80", "PTX_TOO_NEW", "B8"),
    ("driver=12.9 nvjitlink=12.4 lto", PTX_12_9, "PTX_TOO_NEW", "B8"),
    ("driver=13.0 nvjitlink=12.9", PTX_OLD, "driver", "B9"),
    ("driver=13.0 nvjitlink=12.4", PTX_13, "driver", "B9"),
    ("driver=13.0 nvjitlink=12.9 option=-time", PTX_OLD, "nvjitlink", "B10"),
    ("driver=13.0 nvjitlink=12.9", "k:{lto 12.9 sm_80 obfuscated}", "nvjitlink", "B11"),
    ("driver=13.0 nvjitlink=12.9 lto", PTX_OLD, "nvjitlink", "B11"),
    ("driver=13.0 nvjitlink=12.9", LTO_12, "nvjitlink", "B11"),
    ("driver=13.0 nvjitlink=12.9", LTO_13, "LTOIR_TOO_NEW", "B12"),
    ("driver=13.0 nvjitlink=12.9 lto arch=sm_110", LTO_12, "ARCH_UNSUPPORTED", "B12"),
    ("driver=13.0 nvjitlink=12.9", "k:ptx 9.5 sm_80", "PTX_TOO_NEW", "B12"),
    ("driver=12.9 nvjitlink=13.0", PTX_OLD, "driver", "B13"),
    ("driver=12.4 nvjitlink=13.0", PTX_13, "PTX_TOO_NEW", "B14"),
    # What the driver here need not load is not linked by it, and without a device it links nothing.
    ("driver=12.4 nvjitlink=none no_device", PTX_OLD, "DRIVER_FAILED", "B4"),
    ("driver=12.9 nvjitlink=12.4 no_device", PTX_12_9, "PTX_TOO_NEW", "B8"),
    ("driver=13.0 nvjitlink=12.9 flags=offline", PTX_OLD, "nvjitlink", "B9o"),
    ("driver=13.0 nvjitlink=12.9 no_device", PTX_OLD, "nvjitlink", "B9o"),
    ("driver=12.9 nvjitlink=13.0 no_device", PTX_OLD, "nvjitlink", "B9o"),
    ("driver=12.4 nvjitlink=13.0 flags=forward", PTX_13, "nvjitlink", "B9o"),
    ("driver=12.4 nvjitlink=12.9 no_device arch=sm_120", PTX_OLD, "nvjitlink", "B6"),
    ("driver=12.9 nvjitlink=13.0 lto", PTX_OLD, "CROSS_MAJOR", "B15"),
    ("driver=12.9 nvjitlink=13.0", LTO_13, "CROSS_MAJOR", "B15"),
    ("driver=12.9 nvjitlink=13.0 flags=offline", LTO_13, "nvjitlink", "B9o"),
    ("driver=12.9 nvjitlink=13.0 flags=offline", LTO_12, "LTOIR_CROSS_MAJOR", "B15o"),
]

OFF = [
    ("driver=12.9 nvjitlink=13.0", PTX_OLD, "nvjitlink", "O1"),
    ("driver=13.0 nvjitlink=12.0 lto", "k:ltoir 12.0 sm_80", "nvjitlink", "O1"),
    ("driver=none nvjitlink=unknown", PTX_OLD, "nvjitlink", "O1"),
    ("driver=13.0 nvjitlink=12.4", PTX_13, "PTX_TOO_NEW", "O1"),
    ("driver=13.0 nvjitlink=none", PTX_OLD, "driver", "O2"),
    ("driver=13.0 nvjitlink=none", LTO_13, "LTOIR_ON_DRIVER", "O2"),
    ("driver=13.0 nvjitlink=none output=ptx", PTX_OLD, "NVJITLINK_REQUIRED", "O2"),
]


def named(row):
    return " ".join(row[:2]).replace("=", "-")


def outcome(plan):
    return plan.code if plan.decision == "refused" else plan.decision


@pytest.mark.parametrize("policy, words, code, expected, rule", [
    pytest.param(policy, *row, id=f"{policy}-{row[3]}-{named(row)}")
    for policy, rows in (("strict", STRICT), ("best_effort", BEST_EFFORT), ("off", OFF))
    for row in rows])
def test_a_row_decides_as_published(ask, policy, words, code, expected, rule):
    plan = ask(f"policy={policy} {words}", code)
    assert (outcome(plan), plan.rule) == (expected, rule), plan.message


class Situation(ctypes.Structure):
    """As in link/tables/policy.h."""
    _fields_ = [("relation", ctypes.c_int), *((name, ctypes.c_bool) for name in (
        "driver", "needs", "nvjitlink", "accepts", "elsewhere"))]


class Rule(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("numbers", ctypes.c_int * 8), ("reason", ctypes.c_char_p)]


def test_every_situation_has_a_rule_and_every_rule_a_situation():
    tables = ctypes.CDLL(build.compile("libpolicy.so", "-D_GNU_SOURCE", "-shared", "-fPIC",
                                       *build.room("link/tables", "stubs/base"), "-ldl"))
    tables.lk_policy_decide.restype = tables.lk_policy_rules.restype = ctypes.c_void_p
    absent, too_old, uncompared = 1, 2, 32
    count = ctypes.c_size_t()
    for policy, rows in enumerate((BEST_EFFORT, STRICT, OFF)):
        first = tables.lk_policy_rules(policy, ctypes.byref(count))
        reached = [tables.lk_policy_decide(policy, ctypes.byref(Situation(relation, *answers)))
                   for relation in (absent, too_old, 4, 8, 16, uncompared)
                   for answers in itertools.product((False, True), repeat=5)
                   # Two majors are compared only if both are known.
                   if answers[0] or relation in (absent, too_old, uncompared)]
        assert set(reached) == {first + i * ctypes.sizeof(Rule) for i in range(count.value)}
        assert {Rule.from_address(rule).name.decode() for rule in reached} == {row[3] for row in rows}
    assert tables.lk_policy_rules(3, ctypes.byref(count)) is None


def test_the_branch_tells_what_an_unknown_driver_did_not(ask):
    assert ask("driver=unknown branch=550 nvjitlink=none", PTX_OLD).rule == "B3"
    assert ask("driver=unknown branch=550 nvjitlink=none", PTX_12_9).code == "PTX_TOO_NEW"
    # without a driver there is none, whatever branch is said to be there
    assert ask("driver=none branch=550 nvjitlink=none", PTX_OLD).rule == "B1"
