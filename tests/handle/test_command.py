# SPDX-License-Identifier: MIT
"""`lazycuda link` and examples/link.c."""
import json
import os
import sys

import pytest

import build
import handles
from handles import PTX, check_image, pair


@pytest.fixture
def files(world):
    """A folder with a PTX file, and nothing else in it after a link but that
    and what was made."""
    folder = world.folder("files")
    (folder / "k.ptx").write_text(PTX)
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_made(world, linker, files):
    handles.install(world, linker)
    if linker.version < "12.3":
        pytest.skip("nvJitLink below 12.3 counts as absent")
    said = world.cli("link", "-o", files / "out", "--arch", "sm_80",
                     *pair(linker.version, "ptx"))
    check_image(files / "out")
    assert said.lines[0] == "decision    nvjitlink"
    assert said.lines[-1] == f"output      {files / 'out'}, {(files / 'out').stat().st_size} bytes"
    assert names(files) == ["k.ptx", "out"]


def test_json_has_the_plan_and_what_came_of_it(world, real, files):
    handles.install(world, real("13.5"))
    inputs = pair("13.5", "ltoir")
    done = world.cli("link", "--json", "--output", files / "out", "--lto", "--arch", "sm_80",
                     "--symbol", "kernel", "--option", "-verbose", *inputs)
    said = json.loads(done.out)
    assert said["decision"] == "nvjitlink" and said["code"] is None and said["lto"] is True
    assert said["options"][:2] == ["-arch=sm_80", "-lto"]
    assert [step["file"] for step in said["inputs"]] == [str(path) for path in inputs]
    assert said["output"] == str(files / "out")
    assert said["size"] == (files / "out").stat().st_size
    assert "registers" in said["info_log"] and said["error_log"] == ""
    assert said["backend_call"] is None and said["backend_status"] == 0
    assert done.err == ""


def test_the_log_of_a_failure_begins_with_the_reason(world, real, files):
    """Not with the warnings before it, nor with source that has the word."""
    handles.install(world, real("13.5"), "nvrtc", "nvJitLink")
    source = files / "k.cu"
    source.write_text("__device__ void warns() { int my_error ; }\n__device__ int error() { return nope; }\n")
    done = world.cli("link", "-o", files / "out", "--arch", "sm_80", source, check=False)
    first, second, *_ = done.err.splitlines()
    reason = f'{source}(2): error: identifier "nope" is undefined'
    assert first == f"nvrtc 13.5: nvrtcCompileProgram of {source} returned 6 (NVRTC_ERROR_COMPILATION): {reason}"
    assert "warning #177-D" in second and f"refused (COMPILE_FAILED): {first}" in done.err and not done.out


def test_after_a_failure_the_old_file_is_there(world, files):
    (files / "out").write_text("old")
    done = world.cli("link", "-o", files / "out", "--arch", "sm_80", files / "k.ptx", check=False)
    assert done.status == 1 and "refused (NO_BACKEND): " in done.err
    assert (files / "out").read_text() == "old"
    assert names(files) == ["k.ptx", "out"]


def test_a_file_is_replaced_not_written_over(world, real, files):
    # Whoever has the old one open or mapped keeps it.
    handles.install(world, real("13.5"))
    (files / "out").write_text("old")
    os.link(files / "out", files / "another name")
    (files / "link").symlink_to("out")
    world.cli("link", "-o", files / "link", "--arch", "sm_80", files / "k.ptx")
    assert (files / "another name").read_text() == "old"
    check_image(files / "out")
    assert (files / "link").is_symlink()


