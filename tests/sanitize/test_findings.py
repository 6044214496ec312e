# SPDX-License-Identifier: MIT
"""What a sanitizer finds fails the test that it is found by."""
import pytest

import build
from sanitizer import Sanitizer

DEFECTS = {"overrun": ("address", "heap-buffer-overflow"), "leak": ("address", "memory leaks"),
           "overflow": ("address", "AddressSanitizer: ILL"), "race": ("thread", "data race")}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(world, defect):
    sanitizer, what = DEFECTS[defect]
    if not build.SANITIZER or build.SANITIZER.name != sanitizer:
        pytest.skip(f"this is for the {sanitizer} sanitizer")
    program = build.program(build.TESTS / "sanitize" / "planted.c")
    assert world.run(program, "none").status == 0
    assert build.SANITIZER.take_findings() == ""
    assert world.run(program, defect, check=False).status == 99
    assert what in build.SANITIZER.take_findings()


TRACER = """Tracer caught signal 11: addr=0x13a8 pc=0x7f8378d660f0 sp=0x7f836072bd10
==5863==LeakSanitizer has encountered a fatal error.
==5863==HINT: For debugging, try setting environment variable LSAN_OPTIONS=verbosity=1
==5863==HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)
"""


def test_a_sanitizer_that_broke_down_has_found_nothing():
    broke_down = Sanitizer.broke_down
    assert broke_down(TRACER) and broke_down(TRACER * 2)
    assert not broke_down(TRACER + "==1==ERROR: AddressSanitizer: heap-use-after-free\n")
    assert not broke_down("==1==ERROR: LeakSanitizer: detected memory leaks\n" + TRACER)
    assert not broke_down("")
