# SPDX-License-Identifier: MIT
"""Where a real library is looked for, and in which order."""
import os
import pathlib
import re
import shutil
import struct
import sys

import pytest

import build
from changed_elf import Elf
from fakes import fake
from world import user, way

HERE = pathlib.Path(__file__).resolve().parent
MULTIARCH = f"/usr/lib/{build.ARCH}-linux-gnu"
TRIPLES = {"x86_64": ["x86_64-linux"], "aarch64": ["sbsa-linux", "aarch64-linux"]}[build.ARCH]


def cudart(version="12.9"):
    return fake("cudart", version)


@pytest.fixture
def with_user(world):
    """Runs the probe with a user of the stub at this place of the world."""
    def run(place, file, **options):
        target = world.folder(place) / file.name
        shutil.copy(file, target)
        world.search(build.STUBS)
        *_, status = world.probe(f"open:{target}", "call:user_call", "status:cudart", **options)
        return status
    return run


def found(status, path, how):
    assert (status["state"], status["found_by"]) == ("usable", how), status["reason"]
    assert status["path"] == str(path)


# Each place alone.

def ended_early(file, target):
    """A copy with a segment that ends where the string table begins, in the middle of a page."""
    made = Elf(file.read_bytes())
    strings = made.field(made.find(".dynstr"), 16)
    begin, count = *struct.unpack_from("<Q", made.data, 32), *struct.unpack_from("<H", made.data, 56)
    place, start, size = next(
        (at, start, size) for at in range(begin, begin + 56 * count, 56)
        for kind, start, size in [struct.unpack_from("<I12xQ8xQ", made.data, at)]
        if kind == 1 and start <= strings < start + size)
    assert start // 4096 == (start + size) // 4096, "the string table begins in the last page"
    struct.pack_into("<QQ", made.data, place + 32, strings - start, strings - start)
    target.write_bytes(made.data)
    return target


def test_tables_in_the_rest_of_a_page(world, with_user, tmp_path):
    # patchelf 0.19 puts .dynamic there in a program of Debian 11's clang; ld.so maps pages.
    world.put("app/cuda", cudart())
    file = ended_early(user(runpath="$ORIGIN/../cuda"), tmp_path / "libuser.so")
    status = with_user("app/bin", file)
    found(status, world.root / "app/bin/../cuda/libcudart.so.12", "rpath")
    said = world.run(build.ROOT / "build/bin/lazycuda", "audit", "--json", file, check=False).out
    assert '"error": null' in said and '"needed": "libcudart_stub.so"' in said
    # And the reader in Python; so are programs of published wheels.
    said = world.run(sys.executable, "-B", build.PYTHON / "lazycuda", "retarget",
                     "--stubs", build.STUBS, "-o", tmp_path / "out", file, check=False)
    assert (said.status, said.err) == (0, "")


@pytest.mark.parametrize("spelling", ["${ORIGIN}/../cuda", "/nowhere:$ORIGIN/../cuda"])
def test_spellings_of_a_runpath(world, with_user, spelling):
    world.put("app/cuda", cudart())
    assert with_user("app/bin", user(runpath=spelling))["found_by"] == "rpath"


@pytest.fixture(scope="module")
def tokens():
    """What the loader of this machine puts for $LIB and $PLATFORM."""
    program = build.compile("asks", build.text("int main(void) { return 0; }\n", "c"),
                            "-Wl,--no-as-needed,-rpath,/lib=$LIB/platform=$PLATFORM/end",
                            link=[build.shared(build.TESTS / "lib" / "stranger.c")])
    said = build.run(program, env={"LD_DEBUG": "libs"}).stderr
    found = re.search(r"/lib=(\S*?)/platform=(\S*?)/end", said)
    if not found:
        pytest.skip("this loader does not say where it searches")
    return dict(zip(("LIB", "PLATFORM"), found.groups()))


