# SPDX-License-Identifier: MIT
"""Which toolkit a library file belongs to."""
import os
import shutil

import pytest

import build
import toolkits
from questions import Asked, ask, cuda, header, put

LIBRARIES = ("cudart", "nvrtc", "nvJitLink")
UNTOLD = "neither the file, nor a wheel, nor a cuda.h, nor a version.json tells"


@pytest.fixture
def fresh():
    """Asks a process of its own, which may load what it likes."""
    asked = Asked()
    yield lambda path: said(asked.ask("toolkit", path))
    asked.end()


def said(line):
    version, how = line.split("\t")
    return int(version), how


def toolkit_of(path):
    return said(ask("toolkit", path))


def file(path):
    """Something that is no library."""
    return put(path, "\x7fELF and nothing else")


def wheel(site, name, *files):
    record = site / f"{name}.dist-info" / "RECORD"
    lines = [f"{path},sha256=abc,123\n" for path in files] + [f"{name}.dist-info/RECORD,,\n"]
    return put(record, "".join(lines))


# ---- its own answer ----

@pytest.mark.parametrize("library", LIBRARIES)
def test_a_real_library_says_so_itself(fresh, toolkit, library):
    path = toolkit.file(library)
    if path is None:
        pytest.skip(f"there is no {library} of {toolkit.version}")
    version, how = fresh(path)
    assert version == cuda(toolkit.version)
    # Without a driver a runtime of 11 does not say.
    if library != "cudart" or toolkit.major > 11:
        assert how == f"{path} says so itself"


def test_a_library_that_was_asked_is_not_left_loaded(tmp_path, real):
    path = real("12.9").file("cudart")
    asked = Asked()
    assert said(asked.ask("toolkit", path))[0] == 12090
    maps = open(f"/proc/{asked.process.pid}/maps").read()
    asked.end()
    assert "libcudart" not in maps


@pytest.mark.parametrize("name", ["libcudart-09529672.so.12.6.77", "libcudart.782fcab0.so.12",
                                  "libcudart-012345.so.12", "libcudart-0123456789abcdef.so.12"])
def test_one_that_auditwheel_has_renamed_is_asked(fresh, tmp_path, real, patchelf, name):
    path = tmp_path / name
    shutil.copy(real("12.9").file("cudart"), path)
    patchelf("--set-soname", name, path)
    assert fresh(path) == (12090, f"{path} says so itself")


def test_an_old_nvjitlink_tells_by_its_names(fresh, real):
    # Those have no nvJitLinkVersion.
    for version in ("12.0", "12.1", "12.2"):
        if version in toolkits.requested():
            assert fresh(real(version).file("nvJitLink"))[0] == cuda(version)


def test_only_cuda_libraries_are_loaded(tmp_path):
    marker = tmp_path / "loaded"
    source = tmp_path / "stranger.c"
    source.write_text('#include <stdio.h>\n__attribute__((constructor)) static void run(void)\n'
                      f'{{ fclose(fopen("{marker}", "w")); }}\n')
    for soname, loaded in (("libstranger.so.1", False), ("libnvrtc-builtins.so.12.9", False),
                           ("libcudartx.so.12", False), ("libcudart.so.12", True)):
        path = build.shared(source, f"-Wl,-soname,{soname}", name="libcudart.so.12")
        assert toolkit_of(path) == (0, UNTOLD)
        assert marker.exists() == loaded, soname


def test_a_stub_belongs_to_no_toolkit(tmp_path):
    # Even if it lies in somebody's tree.
    header(tmp_path / "include" / "cuda.h")
    path = tmp_path / "lib64" / "libcudart.so.12"
    path.parent.mkdir()
    shutil.copy(build.stub("cudart"), path)
    assert toolkit_of(path) == (0, "it is a stub, which belongs to none")


# ---- cuda.h ----

@pytest.mark.parametrize("library, place", [
    ("lib", "include"), ("lib/x86_64-linux-gnu", "include"),
    ("targets/x86_64-linux/lib", "targets/x86_64-linux/include"),
    ("lib", "targets/x86_64-linux/include"),
    ("nvidia/cu13/lib", "nvidia/cu13/include"),
    ("nvidia/cuda_nvrtc/lib", "nvidia/cuda_runtime/include"),
    ("nvidia/nvjitlink/lib", "nvidia/cuda_runtime/include")])
