# SPDX-License-Identifier: MIT
"""The bundle in a minimal Debian: no compiler, no Python and no device, for root and for an
ordinary user; with Debian's driver, and with what is essential alone, a libc and sh."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import build

spec = importlib.util.spec_from_file_location("distributions", build.TESTS / "distributions.py")
distributions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(distributions)

DRIVER = ("libcuda1", "libnvidia-ml1")
PLACE = "/opt/a place"
USERS = {"root": 0, "user": 1000}
# Without a device these are shown all the same; the last two need a driver.
ANYWHERE = {"texts", "dispatch"}
# cudart 13.5 is in C++.
SKIPPED = "no device|no driver|without nvcc|cudart 13.5 cannot be loaded here: libstdc"
WITH_DRIVER = ANYWHERE | {"names", "nvml"}


@pytest.fixture(scope="module")
def bundle():
    if os.geteuid():
        pytest.skip("a root of Debian is made and entered as root here")
    if not shutil.which("mmdebstrap"):
        pytest.skip("there is no mmdebstrap (Debian: apt install mmdebstrap)")
    if not distributions.this_cpu():
        pytest.skip(f"no Debian is known for {build.ARCH}")
    build.make("gpu-bundle")
    return build.BUILD / "lazycuda-gpu.tar.gz"


@pytest.fixture
def root(bundle, tmp_path):
    """root(RELEASE, packages): the folder of such a Debian, with the bundle in it."""
    made = []

    def root(release, packages=()):
        variant = "minbase" if packages else "essential"
        cached = build.BUILD / "tests" / "roots" / f"{'-'.join([release, variant, *packages])}.tar"
        cached.parent.mkdir(parents=True, exist_ok=True)
        if not cached.exists():
            log = tmp_path / "log"
            why = distributions.bootstrap(distributions.this_cpu(), release, cached, packages, log,
                                          components="main,contrib,non-free", variant=variant)
            if why:
                pytest.skip(f"mmdebstrap: {why}")
        folder = tmp_path / "root"
        made.append(folder)
        (folder / PLACE[1:]).mkdir(parents=True)
        unpack = ["tar", "-C", folder, "--numeric-owner", "--exclude=./dev/*", "-xf", cached]
        subprocess.run(unpack, check=True)
        subprocess.run(["tar", "-C", folder / PLACE[1:], "-xf", bundle], check=True)
        return folder
    yield root
    for folder in made:     # pytest keeps the folders of tests that failed: this one is large
        shutil.rmtree(folder, ignore_errors=True)


def run(folder, user, *claims):
    """[passed, failed, skipped] and the lines, of that user's run.sh."""
    words = ["env", "-i", "PATH=/usr/bin:/bin", "setpriv", f"--reuid={user}", f"--regid={user}",
             "--clear-groups", "sh", f"{PLACE}/lazycuda-gpu/run.sh", *claims]
    process = distributions.start(
        distributions.this_cpu(), distributions.MOUNTS + distributions.CHROOT, folder, *words,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = process.communicate(timeout=400)[0].splitlines()
    numbers = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", said[-1])
    return [int(number) for number in numbers.groups()], said[:-1]


def passed(lines):
    return {line.split()[1].rstrip(":") for line in lines if line.startswith("pass ")}


@pytest.mark.parametrize("release", ["bookworm", "trixie"])
@pytest.mark.parametrize("packages", [(), DRIVER], ids=["bare", "with-driver"])
def test_what_needs_a_device_is_skipped_and_the_rest_passes(root, release, packages):
    folder = root(release, packages)
    for tool in ("cc", "gcc", "python3", "make"):
        assert not (folder / "usr" / "bin" / tool).exists()
    for user in USERS.values():
        numbers, lines = run(folder, user)
        assert numbers[1] == 0 and numbers[0] >= (9 + len(packages) if packages else 7), lines
        assert passed(lines) == (WITH_DRIVER if packages else ANYWHERE)
        for line in lines:
            assert line.startswith("pass ") or re.search(SKIPPED, line), line


def test_on_an_older_glibc_it_says_so(root):
    programs = sorted((build.BUILD / "gpu" / "lazycuda-gpu" / "bin").glob("*"))
    needed = {version for path in programs if path.is_file()
              for version in re.findall(rb"GLIBC_2\.(\d+)", pathlib.Path(path).read_bytes())}
    if max(map(int, needed)) <= 31:
        pytest.skip("what is made here runs on the glibc of bullseye")
    numbers, (line,) = run(root("bullseye"), 0)
    assert numbers == [0, 1, 0]
    assert re.match("fail bundle: its programs do not run here: .*GLIBC_2", line)
