# SPDX-License-Identifier: MIT
"""What is searched, and what never is: the current directory, relative places, and
folders that everybody can write to or swap for others."""
import re
import shutil
import sys

import pytest

import build
from fakes import driver, fake
from served import bound_read_only, served
from syscalls import between, traced
from visitors import BY_NAME, CODE, intruder, intruders, intruding_cudart, reading, visitor
from world import chowned, probe, user

# A call, and the paths among its arguments.
CALL = re.compile(r'^(?:\[?\w* ?\d+\]? )?(\w+)\((.*)', re.M)
LIBRARY = re.compile(r"lib(cudart|nvrtc|nvJitLink|cuda|nvidia-ml|zstd|lz4)\b[^/]*\.so[^/]*$")


def searched(calls):
    """Every library that the kernel was asked for, by its path; and every relative
    path, whatever it is."""
    found = []
    for name, arguments in CALL.findall(between(calls, r"begin\\n", r"end\\n")):
        if name not in ("write", "pread64", "read", "readlink", "readlinkat"):
            found += [path for path in re.findall(r'"((?:[^"\\]|\\.)*)"', arguments)
                      if LIBRARY.search(path) or (path and path[0] != "/")]
    return found


def watched(world, own, **env):
    """(what a visitor says, which libraries it asked for)"""
    world.env.update(env)
    world.put("app", own)
    command = [visitor(), "loaded", build.STUBS, world.root / "app" / "libuser.so", *CODE]
    # ld.so is to find the stub for the user; if it can, because the user needs it, so
    # that the user's DT_RPATH counts for what the stub opens.
    if "LD_LIBRARY_PATH" in env:
        world.env["LD_PRELOAD"] = str(build.stub("cudart"))
    else:
        world.search(build.STUBS)
    said, calls = traced(world, *command)
    return reading(said), searched(calls)


SOURCES = {
    "LD_LIBRARY_PATH": ["", "cuda", "/nowhere::/none", "{open}", "{sticky}", "{below}", "{link}",
                        "cuda;."],
    "CUDA_PATH": [".", "{open}", "{link}"],
    "CUDA_HOME": ["cuda", "{below}"],
    "LAZYCUDA_PATH": ["", "cuda", "{sticky}", "/no:."],
    "CONDA_PREFIX": [".", "{open}"],
    "runpath": [":", "cuda", "$ORIGIN/../open", "{sticky}/lib", "{below}/lib", "$LIB",
                "$ORIGIN/../link/lib"],
    "rpath": [".", "{open}"],
    "LAZYCUDA_CUDART": ["libcudart.so.12", "./libcudart.so.12"],
    "LAZYCUDA_CUDA": ["libcuda.so.1", "cuda/libcuda.so.1"],
}


@pytest.fixture
def places(world):
    """The current directory and what lies in it are full of intruders; and so are
    folders that everybody can write to, one below such a folder, and one that a
    link in a safe place leads to."""
    for folder in ("", "cuda", "lib", "lib64"):
        intruders(world.root / folder)
    made = {}
    for name, mode in (("open", 0o777), ("sticky", 0o1777)):
        for folder in ("", "lib", "lib64"):
            intruders(world.root / name / folder)
            (world.root / name / folder).chmod(mode)
        made[name] = str(world.root / name)
    for folder in ("", "lib", "lib64"):
        intruders(world.root / "open" / "below" / folder)
    made["below"] = f"{made['open']}/below"
    (world.root / "link").symlink_to("open/below")
    made["link"] = str(world.root / "link")
    return made


@pytest.mark.parametrize("source, value", [(source, value) for source, values in SOURCES.items()
                                           for value in values])
def test_it_is_not_searched(world, places, source, value):
    value = value.format(**places)
    own = user(**{source: value}) if source in ("runpath", "rpath") else user()
    said, asked = watched(world, own, **({} if source in ("runpath", "rpath") else {source: value}))
    assert said.cudart in ("missing", "broken") and not said.intruders
    assert said.driver == 0
    inside = [path for path in asked if not path.startswith("/") or
              path.startswith(f"{world.root}/")]
    assert inside == []