def test_the_cuda_h_of_its_tree_tells(tmp_path, library, place):
    path = file(tmp_path / library / "libnvrtc.so.12")
    found = header(tmp_path / place / "cuda.h")
    assert toolkit_of(path) == (12090, f"CUDA_VERSION in {found}")


@pytest.mark.parametrize("own", [False, True])
def test_links_are_followed_to_the_tree_unless_one_is_where_its_name_lies(tmp_path, own):
    path = file(tmp_path / "store" / "lib64" / "libnvrtc.so.12")
    found = header(tmp_path / "store" / "include" / "cuda.h", "12080")
    if own:
        found = header(tmp_path / "env" / "include" / "cuda.h")
    link = tmp_path / "env" / "lib" / ("libnvrtc.so.12" if own else "libnvrtc.so")
    link.parent.mkdir(parents=True)
    link.symlink_to(path)
    assert toolkit_of(link) == (12090 if own else 12080, f"CUDA_VERSION in {found}")


def test_the_headers_of_another_major_tell_nothing(tmp_path):
    path = file(tmp_path / "lib" / "libnvrtc.so.11.2")
    header(tmp_path / "include" / "cuda.h")
    assert toolkit_of(path) == (0, UNTOLD)


# ---- wheels ----

@pytest.mark.parametrize("name, path, version", [
    ("nvidia_nvjitlink_cu12-12.9.86", "nvidia/nvjitlink/lib/libnvJitLink.so.12", 12090),
    ("nvidia_cuda_nvrtc_cu11-11.8.89", "nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2", 11080),
    ("nvidia_cuda_runtime_cu12-12.1.105", "nvidia/cuda_runtime/lib/libcudart.so.12", 12010),
    ("nvidia_cuda_cccl-13.3.5.0.6", "nvidia/cu13/include/cccl/cub/version.cuh", 13050),
    ("nvidia_nvjitlink-13.0.88", "nvidia/cu13/lib/libnvJitLink.so.13", 13000)])
def test_the_wheel_that_lists_it_tells(tmp_path, name, path, version):
    record = wheel(tmp_path, name, "other/file", path)
    assert toolkit_of(file(tmp_path / path)) == (version, f"{record} lists it")


NVJITLINK = "nvidia/nvjitlink/lib/libnvJitLink.so.12"


@pytest.mark.parametrize("name, text", [
    # The version of another wheel means something else.
    *[(name, f"{NVJITLINK},sha256=abc,123\n") for name in (
        "torch-12.9.0", "nvidia_cublas_cu12-12.9.1.4", "nvidia_nvjitlink_cu12", "nvidia_nvjitlink_cu12-",
        "nvidia_nvjitlink_cu12-12", "nvidia_nvjitlink_cu12_extra-12.9.86", "nvidia_nvjitlink_cu12-99999.9.9")],
    # It does not list it, or is hostile.
    *[("nvidia_nvjitlink_cu12-12.9.86", text) for text in (
        "".join(f"{path},sha256=abc,123\n" for path in (
            f"{NVJITLINK}x", f"x{NVJITLINK}", f"/{NVJITLINK}", f"a/{NVJITLINK}")),
        "", "\0" * 5000, NVJITLINK, NVJITLINK + "\n", "x" * 1023 + NVJITLINK + ",")]])
def test_a_wheel_that_tells_nothing(tmp_path, name, text):
    put(tmp_path / f"{name}.dist-info" / "RECORD", text)
    wheel(tmp_path, "nvidia_cuda_nvrtc_cu12-12.8.93")
    assert toolkit_of(file(tmp_path / NVJITLINK)) == (0, UNTOLD)


def test_a_record_that_is_a_folder_or_a_fifo_tells_nothing(tmp_path):
    (tmp_path / "nvidia_nvjitlink_cu12-12.9.86.dist-info" / "RECORD").mkdir(parents=True)
    (tmp_path / "nvidia_nvjitlink-13.0.88.dist-info").mkdir()
    os.mkfifo(tmp_path / "nvidia_nvjitlink-13.0.88.dist-info" / "RECORD")
    assert toolkit_of(file(tmp_path / NVJITLINK)) == (0, UNTOLD)


def test_the_wheel_that_lists_it_comes_before_cuda_h(tmp_path):
    """Of two wheels each may bring another version: libnvvm of 13.5 beside the cuda.h of 13.0."""
    path = "nvidia/cu13/lib/libnvvm.so.4"
    record = wheel(tmp_path, "nvidia_nvvm-13.5.37", path)
    wheel(tmp_path, "nvidia_cuda_runtime-13.0.96", "nvidia/cu13/include/cuda.h")
    header(tmp_path / "nvidia/cu13/include/cuda.h", "13000")
    assert toolkit_of(file(tmp_path / path)) == (13050, f"{record} lists it")