@pytest.mark.parametrize("above, spelling", [("{root}/app", "$LIB"), ("$ORIGIN/..", "a$LIB-${PLATFORM}")])
def test_what_the_loader_puts_for_its_words(world, with_user, tokens, spelling, above):
    if "PLATFORM" in spelling and tokens["PLATFORM"] in ("haswell", "xeon_phi"):
        pytest.skip("this loader has a word of its own for this CPU, which nobody tells")
    words = re.sub(r"\$\{?(LIB|PLATFORM)\}?", lambda found: tokens[found[1]], spelling)
    folder = world.put(f"app/cuda/{words}", cudart())
    status = with_user("app/bin", user(
        runpath=f"{above.format(root=world.root)}/cuda/{spelling}"))
    assert status["found_by"] == "rpath"
    assert pathlib.Path(status["path"]).samefile(folder / "libcudart.so.12")


@pytest.mark.parametrize("spelling", ["$LIBS", "${LIB", "$ORIGIN2", "$"])
def test_other_words_lead_nowhere(world, with_user, spelling):
    for folder in ("lib", "libS", "", spelling):
        world.put(f"app/cuda/{folder}", cudart())
    assert with_user("app/cuda", user(runpath=f"{world.root}/app/cuda/{spelling}/x:{spelling}"))[
        "state"] == "missing"


@pytest.mark.parametrize("where, lib", [
    ("lib64", "lib64"), ("store/glibc-2.40/lib", "lib"),
    (f"usr/lib/{build.ARCH}-linux-gnu/glibc-hwcaps/x86-64-v3", f"lib/{build.ARCH}-linux-gnu")])
def test_where_libc_lies_tells_what_a_loader_puts(world, with_user, where, lib):
    """As on NixOS, whose loader has other folders of its own."""
    world.env["LD_PRELOAD"] = str(build.shared(HERE / "other_folders.c"))
    finds_lib(world, with_user, where, lib)


def test_a_libc_that_somebody_brings_along_does_not(world, with_user, tokens):
    finds_lib(world, with_user, "bundle/lib64", tokens["LIB"])


def finds_lib(world, with_user, where, lib):
    interpreter, libc = loader_and_libc()
    # Its own name need not be its SONAME: libc-2.31.so.
    copy = world.folder(where) / "libc.so.6"
    shutil.copy(libc, copy)
    world.prefix = [interpreter, "--library-path", f"{copy.parent}:{build.STUBS}"]
    folder = world.put(f"cuda/{lib}", cudart())
    status = with_user("bin", user(runpath=f"{world.root}/cuda/$LIB"))
    found(status, folder / "libcudart.so.12", "rpath")


def loader_and_libc():
    maps = pathlib.Path("/proc/self/maps").read_text()
    files = set(re.findall(r"/\S+", maps))
    return [pathlib.Path(next(file for file in files if re.search(pattern, file)))
            for pattern in (r"/ld-linux[^/]*$|/ld-2[^/]*$", r"/libc\.so\.6$|/libc-2[^/]*$")]


@pytest.mark.parametrize("between", ":;")
def test_entries_of_the_library_path(world, between):
    # ld.so takes both.
    folder = world.put("cuda", cudart())
    status = world.status(LD_LIBRARY_PATH=f"/nowhere{between}{folder}{between}/nowhere")
    found(status, folder / "libcudart.so.12", "loader")


def test_the_words_hold_in_the_library_path_too(world, tokens):
    folder = world.put(f"cuda/{tokens['LIB']}", cudart())
    found(world.status(LD_LIBRARY_PATH=f"{world.root}/cuda/$LIB"), folder / "libcudart.so.12",
          "loader")


def test_the_rpath_of_an_object_that_does_not_need_the_stub_does_not_count(world):
    stranger = build.shared(build.TESTS / "lib" / "stranger.c", "-Wl,-rpath,$ORIGIN/cuda")
    world.put("app", stranger)
    world.put("app/cuda", cudart())
    *_, status = world.probe(f"open:{world.root}/app/{stranger.name}", "stub:cudart", "load",
                             "status:cudart")
    assert status["state"] == "missing"