@pytest.mark.parametrize("value", ["libnvidia-ml.so.1", "./libnvidia-ml.so.1"])
def test_nor_is_it_for_nvml(world, places, value):
    # It is asked for the branch of a driver that is there.
    world.system("/usr/lib/wsl/lib", driver("12.8"))
    said, asked = watched(world, user(), LAZYCUDA_NVML=value)
    assert (said.driver, said.branch) == (12080, 0) and not said.intruders
    assert [path for path in asked if not path.startswith("/")] == []


@pytest.mark.parametrize("source", ["LD_LIBRARY_PATH", "rpath"])
def test_safe_places_beside_it_are_searched_all_the_same(world, places, source):
    # `LD_LIBRARY_PATH=/opt/cuda/lib64:$LD_LIBRARY_PATH` ends in the current directory
    # where the variable was not set.  The driver is found in spite of it.
    safe = world.folder("safe")
    for file in (fake("cudart", "12.8"), *map(intruder, BY_NAME)):
        shutil.copy(file, safe)
    value = f"{places['open']}:{safe}::."
    own = user(rpath=value) if source == "rpath" else user()
    said, asked = watched(world, own, LD_LIBRARY_PATH=f"{safe}:" if source == "rpath" else value)
    assert (said.cudart, said.path) == ("usable", f"{safe}/libcudart.so.12")
    assert said.driver == 12080
    assert {f"intruder {name}" for name in BY_NAME} <= set(said.intruders)
    assert {path for path in asked if path.startswith(f"{world.root}/")} == {
        path for path in asked if path.startswith(f"{safe}/")}


def state(world, folder):
    shutil.copy(fake("cudart", "12.9"), folder)
    return world.status(CUDA_PATH=str(folder.parent))["state"]


@pytest.mark.parametrize("mode, expected", [(0o755, "usable"), (0o775, "usable"),
                                            (0o777, "missing"), (0o1777, "usable")])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_folder_on_the_way_that_everybody_can_write_to(world, mode, expected, depth):
    # In a sticky one such as /tmp nobody can move what is root's or the user's own.
    top = world.folder("top")
    folder = world.folder("top/" + "a/" * depth + "lib64")
    top.chmod(mode)
    assert state(world, folder) == expected


def test_a_strangers_folder_in_a_sticky_one(world):
    folder = world.folder("tmp/a/lib64")
    world.folder("tmp").chmod(0o1777)
    assert state(world, folder) == "usable"
    chowned(world.root / "tmp" / "a", 65534)
    assert state(world, folder) == "missing"
    assert {"path": str(folder), "reason": f"anybody may write to {world.root}/tmp, and what is next on "
            "the way is another user's"} in world.status(CUDA_PATH=folder.parent)["left_out"]


def test_what_belongs_to_the_owner_of_a_sticky_folder(world):
    """As in a user namespace, where root's scratch folder and CUDA in it are nobody's."""
    folder = world.folder("tmp/a/lib64")
    world.folder("tmp").chmod(0o1777)
    for path in (world.root / "tmp", world.root / "tmp" / "a"):
        chowned(path, 65534)
    assert state(world, folder) == "usable"


STRANGER, COLLEAGUE = 4711, 4712


@pytest.mark.parametrize("lies, of_object, expected", [
    ("site-packages", 0, "12.8"), ("site-packages", STRANGER, "12.9"),
    ("site-packages", COLLEAGUE, "12.8"), ("conda", 0, "12.8"), ("conda", STRANGER, "12.9")])
def test_whose_what_nobody_named_may_be(world, lies, of_object, expected):
    """Root's, the user's, or that of the owner of what needs it: others have their left out."""
    world.system("/usr/local/cuda/lib64", fake("cudart", "12.8"))
    above = world.site_packages(fake("cudart", "12.9")) if lies == "site-packages" else \
        world.conda(fake("cudart", "12.9"))
    folder = above / ("lib" if lies == "conda" else "nvidia/cuda_runtime/lib")
    file = world.put(f"{above}/pkg", user()) / "libuser.so"
    world.search(build.STUBS)
    chowned(folder, STRANGER)
    chowned(file, of_object)
    *_, status = world.probe(f"open:{file}", "call:user_call", "status:cudart")
    assert status["version"] == expected
    said = {left["path"]: left["reason"] for left in status["left_out"]}
    assert said == ({} if expected == "12.9" else {str(folder): f"it belongs to user {STRANGER}, who "
                    f"is neither root nor you nor the owner of {file}"})