def test_the_number_of_a_library_that_does_not_count_cuda(tmp_path):
    """libcufft.so.11 is of CUDA 12: of the toolkit that it lies in, and of none by its number."""
    found = header(tmp_path / "cuda-12.9" / "include/cuda.h")
    path = file(tmp_path / "cuda-12.9" / "lib64/libcufft.so.11")
    assert toolkit_of(path) == (12090, f"CUDA_VERSION in {found}")
    header(tmp_path / "nvidia/cuda_runtime/include/cuda.h", "11080")
    assert toolkit_of(file(tmp_path / "nvidia/cufft/lib/libcufft.so.11")) == (0, UNTOLD)


NVRTC = "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"


@pytest.mark.parametrize("line, version", [
    ("Requires-Dist: cuda-toolkit==13.2.*", 13020), ("Requires-Dist: cuda-toolkit==12.9.1", 12090),
    ("Requires-Dist: cuda-toolkit[nvrtc,nvjitlink] == 12.8.*; sys_platform == 'linux'", 12080),
    ("requires-dist: CUDA-Toolkit (==12.9.*)", 12090), ("Requires-Dist: cuda-toolkit===12.9", 12090),
    ("Requires-Dist: cuda-toolkit>=13.2", 0), ("Requires-Dist: cuda-toolkit==13.*", 0),
    ("Requires-Dist: cuda-toolkit[nvrtc] (>=13.2, <13.3)", 13020), ("Requires-Dist: cuda-toolkit~=13.2.0", 13020),
    ("Requires-Dist: cuda-toolkit~=13.2", 0), ("Requires-Dist: cuda-toolkit<14,>=13.2,!=13.3.*", 0),
    ('Requires-Dist: cuda-toolkit==12.8.*; sys_platform == "win32"\n'
     'Requires-Dist: cuda-toolkit==13.2.*; sys_platform == "linux"', 13020),
    ("Requires-Dist: cuda-toolkit==13.2.*;platform_system=='Linux'\r", 13020),
    *[(f"Requires-Dist: cuda-toolkit==12.9.*; {marker}", 0) for marker in (
        "extra == 'all'", "sys_platform == 'linux' and extra == 'all'", "sys_platform == 'linux\"")],
    ("Requires-Dist: cuda-toolkit==12.9.*\nRequires-Dist: cuda-toolkit[nvcc]==12.9.1", 12090),
    ("Requires-Dist: CUDA-._toolkit==12.9.*", 12090),
    ("Requires-Dist: cudatoolkit==12.9.*", 0), ("Requires-Dist: cuda-toolkit[==12.9.*", 0),
    # What is behind the end of a line is of the line before it, and of no other.
    ("Summary: 4567890123456789012345678    (((==13.2.*\nRequires-Dist: cuda-toolkit[nvrtc", 0),
    ("Provides-Dist: cuda-toolkit==12.9.*", 0), ("\nRequires-Dist: cuda-toolkit==12.9.*", 0)])
def test_the_toolkit_that_a_wheel_requires(tmp_path, line, version):
    """The wheel of somebody else, which brings the library."""
    name = "mytorch-2.10.0"
    wheel(tmp_path, name, NVRTC)
    metadata = put(tmp_path / f"{name}.dist-info" / "METADATA",
                   f"Metadata-Version: 2.1\nName: mytorch\n{line}\n\nA text.\n")
    assert toolkit_of(file(tmp_path / NVRTC)) == (
        (version, f"{metadata} requires that cuda-toolkit, and its RECORD lists it") if version
        else (0, UNTOLD))


def test_a_wheel_that_requires_several_versions(tmp_path):
    wheel(tmp_path, "mytorch-2.10.0", NVRTC)
    metadata = put(tmp_path / "mytorch-2.10.0.dist-info" / "METADATA",
                   "".join(f"Requires-Dist: cuda-toolkit=={version}\n"
                           for version in ("12.8.*", "13.2.*", "12.8.*")))
    assert toolkit_of(file(tmp_path / NVRTC)) == (
        -1, f"insufficient metadata, {metadata} requires several versions of cuda-toolkit, and its"
            " RECORD lists it")