@pytest.mark.parametrize("place, version", [("pkg", "13.5"), ("pkg.libs", "12.9"),
                                            ("pkg/a/b/c", "11.8")])
def test_the_site_packages_that_a_user_lies_in(world, with_user, place, version):
    # Neither a file name nor an RPATH leads to pip's folders of the real library.
    site = world.site_packages(cudart(version))
    status = with_user(f"{site}/{place}", user())
    file, = site.glob("nvidia/*/lib/libcudart.so.*")
    found(status, file, "site-packages")


@pytest.mark.parametrize("name, package, expected", [
    ("site-packages", None, "usable"), ("dist-packages", None, "usable"),
    ("vendored", "nvidia_cuda_runtime_cu12-12.9.79.dist-info", "usable"),
    ("vendored", "nvidia_cublas-13.0.0.19.dist-info", "usable"),
    ("vendored", None, "missing"), ("vendored", "torch-2.8.dist-info", "missing"),
    ("vendored", "nvidia_cuda_runtime_cu12", "missing")])
def test_what_makes_a_folder_a_site_packages(world, with_user, name, package, expected):
    """Its name; or, as `pip --target` gives it any, a package of NVIDIA's that is recorded in it."""
    site = world.site_packages(cudart("12.9"), name=name)
    if package:
        world.folder(f"{name}/{package}")
    assert with_user(f"{site}/pkg", user())["state"] == expected


def test_the_nearest_site_packages_alone(world, with_user):
    world.site_packages(cudart("12.9"), name="site-packages")
    world.folder("site-packages/pkg/site-packages/nvidia")
    assert with_user("site-packages/pkg/site-packages/own", user())["state"] == "missing"


def test_a_renamed_stub_still_knows_who_needs_it(world, patchelf):
    # The same wheel with a user whose RPATH leads to CUDA.
    site = world.folder("wheel")
    renamed = site / "pkg.libs" / "libcudart_stub-1a2b3c4d.so"
    world.folder("wheel/pkg.libs")
    shutil.copy(build.stub("cudart"), renamed)
    patchelf("--set-soname", renamed.name, renamed)
    extension = world.folder("wheel/pkg") / "libuser.so"
    shutil.copy(user(runpath="$ORIGIN/../pkg.libs:$ORIGIN/../cuda"), extension)
    patchelf("--replace-needed", "libcudart_stub.so", renamed.name, extension)
    world.put("wheel/cuda", cudart())
    *_, status = world.probe(f"open:{extension}", "call:user_call", "status:cudart")
    assert (status["state"], status["found_by"]) == ("usable", "rpath"), status["reason"]


def test_the_nearest_conda_prefix_alone(world, with_user):
    """Environments lie in the folder envs of the base, which has a CUDA of its own."""
    base = world.conda(cudart("13.5"))
    environment = world.folder("conda/envs/work")
    world.folder("conda/envs/work/conda-meta")
    place = f"{environment}/lib/python3/site-packages/pkg"
    assert with_user(place, user())["state"] == "missing"
    folder = world.put("conda/envs/work/lib", cudart("12.9"))
    found(with_user(place, user()), folder / "libcudart.so.12", "conda")
    assert with_user(place, user(), CONDA_PREFIX=base)["version"] == "12.9"


@pytest.mark.parametrize("below", ["tls", "haswell"])
def test_below_a_folder_for_a_cpu_only_the_loaders_cache_counts(world, below):
    """glibc before 2.37 looks there; dlopen() is not asked where it looks nowhere else."""
    if any(path for place in ("lib*", "usr/lib*", "usr/lib/*")
           for path in pathlib.Path("/").glob(f"{place}/glibc-hwcaps")):
        pytest.skip("dlopen() is asked here: there are folders for CPUs of the new kind")
    folder = world.put(f"cuda/{below}", cudart())
    world.search(world.root / "cuda")
    assert world.status()["state"] == "missing"
    world.cached(folder)
    found(world.status(), folder / "libcudart.so.12", "loader")