@pytest.mark.parametrize("of_program, expected", [(0, "0"), (STRANGER, "12090"), (COLLEAGUE, "0")])
def test_whose_the_wheels_of_a_pex_may_be(world, of_program, expected):
    """Root's, the user's, or that of the owner of the folder that Python runs."""
    program, version = world.folder("x.pex"), "cudaRuntimeGetVersion"
    folder = world.put("x.pex/.deps/cuda.whl/nvidia/cuda_runtime/lib", fake("cudart", "12.9"))
    (program / "__main__.py").write_text(
        "import ctypes\nversion = ctypes.c_int()\n"
        f"ctypes.CDLL({str(build.stub('cudart'))!r}).{version}(ctypes.byref(version))\n"
        "print(version.value)\n")
    chowned(folder, STRANGER)
    chowned(program, of_program)
    done = world.run(sys.executable, program, LAZYCUDA_DEBUG="1")
    assert done.out == f"{expected}\n", done.err
    assert (f"{folder}: not searched, it belongs to user {STRANGER}" in done.err) == (expected == "0")


def test_whose_what_somebody_named_is_does_not_matter(world):
    # On a cluster all CUDAs are those of whoever installs software.
    folder = world.put("toolkit/lib64", fake("cudart", "12.9"))
    chowned(folder, STRANGER)
    assert world.status(CUDA_HOME=folder.parent)["state"] == "usable"


# Of what lies in a folder of which mode; and whose it is, a stranger's where that is said.
MODES = ((0o755, None, True), (0o777, None, False), (0o1777, None, True), (0o1777, STRANGER, False))


@pytest.mark.parametrize("mode, owner, safe", MODES)
def test_a_link_between_links(world, mode, owner, safe):
    """A toolkit, a link in `between` to it, and a link to that one."""
    middle = world.folder("between") / "link"
    middle.symlink_to(world.put("safe/lib64", fake("cudart", "12.9")).parent)
    (world.root / "cuda").symlink_to(middle)
    middle.parent.chmod(mode)
    if owner:
        chowned(middle, owner)
    assert world.status(CUDA_PATH=world.root / "cuda")["state"] == ("usable" if safe else "missing")


@pytest.mark.parametrize("mode, expected", [(0o755, "usable"), (0o777, "missing")])
@pytest.mark.parametrize("text", ["{root}/open/sub/../../safe", "open/sub/../../safe"])
def test_what_the_text_of_a_link_goes_through(world, text, mode, expected):
    """Whoever can replace the folder decides where `..` leads from it."""
    world.put("safe/lib64", fake("cudart", "12.9"))
    world.folder("open/sub").parent.chmod(mode)
    (world.root / "cuda").symlink_to(text.format(root=world.root))
    assert world.status(CUDA_PATH=world.root / "cuda")["state"] == expected


def stray(link, **env):
    """The environment in which the text of the link is $STRAY_TO."""
    return dict(env, STRAY=link, LD_PRELOAD=build.shared(build.TESTS / "hostile" / "stray.c", "-ldl"))


def test_a_link_that_leads_elsewhere_than_its_text_says(world):
    """As those of /proc may, and one that is set anew while it is looked at."""
    world.put("safe/lib64", fake("cudart", "12.9"))
    world.folder("other/lib64")
    link = world.root / "cuda"
    link.symlink_to("safe")
    env = stray(link, CUDA_PATH=link)
    assert world.status(**env, STRAY_TO="safe")["state"] == "usable"
    status = world.status(**env, STRAY_TO="other")
    assert status["state"] == "missing"
    assert f"{link} leads elsewhere than its text says" in status["reason"]


def test_a_link_to_a_file_that_leads_elsewhere_than_its_text_says(world):
    file = world.put("safe", fake("cudart", "12.9")) / "libcudart.so.12"
    shutil.copy(file, world.root / "safe" / "other")
    link = world.folder("toolkit/lib64") / file.name
    link.symlink_to(file)
    env = stray(link, CUDA_PATH=world.root / "toolkit")
    assert world.status(**env, STRAY_TO=file)["state"] == "usable"
    for elsewhere in ("other", "none"):
        status = world.status(**env, STRAY_TO=file.with_name(elsewhere))
        assert status["state"] == "broken"
        assert status["candidates"][0]["reason"] == (
            f"is a link, and where it leads, {link} leads elsewhere than its text says, or by a way"
            " that is too long")


