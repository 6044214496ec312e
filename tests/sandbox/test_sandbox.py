# SPDX-License-Identifier: MIT
"""A machine without CUDA has to be made, and made sure of: in both ways that the sandbox has."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import build
import world as worlds
from fakes import driver, fake

HERE = pathlib.Path(__file__).resolve().parent
SONAMES = [f"lib{name}" for name in (
    "cudart.so", "cudart.so.11.0", "cudart.so.12", "cudart.so.13", "nvrtc.so.11.2",
    "nvrtc.so.12", "nvrtc.so.13", "nvJitLink.so.12", "nvJitLink.so.13", "cuda.so.1",
    "nvidia-ml.so.1")]
LIB = f"/usr/lib/{build.ARCH}-linux-gnu"
WAYS = ("namespace", "supervised")


@pytest.fixture(autouse=True, params=WAYS)
def way(request, monkeypatch):
    monkeypatch.setitem(worlds.SANDBOX_ENVIRONMENT, "LAZYCUDA_TEST_SANDBOX", request.param)
    return request.param


def opened(world):
    return {line["open"] for line in world.probe(*[f"open:{name}" for name in SONAMES])
            if line["error"] is None}


def plain(*words, **env):
    """The sandbox as it is, with this environment."""
    done = subprocess.run([worlds.sandbox(), *words], capture_output=True, text=True, cwd="/",
                          env={**worlds.SANDBOX_ENVIRONMENT, **env}, timeout=60)
    if done.returncode == 77 and "without one" not in done.stderr:
        pytest.skip(done.stderr.strip())
    return done


# ---- what is not there ----

def test_no_cuda_soname_can_be_loaded(world):
    assert opened(world) == set()


def test_what_a_test_puts_there_can_be_loaded(world):
    # Or those above would pass in a sandbox where nothing can be loaded.
    world.loader(fake("cudart", "12.9"))
    world.system_file(LIB, driver("12.2"))
    assert opened(world) == {"libcudart.so.12", "libcuda.so.1"}


def test_a_library_that_is_left_ends_the_test(world):
    # The sandbox looks before it lets a command run: with CUDA in the caller's
    # own LD_LIBRARY_PATH it must refuse.
    folder = world.put("outside", fake("cudart", "12.9"))
    done = plain("--", "true", LD_LIBRARY_PATH=str(folder))
    assert done.returncode == 125
    assert "libcudart.so.12 can still be loaded" in done.stderr


# On a machine that has CUDA everywhere: this one's root is not changed for that, so the
# sandbox of a test is the machine of the next one.
PLANTED = ["/usr/local/cuda-99.0/lib64/libcudart.so.12", "/opt/cuda/lib64/libnvrtc.so.12",
           "/run/opengl-driver/lib/libcuda.so.1", f"{LIB}/libcuda.so.1",
           f"{LIB}/libnvidia-ml.so.1", "/usr/lib64/libcudart.so.12", "/usr/lib/libnvJitLink.so.12"]


@pytest.fixture
def planted(way, tmp_path):
    """Words that run a command where CUDA has been planted: a namespace, with overlays
    below those of the sandbox."""
    script = ["set -e", f"mount -t tmpfs none {tmp_path}"]
    for folder in ("usr", "opt", "run"):
        upper, work = tmp_path / folder, tmp_path / f"{folder}-work"
        script += [f"mkdir {upper} {work}", f"mount -t overlay overlay /{folder} -o lowerdir="
                   f"/{folder},upperdir={upper},workdir={work},userxattr"]
    for path in PLANTED:
        script += [f"mkdir -p {os.path.dirname(path)}", f"touch {path}"]
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             "; ".join([*script, 'exec "$@"']), "sh"]
    done = subprocess.run([*words, "ls", *PLANTED], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nothing can be planted here: {done.stderr.strip()}")
    return words


def test_a_cuda_that_is_planted_is_not_seen(planted, way):
    names = " ".join(PLANTED)
    look = (f"for path in {names}; do test -e $path && echo $path; done;"
            " ls -d /usr/local/cuda* /opt/cuda* /run/opengl-driver; "
            "ls -A /usr/local /opt /run /usr/lib /usr/lib64 " + LIB)
    done = subprocess.run([*planted, worlds.sandbox(), "--", "sh", "-c", look], text=True,
                          capture_output=True, env={**worlds.SANDBOX_ENVIRONMENT,
                                                    "PATH": os.environ["PATH"]})
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert "libc.so.6" in done.stdout
    for word in ("cuda", "libnvrtc", "nvidia-ml", "libnvJitLink", "opengl-driver"):
        assert not [line for line in done.stdout.splitlines() if line.startswith(word)]
    assert not set(PLANTED) & set(done.stdout.splitlines())


# ---- what is put there ----

SEEN = """
import ctypes, glob, json, os, stat
folder = "/usr/local/cuda-12.9/lib64"
path = folder + "/libcudart.so.12"
said = {}
said["listed"] = sorted(os.listdir("/usr/local/cuda-12.9")), sorted(os.listdir(folder))
said["globbed"] = glob.glob("/usr/local/cuda*")
said["kinds"] = {one.name: (one.is_symlink(), one.is_dir()) for one in os.scandir("/usr/local")
                 if one.name.startswith("cuda")}
