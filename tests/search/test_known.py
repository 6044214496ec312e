# SPDX-License-Identifier: MIT
"""What one stub's search found out serves those of the other stubs, and is looked at
again where it may have changed."""
import re
import shutil
import subprocess

import pytest

import build
import fakes
from fakes import fake
from syscalls import between, system_calls
from world import CALL, probe, user

OLD = "shell:sleep 0.1"    # what was made just before a search is not trusted by the next
FIRST = f"call:{CALL['cudart']}"
SECOND = "load:nvrtc"
pytestmark = pytest.mark.usefixtures("stubs_apart")


def second(world, *changes, before=(), **options):
    """The status of nvrtc, whose first call is made after cudart's and these changes."""
    *_, status = world.probe("stub:cudart", "stub:nvrtc", *before, OLD, FIRST, *changes, SECOND,
                             "status:nvrtc", **options)
    return status


def copied(file, folder):
    return f"shell:mkdir -p {folder} && cp {file} {folder}/"


def calls_of_both(world, *changes, stubs=("cudart", "nvrtc")):
    """The system calls of the first and of the second stub's first call."""
    return between(system_calls(
        world, probe(world.cc), *(f"open:{build.stub(name, world.stubs)}" for name in stubs), OLD, "mark:from",
        FIRST, *changes, "mark:midway", SECOND, "mark:to"), "from", "to").split("midway", 1)


def calls_of_second(world, *changes):
    return calls_of_both(world, *changes)[1]


# What is as it was is not looked at again.

@pytest.mark.parametrize("there", [False, True])
def test_the_second_stub_asks_little(world, there):
    if there:
        world.loader(fake("nvrtc", "12.9"))
    calls = calls_of_second(world).splitlines()
    opened = next((i for i, call in enumerate(calls) if "openat(" in call and "/proc/" not in call),
                  len(calls))
    looks = "\n".join(calls[:opened])
    # Folders are compared, and the file is; none is looked for again, nor read.
    assert looks.count("libnvrtc.so.12") == there and "libnvrtc.so.13" not in looks
    assert f'"{world.stubs}", ' in looks
    assert opened == len(calls) or (there and "libnvrtc.so.12" in calls[opened])


def examined(calls, *folders):
    return [sum(f'"{folder}", ' in call for call in calls.splitlines()) for folder in folders]


def test_what_was_only_gone_through_is_asked_where_something_was_found(world):
    """Where there was nothing, the folders behind it tell whether they are as they were."""
    place = world.folder("way/there")
    world.search(place)
    assert examined(calls_of_second(world), "/", place.parent, place) == [0, 0, 1]
    shutil.copy(fake("nvrtc", "12.9"), place)
    assert examined(calls_of_second(world), "/", place.parent, place) == [1, 1, 1]


def test_where_a_folder_is_left_out_all_are_asked(world):
    place = world.folder("way/there")
    world.search(place)
    place.chmod(0o777)
    assert examined(calls_of_second(world), "/", place.parent, place) == [1, 1, 1]


def names_asked(world, folder, *changes):
    """What is looked for in a folder by the second stub, and whether its names are read."""
    world.search(folder)
    before, after = calls_of_both(world, *changes, stubs=build.LIBRARIES)
    return (re.findall(rf'"{folder}/([^"/]+)"', after),
            bool(re.search(rf'"{folder}", \S*O_DIRECTORY', before)))


def test_the_names_of_a_small_folder_are_read(world):
    assert names_asked(world, world.folder("small")) == ([], True)


def test_a_large_folder_is_asked_for_each_name(world):
    large = world.folder("large")
    for i in range(400):
        (large / f"lib{i:0100}.so").touch()
    asked, read = names_asked(world, large)
    assert "libnvrtc.so.14" in asked and not read


def test_what_came_into_a_folder_whose_names_were_read(world):
    library, folder = fake("nvrtc", "12.9"), world.folder("small")
    assert "libnvrtc.so.12" in names_asked(world, folder, copied(library, folder))[0]


