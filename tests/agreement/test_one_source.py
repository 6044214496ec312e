# SPDX-License-Identifier: MIT
"""Objects of clang's newer driver: those of one source, and what ld -r and strip make of them."""
import json
import shutil
import subprocess

import pytest

import build
import made_up
import other_compilers

KERNEL = 'extern "C" __attribute__((global)) void {name}(int *out) {{ *out = __CUDA_ARCH__; }}\n'
SOURCES = {
    "guarded.cu": "#if __CUDA_ARCH__ >= 800\n" + KERNEL.format(name="later") + "#else\n" +
                  KERNEL.format(name="earlier") + "#endif\n",
    "usual.cu": KERNEL.format(name="usual"),
    "template.cu": "template<class T> __attribute__((global)) void scale(T *out) { *out = 1; }\n"
                   "template __attribute__((global)) void scale<int>(int *);\n",
    "empty.cu": "int host_only(int x) { return x + 1; }\n",
}
CLANGS = [one for one in other_compilers.FINDERS if one is not other_compilers.triton]


@pytest.fixture(scope="module", params=CLANGS, ids=lambda one: one.__name__)
def compiled(request, tmp_path_factory):
    """{source: an object of it, with PTX for sm_75 and sm_80}"""
    clang = request.param()
    if not clang.takes(["--offload-new-driver"]):
        pytest.skip(f"{clang.name} writes no offload binaries")
    folder = tmp_path_factory.mktemp("objects")
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
        images = []
        for arch in ("sm_75", "sm_80"):
            subprocess.run([*clang.command, *other_compilers.LANGUAGES["cuda"], f"--cuda-gpu-arch={arch}", "-O2",
                            *other_compilers.RDC, "-S", folder / name, "-o", folder / "ptx"], check=True)
            images.append(made_up.image((folder / "ptx").read_bytes(), arch, label=made_up.IS_PTX))
        (folder / "binary").write_bytes(made_up.offload(*images))
        # What stands for the host is of no matter here.
        (folder / name).write_text("int host;\n" if name != "empty.cu" else text)
        subprocess.run([*clang.command, *other_compilers.FOR_HOST, "--cuda-host-only", *other_compilers.RDC,
                        "-Xclang", f"-fembed-offload-object={folder / 'binary'}",
                        "-c", folder / name, "-o", folder / f"{name}.o"], check=True)
    return {name: folder / f"{name}.o" for name in SOURCES}


def say(command, *arguments):
    done = build.run(build.TOOL, command, "--json", *arguments)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def sources_of(path):
    return say("inspect", path)["files"][0]["fatbins"]


def joined(path, *objects):
    # They all define the variable of the host.
    subprocess.run([*build.CC, "-r", "-nostdlib", "-Wl,-z,muldefs", *objects, "-o", path], check=True)
    return path


def test_objects_that_ld_has_joined(compiled, tmp_path):
    names = ["usual.cu", "template.cu", "empty.cu"]
    together = joined(tmp_path / "together.o", *(compiled[name] for name in names))
    assert sources_of(together) == 3
    plan = say("plan", "--driver", "none", "--nvjitlink", "12.9", "--arch", "sm_80", together)
    assert plan["code"] is None and [one["entry"] for one in plan["inputs"]] == [1, 3, 5]
    # Its images share nothing, and one more that is like them says that there are two sources.
    assert sources_of(joined(tmp_path / "guarded.o", compiled["guarded.cu"], compiled["usual.cu"])) == 3


def test_an_object_that_is_stripped(compiled, tmp_path):
    if not shutil.which("strip"):
        pytest.skip("there is no strip")
    for name, sources in (("usual.cu", 1), ("template.cu", 1), ("empty.cu", 1), ("guarded.cu", 2)):
        subprocess.run(["strip", "-g", compiled[name], "-o", tmp_path / "stripped.o"], check=True)
        assert sources_of(tmp_path / "stripped.o") == sources, name