def test_an_input_is_not_overwritten(world, real, files):
    handles.install(world, real("13.5"))
    (files / "link").symlink_to("k.ptx")
    (files / "k.h").write_text("")
    for out in ("k.ptx", "link", "k.h"):
        done = world.cli("link", "-o", files / out, "--arch", "sm_80", "--header",
                         f"h={files / 'k.h'}", files / "k.ptx", check=False)
        assert done.status == 2 and "the output is an input as well: " in done.err
    assert (files / "k.ptx").read_text() == PTX and names(files) == ["k.h", "k.ptx", "link"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_image_goes_to_standard_output(world, real, files, more):
    handles.install(world, real("13.5"))
    world.cli("link", "-o", files / "same", "--arch", "sm_80", files / "k.ptx")
    done = world.run("/bin/sh", "-c", 'out=$1; shift; "$@" >"$out"', "sh", files / "out",
                     build.TOOL, "link", "-o", "-", *more, "--arch", "sm_80", files / "k.ptx")
    assert (files / "out").read_bytes() == (files / "same").read_bytes()
    size = (files / "out").stat().st_size
    if more:
        assert json.loads(done.err)["output"] == "-" and json.loads(done.err)["size"] == size
    else:
        assert done.err.splitlines()[-1] == f"output      -, {size} bytes"


def test_an_image_that_standard_output_does_not_take(world, real, files):
    handles.install(world, real("13.5"))
    done = world.run("/bin/sh", "-c", '"$@" >/dev/full', "sh", build.TOOL, "link", "-o", "-",
                     "--arch", "sm_80", files / "k.ptx", check=False)
    assert (done.status, done.err) == (
        2, "lazycuda link: standard output: No space left on device\n")


def test_no_part_of_a_file_is_left_if_the_disk_is_full(world, real, files):
    handles.install(world, real("13.5"))
    full = world.folder("full")
    world.prefix = ["/bin/sh", "-c",
                    f"mount -t tmpfs -o size=4k,nr_inodes=2 full {full} && exec \"$@\"", "sh"]
    listing = 'ls -A "$0"; exit $status'
    done = world.run("/bin/sh", "-c", f'status=0; "$@" || status=$?; {listing}', full,
                     build.TOOL, "link", "-o", full / "out", "--arch",
                     "sm_80", *pair("13.5", "ptx"), *["--option", "-lineinfo"], check=False)
    if "mount" in done.err:
        pytest.skip(f"no tmpfs: {done.err.strip()}")
    assert done.status == 2, done.out + done.err
    assert done.err == f"lazycuda link: {full / 'out'}: No space left on device\n"
    assert done.out == ""


@pytest.mark.parametrize("out, why", [("nowhere/out", "No such file or directory"),
                                      (".", "Is a directory"),
                                      ("/dev/null", "is not a regular file")])
def test_what_cannot_be_written(world, real, files, out, why):
    handles.install(world, real("13.5"))
    done = world.cli("link", "-o", files / out, "--arch", "sm_80", files / "k.ptx", status=2)
    assert done.err == f"lazycuda link: {files / out}: {why}\n"
    assert done.out == "" and names(files) == ["k.ptx"]


@pytest.mark.parametrize("words, why", [
    ((), "no file is given"),
    (("k.ptx", "--arch", "sm_80"), "no output file is given"),
    (("k.ptx", "--arch", "sm_80", "-o", "out", "--ltoir", "--relocatable"),
     "more than one is asked for of --ptx, --ltoir and --relocatable")])
def test_wrong_usage(world, files, words, why):
    world.root = files
    done = world.cli("link", *words, status=2)
    assert done.err.startswith("lazycuda link: ") and why in done.err
    assert names(files) == ["k.ptx"]


# ---- the example ----

def example():
    return build.program(build.ROOT / "examples" / "link.c", f"-L{build.STUBS}",
                         "-llazycuda_link", f"-Wl,-rpath,{build.STUBS}")


@pytest.mark.parametrize("command", ["link", "plan"])
def test_no_word_is_read_behind_its_end(tmp_path, command):
    """The last one lies 13 bytes below the end of the stack: behind it come the short name of
    the program and 8 bytes.  Options are longer."""
    (tmp_path / "l").symlink_to(build.TOOL)
    script = f"import os; os.execve('l', ['l', '{command}', '-x'], {{}})"
    done = build.run(sys.executable, "-c", script, cwd=tmp_path)
    assert done.returncode == 2 and "unknown option -x" in done.stderr


def test_the_example_links(world, linker):
    handles.install(world, linker)
    said = world.run(example(), check=False)
    if linker.version < "12.3":
        assert said.status == 1 and said.lines[0].startswith("NVJITLINK_TOO_OLD: ")
    else:
        assert said.status == 0 and said.lines[0].startswith("OK: ")
        assert said.lines[1].startswith("an image of ")


def test_the_example_without_cuda(world):
    said = world.run(example(), check=False)
    assert said.status == 1 and said.err == ""
    assert said.lines[0].startswith("NVJITLINK_REQUIRED: ")