def test_a_small_folder_whose_names_cannot_be_read(world):
    """It is asked for each name."""
    folder = world.put("small", fake("nvrtc", "12.9"))
    world.search(folder)
    system_calls(world, "true")     # skips where there is no strace
    world.prefix = ["strace", "-f", "-o", world.root / "failing.log", "-P", folder,
                    "-e", "inject=getdents64:error=EACCES"]
    *_, status = world.probe("stub:cudart", "stub:nvrtc", "stub:nvJitLink", OLD, FIRST, SECOND,
                             "status:nvrtc")
    assert status["path"] == str(folder / "libnvrtc.so.12")
    assert "EACCES" in (world.root / "failing.log").read_text()


def test_many_searches_grow_by_one_stub_each(world):
    """Copies of a stub count as stubs: 18 of them, more than records once had room for."""
    copies = [world.put(f"copies/{i}", build.stub("nvrtc")) / build.stub_name("nvrtc")
              for i in range(18)]
    said = world.probe(*[f"open:{file}" for file in copies], "stub:nvJitLink", "stub:cudart",
                       f"call:{CALL['nvJitLink']}", FIRST, "status:nvJitLink", "load",
                       "status:nvrtc")
    assert [status["state"] for status in (said[-3], said[-1])] == ["missing", "missing"]
    # All of them count.
    assert said[-2] == {"load": 20}


# What has changed.

@pytest.mark.parametrize("folder", ["new/deep/er", "there", "venv"])
def test_a_library_that_came_after_a_failed_search(world, folder):
    library = fake("nvrtc", "12.9")
    site = world.folder("venv/site-packages")
    world.put("venv/site-packages/pkg", build.stub("cudart"), build.stub("nvrtc"))
    world.folder("there")
    for name in ("new/deep/er", "there"):
        world.search(world.root / name)
    place = (site / "nvidia/cuda_nvrtc/lib" if folder == "venv" else world.root / folder)
    said = world.probe(*[f"open:{site}/pkg/{build.stub_name(name)}" for name in ("cudart", "nvrtc")],
                       OLD, FIRST, copied(library, place), SECOND, "status:nvrtc")
    assert said[-1]["path"] == str(place / library.name)


@pytest.mark.parametrize("variable, links", [("LD_LIBRARY_PATH", 2), ("CUDA_HOME", 3)])
def test_a_link_between_links_that_leads_elsewhere(world, variable, links):
    """As /usr/local/cuda of NVIDIA's packages, which leads to /etc/alternatives/cuda."""
    world.folder("one/lib64")
    library = fake("nvrtc", "12.9")
    world.put("two/lib64", library)
    world.folder("alternatives")
    at = [world.root / "alternatives" / str(i) for i in range(links - 1)] + [world.root / "cuda"]
    for link, target in zip(at, [world.root / "one", *at]):
        link.symlink_to(target)
    found = at[-1] / "lib64"
    if variable == "CUDA_HOME":
        world.env[variable] = str(at[-1])
    else:
        world.search(found)
    assert second(world)["state"] == "missing"
    status = second(world, f"shell:ln -sfn ../two {at[0]}")
    assert (status["state"], status["path"]) == ("usable", str(found / library.name))


@pytest.mark.parametrize("way, change", [
    ("one", "mv {root}/one {root}/old && mv {root}/two {root}/one"),
    ("one", "mv {root}/one {root}/old && ln -s two {root}/one"),
    # Below a link:
    ("link", "cp {library} {root}/one/deep/"),                          # into the folder behind it
    ("link", "ln -sfn two {root}/link"),                                # it leads elsewhere
    ("link", "mv {root}/one {root}/old && mv {root}/two {root}/one"),   # the folder behind it is new
    ("link", "ln -sfn ../../two/deep/{name} {root}/one/deep/{name}"),   # a link in the folder behind it
])
def test_what_is_gone_through_leads_elsewhere(world, way, change):
    library = fake("nvrtc", "12.9")
    world.put("two/deep", library)
    world.folder("one/deep")
    (world.root / "link").symlink_to("one")
    world.search(world.root / way / "deep")
    assert second(world)["state"] == "missing"
    status = second(world, "shell:" + change.format(root=world.root, library=library,
                                                    name=library.name))
    assert (status["state"], status["path"]) == ("usable", f"{world.root}/{way}/deep/{library.name}")


