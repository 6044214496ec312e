# SPDX-License-Identifier: MIT
"""Programs linked against real libraries run on the stubs after their DT_NEEDED
entries alone are changed."""
import pytest

import build
import elf
import toolkits
from clients import answers, linked


@pytest.fixture
def retargeted(world, patchelf, real):
    """retargeted("12.9"): that program, repointed, in the world."""
    def make(version):
        program = world.put("bin", linked(real(version))) / f"client-{version}"
        for library in build.LIBRARIES:
            soname = next((s for s in elf.dynamic(program)["NEEDED"]
                           if s.startswith(f"lib{library}.so")), None)
            if soname:
                # One change in one call: some patchelfs spoil a file otherwise.
                patchelf("--replace-needed", soname, f"lib{library}_stub.so", program)
        assert not [s for s in elf.dynamic(program)["NEEDED"] if "_stub" not in s and
                    s.startswith(("libcudart", "libnvrtc", "libnvJitLink"))]
        world.search(build.STUBS)
        return program
    return make


@pytest.mark.parametrize("linked_with", toolkits.linked())
def test_on_every_real_version(world, retargeted, toolkit, linked_with):
    program = retargeted(linked_with)
    for file in toolkit.files():
        world.search(file.parent)
    said = answers(world.run(program))
    number = 1000 * toolkit.major + 10 * toolkit.minor
    # Without a GPU the runtime of 11 does not tell its version.
    assert said["runtime"] == (f"0 {number}" if toolkit.major > 11 else said["runtime"])
    assert said["runtime"].split()[0] in ("0", "35")
    assert said["driver"] == "0 0"
    assert said["devices"] == "35 cudaErrorInsufficientDriver"
    assert said["malloc"] == "35"
    assert said["nvrtc"] == f"0 {toolkit.version} ok"
    assert said["program"] == "0 0"
    if "link" in said:
        assert said["link"] == ("0 0" if toolkit.file("nvJitLink") else "6 0")
    # Its struct grew from 24 to 88 bytes in 13.0: the caller's has 24.
    assert said["attributes"].endswith("intact")


@pytest.mark.parametrize("linked_with", toolkits.linked())
def test_it_answers_as_it_did_before(world, retargeted, real, linked_with):
    # On the very toolkit it was linked with, and where ld.so found that.
    toolkit = real(linked_with)
    for file in toolkit.files():
        world.search(file.parent)
    before = world.run(linked(toolkit)).out
    assert world.run(retargeted(linked_with)).out == before


def test_bind_now(world, retargeted, real):
    # 205 of 1,650 published files are linked so.
    toolkit = real("12.9")
    for file in toolkit.files():
        world.search(file.parent)
    said = answers(world.run(retargeted("13.5"), LD_BIND_NOW="1"))
    assert said["nvrtc"] == "0 12.9 ok"