said["link"] = os.readlink("/usr/local/cuda")
said["real"] = os.path.realpath("/usr/local/cuda/lib64/../lib64/./libcudart.so.12")
said["same"] = os.path.samefile("/usr/local/cuda/lib64/libcudart.so.12", path)
with open(path, "rb") as file:
    said["fd"] = os.readlink("/proc/self/fd/%d" % file.fileno())
    same = os.fstat(file.fileno())
    said["stat"] = (same.st_ino, same.st_dev) == (os.stat(path).st_ino, os.stat(path).st_dev)
below = os.open("/usr/local", os.O_RDONLY)
said["relative"] = os.stat("cuda/lib64/libcudart.so.12", dir_fd=below).st_size > 0
said["up"] = os.path.exists("/usr/local/cuda/lib64/../../cuda-12.9/../bin")
library = ctypes.CDLL(path)
said["maps"] = sorted({line.split()[-1] for line in open("/proc/self/maps") if "cudart" in line})
errors = {}
for name, call in {
        "missing": lambda: os.stat(folder + "/none"), "below a file": lambda: os.stat(path + "/x"),
        "up from a file": lambda: os.stat(path + "/../libcudart.so.12"),
        "slash": lambda: os.stat(path + "/"), "no link": lambda: os.readlink(path),
        "folder": lambda: open(folder), "missing up": lambda: os.stat("/usr/local/none/../cuda"),
        "hidden": lambda: os.stat("/usr/local/cuda-99.9")}.items():
    try:
        call()
        errors[name] = 0
    except OSError as error:
        errors[name] = error.errno
said["errors"] = errors
print(json.dumps(said))
"""


def test_everything_that_looks_sees_the_same(world):
    world.system("/usr/local/cuda-12.9/lib64", fake("cudart", "12.9"))
    world.symlink("cuda-12.9", "/usr/local/cuda")
    said = json.loads(world.run("python3", "-c", SEEN).out)
    path = "/usr/local/cuda-12.9/lib64/libcudart.so.12"
    assert said.pop("listed") == [["lib64"], ["libcudart.so.12"]]
    assert sorted(said.pop("globbed")) == ["/usr/local/cuda", "/usr/local/cuda-12.9"]
    assert said.pop("kinds") == {"cuda": [True, True], "cuda-12.9": [False, True]}
    assert said.pop("link") == "cuda-12.9"
    assert said.pop("real") == said.pop("fd") == path and said.pop("maps") == [path]
    assert said.pop("errors") == {"missing": 2, "below a file": 20, "up from a file": 20,
                                  "slash": 20, "no link": 22, "folder": 21, "missing up": 2,
                                  "hidden": 2}
    assert set(said) == {"same", "stat", "relative", "up"} and all(said.values())


def test_a_folder_keeps_what_it_has_beside_what_is_put_there(world):
    world.system_file(LIB, driver("12.2"))
    names = world.run("ls", "-A", LIB).lines
    outside = [name for name in os.listdir(LIB)
               if not name.startswith(("libcuda", "libnvrtc", "libnvidia-ml", "libnvJitLink"))]
    assert sorted(names) == sorted([*outside, "libcuda.so.1"])


# ---- what a command gets ----

def test_the_environment_is_empty(world):
    os.environ["CUDA_PATH"] = "/usr/local/cuda"
    try:
        names = {line.split("=")[0] for line in world.run("env", WANTED="1").lines}
    finally:
        del os.environ["CUDA_PATH"]
    assert names == {"PATH", "WANTED"}


def test_a_command_changes_nothing_in_the_system(world):
    commands = ("echo x >/etc/lazycuda-test", "mkdir /usr/lazycuda-test",
                "ln -s / /opt/lazycuda-test", "chmod 700 /usr/local",
                "mv /usr/local/bin /usr/local/lazycuda-test", "rm /etc/hostname",
                "cp /etc/hostname /etc/lazycuda-test", "touch /usr/local")

    def state():
        paths = ("/etc", "/usr", "/opt", "/usr/local", "/usr/local/bin", "/etc/hostname")
        return {path: (os.lstat(path).st_mode, os.lstat(path).st_ctime_ns) for path in paths}
    before = state()
    for command in commands:
        world.run("sh", "-c", command, check=False)
        assert state() == before, command


# ---- without namespaces ----

@pytest.mark.parametrize("kind", ["container", "mounts"])
def test_without_rights_the_other_way_is_taken(world, way, kind):
    confined = build.program(HERE / "confined.c")

    def run(**env):
        return subprocess.run([confined, kind, worlds.sandbox(), "--", "true"],
                              capture_output=True, text=True, env=env)
    if run().returncode == 77:
        pytest.skip(run().stderr)
    assert run().returncode == 0
    assert run(LAZYCUDA_TEST_SANDBOX=way).returncode == (77 if way == "namespace" else 0)


def test_what_cannot_be_done_for_a_command_is_a_reason_to_skip(world, way):
    folder = world.folder("made")
    world.bind(folder, "/opt/made")
    shutil.copy(shutil.which("true"), folder)
    done = plain(*world.options, "--", "/opt/made/true")
    if way == "namespace":
        assert done.returncode == 0
    else:
        assert done.returncode == 77
        assert done.stderr == "sandbox: no namespace, and without one no execve of /opt/made/true\n"