# What is asked for, what is there, what happens.  `made` has the library.
LED_NOWHERE = {
    "a file": ("p/x", "touch p/x", "rm p/x && mv made p/x"),
    "a file on the way": ("p/x/lib", "touch p/x", "rm p/x && mkdir p/x && mv made p/x/lib"),
    "a link to nothing": ("p/x", "ln -s ../q p/x", "mv made q"),
    "a link to far below": ("p/x", "ln -s ../q/r p/x", "mkdir q && mv made q/r"),
    "links on the way": ("p/x/lib", "ln -s y p/x && ln -s z p/y", "mkdir p/z && mv made p/z/lib"),
}


@pytest.mark.parametrize("place, before, after", LED_NOWHERE.values(), ids=LED_NOWHERE)
def test_what_led_to_no_folder(world, place, before, after):
    library = fake("nvrtc", "12.9")
    world.put("made", library)
    world.folder("p")
    subprocess.run(before, shell=True, cwd=world.root, check=True)
    world.search(world.root / place)
    assert "ld.so.cache" not in calls_of_second(world)
    status = second(world, f"shell:cd {world.root} && {after}")
    assert (status["state"], status["path"]) == ("usable", str(world.root / place / library.name))


@pytest.mark.parametrize("before, after, expected", [
    (0o777, 0o755, "usable"), (0o755, 0o777, "missing")])
def test_a_folder_on_the_way_that_everybody_can_write_to_or_could(world, before, after, expected):
    folder = world.put("a/b/c", fake("nvrtc", "12.9"))
    world.search(folder)
    folder.parent.chmod(before)
    assert second(world, f"shell:chmod {after:o} {folder.parent}")["state"] == expected


def test_a_file_that_was_written_anew(world):
    folder = world.loader(fake("nvrtc", "12.8"))
    status = second(world, f"shell:cat {fake('nvrtc', '12.9')} >{folder}/libnvrtc.so.12")
    assert status["version"] == "12.9"


def test_a_folder_that_anybody_may_write_to_since(world):
    folder = world.loader(fake("nvrtc", "12.9"))
    status = second(world, f"shell:chmod 777 {folder}")
    assert status["state"] == "missing"
    assert [left["path"] for left in status["left_out"]] == [str(folder)]


def test_a_folder_of_a_link_between_links_that_anybody_may_write_to_since(world):
    world.put("one", fake("nvrtc", "12.9"))
    middle = world.folder("between") / "link"
    middle.symlink_to(world.root / "one")
    (world.root / "link").symlink_to(middle)
    world.search(world.root / "link")
    assert second(world)["state"] == "usable"
    assert second(world, f"shell:chmod 777 {middle.parent}")["state"] == "missing"


def test_a_library_that_is_a_link_to_where_anybody_may_write_since(world):
    library = fake("nvrtc", "12.9")
    folder = world.put("real", library)
    (world.folder("safe") / library.name).symlink_to(folder / library.name)
    world.search(world.root / "safe")
    assert second(world)["state"] == "usable"
    assert second(world, f"shell:chmod 777 {folder}")["state"] == "broken"


@pytest.mark.parametrize("variable, seen", [
    ("CUDA_PATH", True), ("CUDA_HOME", True), ("LAZYCUDA_NVRTC", True), ("LAZYCUDA_PATH", True),
    ("LD_LIBRARY_PATH", False), ("CONDA_PREFIX", False), ("PYTHONPATH", False)])