# The kernel follows 40 links, and counts those before it begins anew, which it does where other
# programs rename something meanwhile: of 39 links, 173 of 600 runs on a busy machine had ELOOP.
@pytest.mark.parametrize("links, steps, expected", [(19, 20, "usable"), (2, 600, "missing"),
                                                    (39, 1900, "missing")])
def test_links_whose_texts_are_long(world, links, steps, expected):
    """A stranger may have put them in /tmp: to follow them takes neither all stack nor a minute."""
    world.put("safe/lib64", fake("cudart", "12.9"))
    for i in range(links):
        following = f"link{i + 1}" if i < links - 1 else "safe"
        (world.root / f"link{i}").symlink_to(following + "/." * steps)
    status = world.status(CUDA_PATH=world.root / "link0", timeout=20)
    assert status["state"] == expected


@pytest.mark.parametrize("mounter, owner, expected", [
    (0, 0, "usable"), (STRANGER, 0, "missing"), (STRANGER, STRANGER, "usable")])
def test_what_a_user_mounted(world, mounter, owner, expected):
    """Whose that is, is what the mounter says."""
    at, tree = world.folder("tmp/image"), world.put("tree/lib64", fake("cudart", "12.9")).parent
    at.parent.chmod(0o1777)
    chowned(at, STRANGER)
    chowned(at.parent, owner)
    with served(tree, at, mounter):
        status = world.status(CUDA_PATH=at)
    assert status["state"] == expected
    if expected == "missing":
        assert {"path": f"{at}/lib64", "reason": f"user {STRANGER}, who is neither root nor you, mounted "
                f"{at} by FUSE"} in status["left_out"]


def test_a_folder_of_everybodys_that_is_mounted_read_only_here(world):
    """An image that nobody can write to is tests/direct's."""
    world.put("open/lib64", fake("cudart", "12.9")).chmod(0o777)
    with bound_read_only(world.root / "open", world.folder("here")) as here:
        assert world.status(CUDA_PATH=here)["state"] == "missing"


@pytest.mark.parametrize("stub, cuda, expected", [
    ("open/../lib", "open", "missing"), ("open/../lib", "lib", "usable"),
    ("tmp/mine", "tmp/mine", "usable"), ("tmp/mine", "tmp/stranger", "missing")])
def test_what_contains_the_stub(world, stub, cuda, expected):
    """No folder that its path leaves by `..`; nor does a sticky one vouch for what others have in it."""
    for folder, mode in (("open", 0o777), ("tmp", 0o1777)):
        world.folder(folder).chmod(mode)
    file = world.put(stub, build.stub("cudart")) / "libcudart_stub.so"
    world.put(f"{cuda}/lib64", fake("cudart", "12.9"))
    chowned(world.folder("tmp/stranger"), STRANGER)
    said = world.probe(f"open:{file}", "load", "status:cudart", CUDA_PATH=world.root / cuda)
    assert said[-1]["state"] == expected


@pytest.fixture
def linked(world):
    """A toolkit whose library is a link to a link in `between` to the file in `real`."""
    file = world.put("real", fake("cudart", "12.9")) / "libcudart.so.12"
    middle = world.folder("between") / "libcudart.so.12"
    middle.symlink_to(file)
    (world.folder("toolkit/lib64") / "libcudart.so.12").symlink_to(middle)
    return world.root / "toolkit"


@pytest.mark.parametrize("folder", ["between", "real"])
@pytest.mark.parametrize("mode, owner, safe", MODES)
def test_a_library_that_is_a_link(world, linked, folder, mode, owner, safe):
    (world.root / folder).chmod(mode)
    if owner:
        chowned(world.root / folder / "libcudart.so.12", owner)
    status = world.status(CUDA_PATH=linked)
    assert status["state"] == ("usable" if safe else "broken")
    assert safe or owner or status["candidates"][0]["reason"] == (
        f"is a link, and where it leads, anybody may write to {world.root / folder}")