@pytest.mark.parametrize("folder", [MULTIARCH, "/usr/lib64", "/usr/lib"])
def test_the_systems_library_folders(world, folder):
    world.system_file(folder, cudart())
    status = world.status()
    # The loader's own search knows most of these, too.
    assert status["found_by"] in ("loader", "system")
    assert status["path"].endswith("/libcudart.so.12") and folder.lstrip("/usr") in status["path"]


TOOLKIT_FOLDERS = ["lib64", "lib", *[f"targets/{triple}/lib" for triple in TRIPLES]]


@pytest.mark.parametrize("kind", ["libraries", "toolkit", "site-packages", "second"])
def test_the_path_of_our_own(world, kind):
    below = {"toolkit": "/lib64", "site-packages": "/nvidia/cuda_runtime/lib"}.get(kind, "")
    folder = world.put(f"place{below}", cudart())
    world.loader(cudart("12.8"))
    value = f"/nowhere:{world.root}/place:" if kind == "second" else world.root / "place"
    found(world.status(LAZYCUDA_PATH=value), folder / "libcudart.so.12", "environment")


def test_where_there_is_nothing_the_path_of_our_own_is_named(world):
    said = world.status(LAZYCUDA_PATH=world.folder("own"))["reason"]
    assert "name folders: LAZYCUDA_PATH=" in said and said.partition("Looked in")[2].count("/own") == 1


@pytest.mark.parametrize("options, without", [
    (["-s"], True), (["-BI"], True), (["-B", "-Ws"], False), (["-W", "-s"], False), ([], "variable")])
def test_a_python_without_the_users_site_packages(world, options, without):
    if options and way() == "proot":
        pytest.skip("below proot the kernel does not tell what a program's arguments are")
    world.site_packages(cudart(), name="home/.local/lib/python3/site-packages")
    if without == "variable":
        world.env["PYTHONNOUSERSITE"] = "1"
    said = world.run(os.path.realpath(sys.executable), *options, "-c", (
        f"import ctypes; print(ctypes.CDLL({str(build.stub('cudart'))!r}).cudaDeviceSynchronize())"),
                     HOME=world.root / "home")
    assert (said.out == "303\n") == bool(without)


@pytest.mark.parametrize("folder, base", zip(TOOLKIT_FOLDERS, [
    "/usr/local/cuda", "/usr/local/cuda-12.9", "/opt/cuda", "/usr/local/cuda"]))
def test_the_systems_toolkits(world, base, folder):
    world.system(f"{base}/{folder}", cudart())
    found(world.status(), f"{base}/{folder}/libcudart.so.12", "system")


def test_the_newest_of_the_systems_toolkits(world):
    for version in ("12.8", "12.9", "12.0", "12.6"):
        world.system(f"/usr/local/cuda-{version}/lib64", cudart(version))
    status = world.status()
    assert status["path"].startswith("/usr/local/cuda-12.9/")
    assert len(status["candidates"]) >= 4


# The order.

