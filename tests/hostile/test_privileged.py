# SPDX-License-Identifier: MIT
"""A program that has more rights than its caller heeds nothing that the caller says:
no variable, and not where the program itself lies."""
import shutil

import pytest

import build
import handles
from fakes import driver, fake
from visitors import BY_NAME, CODE, LIBRARIES, intruders, intruding_cudart, reading, visitor


@pytest.fixture(params=("setuid", "capable"))
def way(request):
    return request.param


@pytest.fixture
def libraries(world):
    """The libraries of the build, the command, and the code, where everybody can read them."""
    folder = world.put("doors", *CODE)
    world.put("doors/lib", *LIBRARIES)
    world.put("doors/bin", build.BUILD / "bin" / "lazycuda")
    folder.chmod(0o755)
    world.bind(folder, "/opt/doors")
    return folder


@pytest.fixture
def visit(world, libraries):
    """visit(way, NAME=value): what a visitor says that was started that way."""
    def run(way, *flags, **env):
        shutil.copy(visitor(*flags), libraries / way)
        return reading(world.run(f"/opt/doors/{way}", way, "/opt/doors/lib",
                                 *[f"/opt/doors/{code.name}" for code in CODE], **env))
    return run


@pytest.fixture
def toolkit_of_intruders(world, libraries):
    """A folder with a library wherever a variable could lead to one."""
    for folder in ("lib", "lib64"):
        intruders(libraries / "toolkit" / folder)
    return "/opt/doors/toolkit"


def check(visit, way, seen, **env):
    """`seen(what a visitor says)` holds where the variable counts, and not else."""
    assert seen(visit("plain", **env))
    said = visit(way, **env)
    assert not seen(said) and not said.intruders and said.cudart == "missing"
    return said


@pytest.mark.parametrize("variable, file, seen", [
    *((variable, file, lambda said: said.cudart == "usable" and "intruder" in said.intruders)
      for variable, file in (("CUDA_PATH", ""), ("CUDA_HOME", ""), ("CONDA_PREFIX", ""),
                             ("LAZYCUDA_CUDART", "/lib/libcudart.so.12"))),
    ("LAZYCUDA_CUDA", "/lib/libcuda.so.1",
     lambda said: said.driver == 12080 and "intruder libcuda.so.1" in said.intruders)])
def test_variables(visit, toolkit_of_intruders, way, variable, file, seen):
    check(visit, way, seen, **{variable: f"{toolkit_of_intruders}{file}"})


def test_a_variable_that_names_nvml(visit, world, toolkit_of_intruders, way):
    # It is asked for the branch of a driver that is there.
    world.system("/usr/lib/wsl/lib", driver("12.8"))

    def seen(said):
        return said.branch == 535 and "intruder libnvidia-ml.so.1" in said.intruders
    said = check(visit, way, seen, LAZYCUDA_NVML=f"{toolkit_of_intruders}/lib/libnvidia-ml.so.1")
    assert said.driver == 12080


def test_the_library_path(visit, toolkit_of_intruders, way):
    # Here the driver and what unpacks code are looked for, too.
    def seen(said):
        return (said.cudart == "usable" and said.driver == 12080 and
                {f"intruder {name}" for name in BY_NAME} <= set(said.intruders))
    check(visit, way, seen, LD_LIBRARY_PATH=f"{toolkit_of_intruders}/lib")


def test_the_guard_the_major_and_the_trace(visit, way):
    check(visit, way, lambda said: said.guard == "off", LAZYCUDA_GUARD="off")
    check(visit, way, lambda said: said.cudart == "broken", LAZYCUDA_MAJOR="42")
    check(visit, way, lambda said: said.cudart == "hidden", LAZYCUDA_MAJOR="none")
    check(visit, way, lambda said: said.cudart == "hidden", LAZYCUDA_CUDART="none")
    check(visit, way, lambda said: said.trace, LAZYCUDA_DEBUG="1")


@pytest.mark.parametrize("origin", ["runpath", "site-packages"])
def test_where_the_program_lies(visit, world, libraries, way, origin):
    # Anybody may make a link to a program, and $ORIGIN is then where that is.
    folder = "nvidia/cuda_runtime/lib" if origin == "site-packages" else "cuda"
    (libraries / folder).mkdir(parents=True)
    shutil.copy(intruding_cudart(), libraries / folder)
    (libraries / "nvidia_cuda_runtime_cu12-12.9.79.dist-info").mkdir()
    flags = ["-Wl,--disable-new-dtags,-rpath,$ORIGIN/cuda"] if origin == "runpath" else []
    for started, state in (("plain", "usable"), (way, "missing")):
        assert visit(started, *flags).cudart == state


def test_what_the_system_has_is_found(visit, world, way):
    world.system("/usr/local/cuda/lib64", fake("cudart", "12.9"))
    said = visit(way)
    assert (said.cudart, said.path) == ("usable", "/usr/local/cuda/lib64/libcudart.so.12")


@pytest.mark.parametrize("way", ["setuid", "settled", "capable"])
def test_the_worker_of_an_isolated_link(visit, world, toolkit_of_intruders, way):
    """It is a program without more rights than its caller, which is this one."""
    env = {"LAZYCUDA_PATH": f"{toolkit_of_intruders}/lib", "LINK": "1"}
    said = check(visit, way, lambda said: "intruder linker" in said.intruders, **env)
    assert said.link == "BACKEND_MISSING"
    world.system("/usr/local/cuda/lib64", handles.fake("nvJitLink", "12.9"))
    assert visit(way, **env).link == "OK"


def test_the_worker_of_a_program_with_two_users(visit, world, toolkit_of_intruders):
    """To ld.so the worker would be privileged, and so not find its libraries."""
    world.system("/usr/local/cuda/lib64", handles.fake("nvJitLink", "12.9"))
    said = visit("lowered", LINK="1", LD_PRELOAD=f"{toolkit_of_intruders}/lib/libzstd.so.1")
    assert said.link == "OK" and len(said.intruders) == 1
