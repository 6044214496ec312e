# SPDX-License-Identifier: MIT
"""Wheels from PyPI: retargeted, installed, and used as far as they go without a GPU, with
no CUDA and with each major; and with their own CUDA as the published ones are."""
import contextlib
import platform
import re

import pytest

import elf
import package
import published
from published_steps import check_files, fetched, for_this_python, retargeted
from published_uses import USES

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="the wheels are for x86-64")
WORLDS = ("none", "11.8", "12.9", "13.5")


@contextlib.contextmanager
def beside_it(toolkit, installed):
    """A real CUDA where pip would put it, as long as this lasts."""
    made = []
    for file in toolkit.files() if toolkit else ():
        link = installed / file.relative_to(toolkit.site)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)
        made.append(link)
    yield
    for link in made:
        link.unlink()


STUBS_FIRST = "--prefer", "stub", "--relax-requirements"

# What is printed at last: the real libraries that the process has opened, and stubs of their names.
OPENED = r"""
import re
files = set(re.findall(r"/\S*$", open("/proc/self/maps").read(), re.M))
found = {(*one.groups(), b"LAZYCUDA_1" in open(file, "rb").read()) for file in files
         for one in [re.search(r"/lib(cudart|nvrtc|nvJitLink)\.so\.(\d+)[^/]*$", file)] if one}
print("stubs:", *(".".join(one[:2]) for one in sorted(found) if one[2]))
print("opened:", *(".".join(one[:2]) for one in sorted(found) if not one[2]))
"""


@pytest.mark.parametrize("use", USES, ids=lambda use: use.wheel)
def test_used(use, retarget, tmp_path, world, real):
    wheel, beside = fetched(use.wheel), [fetched(wheel) for wheel in use.beside]
    if not all(map(for_this_python, (wheel, *beside))):
        pytest.skip(f"{use.wheel} is for Python {published.PYTHON}")
    made, said = retargeted(retarget, wheel, *(STUBS_FIRST if use.bundles else ()))
    if use.tag:
        assert package.show(made)[1] == use.tag
    python = package.environment(tmp_path / "venv", made, *beside)
    site = package.site_packages(python)
    files = [site / re.sub(r"^[^/]*\.data/purelib/", "", file["file"]) for file in said["files"]]
    check_files(files, site, said)
    assert use.built_for in {int(found[1]) for file in said["files"] for change in file["replaced"]
                             if (found := re.search(r"\.so\.(\d+)", change["needed"]))}
    for version in WORLDS:
        with beside_it(version != "none" and real(version), site):
            done = world.run(python, "-I", "-c", use.code + OPENED, check=False)
        assert done.status == 0, done.out + done.err
        assert re.search(use.expected(version), done.out + done.err), done.out + done.err
        major = version.partition(".")[0]
        opened, = [line for line in done.lines if line.startswith("opened:")]
        more = set(opened.split()[1:]) - {
            f"{library}.{major}" for library in use.loads if version != "none"}
        # Its own is there with the file that needs it.
        assert not more or not use.bundles and major == str(use.built_for), done.out
        assert version == "none" or len(opened.split()) - 1 == len(use.loads) + len(more), done.out
    if not use.bundles:
        own = real(next(version for version in WORLDS[1:] if version.startswith(f"{use.built_for}.")))
        as_published(use, world, python, own, wheel, files)


def as_published(use, world, python, own, wheel, files):
    """With its own CUDA the wheel does the same as before it was retargeted, on the same files."""
    def run():
        folders = dict.fromkeys(str(file.parent) for file in own.files())
        path = ":".join([*folders, world.env.get("LD_LIBRARY_PATH", "")])
        done = world.run(python, "-I", "-c", use.code + OPENED, check=False, LD_LIBRARY_PATH=path)
        said = re.sub(r"stubs:.*\n", "", re.sub("0x[0-9a-f]+", "ADDRESS", done.out + done.err))
        return done.status, said, re.search(r"stubs:(.*)", done.out)
    *mine, stubs = run()
    # A DT_RPATH leads to the stub before LD_LIBRARY_PATH is heeded; it serves by the same library.
    assert bool(stubs and stubs[1].split()) == any("RPATH" in elf.dynamic(file) for file in files)
    package.install(python, "--force-reinstall", wheel)
    assert run()[:2] == tuple(mine)