def test_a_variable_that_was_set_since(world, variable, seen):
    """Those that ld.so and Python read when they start are set for children."""
    library = fake("nvrtc", "12.9")
    folder = world.put("late/lib", library)
    world.put("late/nvidia/cuda_nvrtc/lib", library)
    value = {"LD_LIBRARY_PATH": folder, "LAZYCUDA_NVRTC": folder / library.name}.get(
        variable, folder.parent)
    assert second(world)["state"] == "missing"
    status = second(world, f"setenv:{variable}={value}")
    assert status["state"] == ("usable" if seen else "missing")
    assert second(world, **{variable: value})["state"] == "usable"


def test_a_variable_that_hides_the_library_since(world):
    world.loader(fake("nvrtc", "12.9"))
    assert second(world, "setenv:LAZYCUDA_NVRTC=none")["state"] == "hidden"


def test_a_user_of_a_stub_that_was_loaded_since(world):
    # Its run path leads to the library.
    library = fake("nvrtc", "12.9")
    world.put("app/cuda", library)
    other = world.put("app/bin", user(runpath="$ORIGIN/../cuda", library="nvrtc"))
    file = next(other.glob("*.so"))
    assert second(world, f"open:{file}")["found_by"] == "rpath"


def test_a_real_library_that_was_loaded_since(world):
    file = world.put("away", fake("nvrtc", "12.9")) / "libnvrtc.so.12"
    status = second(world, f"open:{file}")
    assert (status["path"], status["found_by"]) == (str(file), "process")


def test_a_real_library_that_was_unloaded_since(world):
    file = world.put("away", fake("nvrtc", "12.9")) / "libnvrtc.so.12"
    assert second(world, f"close:{file}", before=[f"open:{file}"])["state"] == "missing"


def test_another_stubs_library_that_came_since(world):
    """Where nvrtc alone is not looked for: there are 12 and 13 of it, and 12 is for both."""
    world.loader(fake("nvrtc", "12.9"), fake("nvrtc", "13.5"))
    folder = world.folder("app/cuda")
    own = next(world.put("app/bin", user(runpath="$ORIGIN/../cuda", library="cudart")).glob("*.so"))
    status = second(world, before=[f"open:{own}"])
    assert status["version"] == "13.5"
    status = second(world, copied(fake("cudart", "12.9"), folder), before=[f"open:{own}"])
    assert status["version"] == "12.9"


@pytest.mark.parametrize("change", ["rm {file}", "chmod 777 {folder}"])
def test_another_stubs_library_that_may_not_be_used_since(world, change):
    """The other way round: the first stub may use none of 12, for which it waits."""
    world.loader(fake("nvrtc", "12.9"), fake("nvrtc", "13.5"))
    folder = world.put("app/cuda", fake("nvJitLink", "12.9"))
    own = next(world.put("app/bin", user(runpath="$ORIGIN/../cuda", library="nvJitLink")).glob("*.so"))
    before = ["stub:nvJitLink", f"open:{own}"]
    assert second(world, before=before)["version"] == "12.9"
    change = change.format(file=folder / "libnvJitLink.so.12", folder=folder)
    assert second(world, f"shell:{change}", before=before)["version"] == "13.5"


def test_what_another_stub_has_loaded_since(world):
    # The objects that came with its own library hold nothing up.
    world.loader(fake("cudart", "12.9"), fake("nvrtc", "12.9"), fake("nvrtc", "13.5"))
    assert second(world)["version"] == "12.9"


def test_a_child_of_fork_looks_itself(world):
    looks = [len(re.findall(r"libnvrtc\.so\.1[23]", calls_of_second(world, *changes)))
             for changes in ([], ["fork"])]
    assert looks[0] == 0 and looks[1] > 0


def test_a_driver_that_came_after_a_failed_search(world):
    # The driver's stub takes no part in the choice: nobody has looked for its library, but for
    # other libraries in the same folders.
    folder = world.folder("loader") / "below"
    world.search(folder)
    file = fakes.nvml("535.104.05")
    *_, status = world.probe("stub:cudart", "stub:nvml", OLD, FIRST, copied(file, folder), "call:nvmlShutdown", "status:nvml")
    assert status["path"] == str(folder / file.name)