@pytest.mark.parametrize("before, after", [("safe", "toolkit"), ("toolkit", "safe")])
def test_a_safe_way_to_the_same_file_is_used(world, linked, before, after):
    (world.root / "between").chmod(0o777)
    (world.folder("safe") / "lib64").symlink_to("../real")
    status = world.status(CUDA_PATH=world.root / before, CUDA_HOME=world.root / after)
    assert (status["state"], status["path"]) == ("usable",
                                                 f"{world.root}/safe/lib64/libcudart.so.12")


@pytest.mark.parametrize("mode, expected", [(0o755, True), (0o777, False)])
def test_a_link_by_the_name_of_what_unpacks_code(world, mode, expected):
    """Whether or not dlopen() may be asked for the plain name."""
    safe, real = world.folder("safe"), world.folder("real")
    real.chmod(mode)
    for name in ("libzstd.so.1", "liblz4.so.1"):
        shutil.copy(intruder(name), real)
        (safe / name).symlink_to(real / name)
    for path in (f"{safe}", f"{safe}:."):
        said, _ = watched(world, user(), LD_LIBRARY_PATH=path)
        assert ({"intruder libzstd.so.1", "intruder liblz4.so.1"} <= set(said.intruders)) == expected
        assert expected or not said.intruders


@pytest.mark.parametrize("library", build.DRIVER)
@pytest.mark.parametrize("home", ["/usr/lib/wsl/lib", "/run/opengl-driver/lib"])
def test_a_home_of_the_driver_that_everybody_can_write_to(world, home, library):
    world.system(home, fake(library, "12.9"))
    assert world.status(library)["state"] == "usable"
    (world.root / f"system{home}").chmod(0o777)
    assert world.status(library)["state"] == "missing"


@pytest.mark.parametrize("open_folder, expected", [
    ("work", "usable"),                     # above the stub itself, too
    ("work/site-packages/nvidia", "missing"),
    ("work/site-packages", "usable")])
def test_a_site_packages_below_a_folder_that_everybody_can_write_to(world, open_folder, expected):
    site = world.site_packages(fake("cudart", "12.9"), name="work/site-packages")
    stub = world.put(f"{site}/pkg", build.stub("cudart")) / "libcudart_stub.so"
    (world.root / open_folder).chmod(0o777)
    assert world.probe(f"open:{stub}", "load", "status:cudart")[-1]["state"] == expected


def test_the_current_directory_of_an_object_that_was_loaded_by_a_relative_path(world):
    # It was loaded as "./app/libuser.so"; since then the program went elsewhere.
    world.put("app", user())
    site = world.site_packages(intruding_cudart(), name="elsewhere")
    world.folder("elsewhere/nvidia_cuda_runtime_cu12-12.9.79.dist-info")
    shutil.copy(user(), world.folder(f"{site}/app"))
    world.search(build.STUBS)
    done = world.run(visitor(), "loaded", build.STUBS, "./app/libuser.so", ELSEWHERE=site)
    assert reading(done).cudart == "missing" and "intruder" not in done.err


def test_a_refused_place_is_in_the_trace(world, places):
    done = world.run(visitor(), "loaded", build.STUBS, build.stub("cudart"),
                     LD_LIBRARY_PATH=places["below"], LAZYCUDA_DEBUG="1")
    assert (f"{places['below']}: not searched, anybody may write to {places['open']}\n"
            in done.err)


# ---- dlopen() of a plain name ----

@pytest.fixture(params=["a folder for CPUs", "an auditor"])
def dlopen_is_asked(world, request):
    """Why ld.so may know more than what the stubs have searched."""
    if request.param == "an auditor":
        world.env["LD_AUDIT"] = "/there/is/none.so"
    else:
        world.search(world.folder("safe/glibc-hwcaps").parent)


@pytest.mark.parametrize("mode, expected", [(0o755, "usable"), (0o777, "missing")])
def test_a_cached_folder_that_everybody_can_write_to(world, dlopen_is_asked, mode, expected):
    """The cache is root's, and what it lists may be anybody's all the same."""
    folder = intruders(world.root / "cached")
    world.cached(folder)
    folder.chmod(mode)
    said, _ = watched(world, user())
    assert said.cudart == expected
    assert (set(said.intruders) == set()) == (expected == "missing")
    if expected == "missing":
        left_out = world.status()["left_out"]
        assert [one["path"] for one in left_out] == [str(folder)]