@pytest.mark.parametrize("pinned, version", [("12.2.0.57.*", 13020), ("12.2.0.5.*", 0), ("12.2.0.*", 0)])
def test_a_library_with_versions_of_its_own_beside_a_toolkit(tmp_path, pinned, version):
    """nvidia-cufft 12.2.0.57 requires no cuda-toolkit; cuda-toolkit 13.2.2 requires it."""
    path = "nvidia/cu13/lib/libcufft.so.12"
    wheel(tmp_path, "nvidia_cufft-12.2.0.57", path)
    wheel(tmp_path, "nvidia_x", path)
    metadata = put(tmp_path / "cuda_toolkit-13.2.2.dist-info" / "METADATA",
                   f"Name: cuda-toolkit\nRequires-Dist: nvidia-cufft=={pinned};"
                   " (sys_platform == 'linux') and extra == 'cufft'\n")
    assert toolkit_of(file(tmp_path / path)) == (
        (version, f"{metadata} requires that version of its wheel") if version else (0, UNTOLD))


def test_owners_that_disagree(tmp_path):
    """One file, which two wheels list: the later one has overwritten the earlier one's."""
    wheels = {"nvidia_cuda_nvrtc_cu12-12.9.86": "12.9", "nvidia_cuda_nvrtc-13.0.88": "13.0"}
    records = {wheel(tmp_path, name, NVRTC): version for name, version in wheels.items()}
    version, how = toolkit_of(file(tmp_path / NVRTC))
    assert version == -1        # LAZYCUDA_VERSION_UNKNOWN
    assert how.startswith("insufficient metadata, its owners disagree: ")
    for record, said in records.items():
        assert f"{record} lists it ({said})" in how
    assert ask("combine", 13000, 580, 0, version, 0, 0, 1, 0).startswith("insufficient")


# ---- version.json ----

JSON = '{\n   "cuda" : {\n      "name" : "CUDA SDK",\n      "version" : "12.9.1"\n   },\n' \
       '   "cuda_cccl" : {"name": "x", "version" : "12.8.55"}\n}\n'


@pytest.mark.parametrize("place", ["lib64", "lib/x86_64-linux-gnu", "targets/x86_64-linux/lib"])
def test_the_version_json_of_its_tree_tells(tmp_path, place):
    path = file(tmp_path / place / "libnvrtc.so.12")
    found = put(tmp_path / "version.json", JSON)
    assert toolkit_of(path) == (12090, f'"cuda" in {found}')
    # A cuda.h comes first.
    found = header(tmp_path / "include" / "cuda.h", "12080")
    assert toolkit_of(path) == (12080, f"CUDA_VERSION in {found}")


@pytest.mark.parametrize("name, rows", [("include/cuda.h", [
    ("/* 2024 */\n#ifndef X\n  #  define\tCUDA_VERSION   12090  /* 12.9 */\n", 12090),
    ("#define CUDA_VERSION 12090", 12090),
    ("#define CUDA_VERSION 12098\n", 12090), ("x" * 5000 + "\n#define CUDA_VERSION 12090\n", 12090),
    ("#define CUDA_VERSION_MAJOR 12\n", 0), ("#define CUDA_VERSION\n", 0),
    ("#define CUDA_VERSION 99999999999999999999\n", 0), ("x" * 5000 + "#define CUDA_VERSION 12090\n", 0), ("", 0)]), ("version.json", [
    (JSON, 12090), (JSON.replace(" ", "").replace("\n", ""), 12090),
    ('{"x": "cuda", "cuda": {"version": "12.9.1"}}', 12090),
    ('{"cuda": {}, "x": {"version": "12.8"}}', 0),
    ('{"cuda": {"version": "12"}}', 0),
    ('{"cuda": {"version": "12.9', 0), ('{"cuda"', 0), ("", 0), ('{"cuda": {"version": "13.0.0"}}', 0)])])     # the last is of another toolkit than libnvrtc.so.12
def test_what_is_read_of_a_tree(tmp_path, name, rows):
    path = file(tmp_path / "lib64" / "libnvrtc.so.12")
    for text, version in rows:
        put(tmp_path / name, text)
        assert toolkit_of(path)[0] == version, text


# ---- the rest ----

def test_what_does_not_exist_belongs_to_no_toolkit(tmp_path):
    header(tmp_path / "include" / "cuda.h")
    (tmp_path / "lib").mkdir()
    assert toolkit_of(tmp_path / "lib" / "libcudart.so.12") == (0, "there is no such file")
    assert toolkit_of("") == (0, "there is no such file")