def test_the_order_of_places(world, with_user):
    # One minor of 12 in each place; the first place wins, then it is emptied.
    site = world.folder("conda/lib/python3/site-packages")
    world.folder("conda/conda-meta")
    cached = world.put("anywhere", cudart("12.5"))
    world.cached(cached)
    other = world.folder("other/site-packages")
    world.put("other/site-packages/torch", build.shared(build.TESTS / "lib" / "stranger.c"))
    below = "nvidia/cuda_runtime/lib"
    places = [
        ("environment", world.put("own", cudart("12.0"))),
        ("loader", world.loader(cudart("12.1"))),
        ("rpath", world.put(f"{site}/pkg/cuda", cudart("12.2"))),
        ("site-packages", world.put(f"{site}/{below}", cudart("12.3"))),
        ("conda", world.put("conda/lib", cudart("12.4"))),
        ("site-packages", world.put(f"{other}/{below}", cudart("12.6"))),
        ("site-packages", world.put(f"python/{below}", cudart("12.7"))),
        ("loader", cached),
        ("conda", world.put("prefix/lib", cudart("12.8"))),
        ("environment", world.put("path/lib64", cudart("12.9"))),
        ("environment", world.put("home/lib64", cudart("12.1"))),
        ("system", pathlib.Path("/usr/local/cuda/lib64")),
    ]
    world.system("/usr/local/cuda/lib64", cudart("12.0"))
    world.env.update(CONDA_PREFIX=world.root / "prefix", CUDA_PATH=world.root / "path",
                     CUDA_HOME=world.root / "home", PYTHONPATH=world.root / "python",
                     LAZYCUDA_PATH=world.root / "own",
                     LD_PRELOAD=other / "torch/libstranger.so")
    extension = user(runpath="$ORIGIN/cuda")
    for number, (how, folder) in enumerate(places):
        status = with_user(f"{site}/pkg", extension)
        parent = pathlib.Path(status["path"]).parent
        assert (status["found_by"], str(parent).replace("pkg/../", "")) == (how, str(folder))
        # Everything behind it in its tier is still named, in order, and not taken; but no later tier is
        # looked at while this one serves.
        rest = [str(pathlib.Path(c["path"]).parent) for c in status["candidates"]
                if not c["taken"]]
        seen = places[:5 if number < 5 else 7 if number < 7 else None]
        assert rest == [str(folder) for _, folder in seen[number + 1:]]
        assert all(c["reason"] for c in status["candidates"])
        if how != "system":
            (folder / "libcudart.so.12").unlink()
    (world.root / "system/usr/local/cuda/lib64/libcudart.so.12").unlink()
    assert with_user(f"{site}/pkg", extension)["state"] == "missing"


def test_a_place_whose_library_lacks_what_is_called_is_passed_over(world):
    late = "cudaLibraryLoadData"      # since 12.8
    old, new = world.loader(cudart("12.0")), world.put("home/lib64", cudart("12.9"))
    file = build.shared(build.TESTS / "lib" / "user.c", f"-DCALLS={late}",
                        build.import_library("cudart", 12), name="libcaller.so")
    world.search(build.STUBS)
    *_, status = world.probe(f"open:{file}", "call:user_call", "status:cudart",
                             CUDA_HOME=new.parent)
    refused = f"it would refuse {late}, which {file} imports"
    assert status["path"] == str(new / "libcudart.so.12")
    assert status["reason"].endswith(f"comes before it, and was passed over: {refused}")
    assert [c["reason"] for c in status["candidates"] if not c["taken"]] == [refused]
    assert world.status(CUDA_HOME=new.parent)["path"] == str(old / "libcudart.so.12")


def test_a_real_site_packages(world, toolkit):
    """The list has the folders of the real wheels."""
    site = world.folder("site-packages")
    (site / "nvidia").symlink_to(toolkit.site / "nvidia")
    for library in filter(toolkit.file, build.LIBRARIES):
        stub = world.put(f"{site}/pkg", build.stub(library)) / build.stub(library).name
        status = world.probe(f"open:{stub}", "load", f"status:{library}")[-1]
        assert (status["found_by"], status["version"]) == ("site-packages", toolkit.version)


def test_long_and_odd_environments(world):
    long = "/".join(["", *["x" * 200] * 30])
    odd = ":".join(["", ".", "//", "/" * 5000, long, "$ORIGIN", "${LIB}", "/a\x01b"])
    for name in ("LD_LIBRARY_PATH", "CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "LAZYCUDA_CUDART",
                 "LAZYCUDA_GUARD", "LAZYCUDA_MAJOR"):
        world.statuses(*build.STUBBED, **{name: odd})