def test_a_cached_folder_when_the_search_is_done_already(world, dlopen_is_asked):
    """That of cudart has looked for the driver, too, and the cache is not mapped any more."""
    folder = intruders(world.root / "cached")
    world.cached(folder)
    folder.chmod(0o777)
    # What was made just before a search is not trusted by the next.
    done = world.run(probe(world.cc), f"open:{build.stub('cudart')}", f"open:{build.stub('cuda')}",
                     "shell:sleep 0.1", "load:cudart", "load:cuda", "load:cuda")
    assert "intruder" not in done.err


@pytest.mark.parametrize("mode, expected", [(0o755, "usable"), (0o777, "missing")])
def test_a_folder_that_everybody_can_write_to_and_an_auditor_leads_to(world, mode, expected):
    """Nothing tells of it beforehand: it is loaded, and not used."""
    file = world.put("hidden", fake("cudart", "12.9")) / "libcudart.so.12"
    file.parent.chmod(mode)
    status = world.status(SONAME=file.name, HIDDEN=file, LD_AUDIT=build.shared(
        build.TESTS / "lib" / "knows_more.c"))
    assert status["state"] == expected
    assert [one["path"] for one in status["left_out"]] == (
        [str(file.parent)] if expected == "missing" else [])


# What ld.so looks through below any folder: glibc-hwcaps since glibc 2.33, the others until 2.36.
on_x86 = pytest.mark.skipif(build.ARCH != "x86_64", reason="the folders for CPUs have other names")
FOR_CPUS = ["glibc-hwcaps/x86-64-v2", "tls/x86_64"]


@on_x86
@pytest.mark.parametrize("below, open_folder", [
    (below, open_folder) for below in FOR_CPUS
    for open_folder in sorted({below, below.partition("/")[0]})])
@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_folder_for_cpus_that_everybody_can_write_to(world, below, open_folder, mode):
    """ld.so looks there first, and the stubs do not look at all."""
    world.folder("safe/glibc-hwcaps")
    intruders(world.root / "safe" / below)
    (world.root / "safe" / open_folder).chmod(mode)
    said, _ = watched(world, user(), LD_LIBRARY_PATH=world.root / "safe")
    if mode == 0o755 and not said.intruders:
        pytest.skip("this ld.so, or this CPU, has no such folder")
    assert said.cudart == ("usable" if mode == 0o755 else "missing")
    assert mode == 0o755 or not said.intruders


@on_x86
@pytest.mark.parametrize("mode, expected", [(0o755, "usable"), (0o777, "missing")])
def test_a_folder_for_cpus_that_everybody_can_write_to_since(world, mode, expected):
    folder = world.put("safe/glibc-hwcaps/x86-64-v2", fake("nvrtc", "12.9"))
    world.search(world.root / "safe")
    *_, status = world.probe("stub:cudart", "shell:sleep 0.1", "load:cudart",
                             f"shell:chmod {mode:o} {folder}", "stub:nvrtc", "load:nvrtc",
                             "status:nvrtc")
    *_, same = world.probe("stub:cudart", "stub:nvrtc", "shell:sleep 0.1", "load:cudart",
                           f"shell:chmod {mode:o} {folder}", "load:nvrtc", "status:nvrtc")
    if mode == 0o755 and status["state"] == "missing":
        pytest.skip("this ld.so, or this CPU, has no such folder")
    assert (status["state"], same["state"]) == (expected, expected)


@on_x86
@pytest.mark.parametrize("mode, expected", [(0o755, True), (0o777, False)])
def test_a_link_below_a_folder_for_cpus(world, mode, expected):
    real = intruders(world.root / "real")
    folder = world.folder("safe/glibc-hwcaps/x86-64-v2")
    for file in real.iterdir():
        (folder / file.name).symlink_to(file)
    real.chmod(mode)
    said, _ = watched(world, user(), LD_LIBRARY_PATH=world.root / "safe")
    if expected and not said.intruders:
        pytest.skip("this ld.so, or this CPU, has no such folder")
    assert bool(said.intruders) == expected
