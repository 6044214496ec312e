# SPDX-License-Identifier: MIT
"""What a wheel needs of CUDA without saying so: audit, retarget and --relax-requirements have one set."""
import json

import pytest

import build
import wheel_files
from importer import importer, real

CREATE = "cublasCreate_v2"


@pytest.fixture
def audit():
    def run(wheel, *options, status=0):
        done = build.run(build.TOOL, "audit", *options, wheel)
        assert done.returncode == status, done.stdout + done.stderr
        return json.loads(done.stdout) if "--json" in options else done
    return run


def made(folder, files, requires=("nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12")):
    """A wheel of files by name: what each imports, and what it needs."""
    members, done = {}, {}
    for name, (imports, needed) in files.items():
        path = folder / name
        path.mkdir()
        link = [done[soname] if soname in done else real(
            path, soname, "f" if ".so." in soname else "g", node=soname if ".so.1" in soname else None)
                for soname in needed]
        link += ["-Wl,-rpath,$ORIGIN"] if any("-" in soname for soname in needed) else []
        if name.endswith(".so"):
            done[name] = members[f"pkg/{name}"] = importer(path, *imports, link=link, name=name)
        else:
            done[name] = members[f"pkg/{name}"] = real(path, name, *imports, node="libcudart.so.12")
    return wheel_files.make(folder, members, requires=requires)


# What is in the wheel, whether nothing brings the function of cuBLAS, whether the stub is added, and whether
# --relax-requirements keeps the package.
@pytest.mark.parametrize("files, unmet, added, kept", [
    # openimpala-cuda 4.4.9: its Python is to load cuBLAS before; nothing that it needs has its names.
    ({"module.so": ([CREATE], ["libmpi.so.40", "libgfortran.so.5", "libcurand.so.10"])}, True, True, False),
    ({"module.so": ([CREATE], [])}, True, True, False),
    # torch may bring it.
    ({"module.so": ([CREATE], ["libtorch_cuda.so"])}, False, False, True),
    ({"module.so": ([CREATE], ["libcustatevec.so.1"])}, False, False, True),
    ({"libown.so": ([], []), "module.so": ([CREATE], ["libown.so"])}, True, True, False),
    ({"libown.so": ([], ["libtorch_cuda.so"]), "module.so": ([CREATE], ["libown.so"])}, False, False, True),
    ({"libown.so": ([], ["libcublas.so.12"]), "module.so": ([CREATE], ["libown.so"])}, False, False, False),
    ({"libown.so": ([CREATE], []), "module.so": ([], ["libown.so", "libcublas.so.12"])}, False, False, False),
    ({"libhas.so.2": ([CREATE], []), "module.so": ([CREATE], [])}, False, False, False),
    ({"module.so": ([], ["libcudss.so.0"])}, False, False, True),
])
def test_one_set_of_needs(audit, retarget, tmp_path, files, unmet, added, kept):
    wheel = made(tmp_path, files)
    found = [entry for file in audit(wheel, "--json")["files"] for entry in file["imports"]
             if entry["library"] == "cublas" and entry["names"] and not entry["needed"]]
    assert any(entry["judged"] for entry in found) == unmet
    if unmet:
        done = audit(wheel, "--require", "12", status=1)
        assert "not defined by anything that it needs: cublasCreate_v2 of cublas, and nothing brings libcublas" \
            in done.stdout
    said, = retarget("--relax-requirements", wheel).wheels
    assert any(change["library"] == "cublas" and not change["needed"]
               for file in said["files"] for change in file["replaced"]) == added
    assert any("cublas" in entry["requirement"] for entry in said["kept"]) == kept
    assert any("cublas" in requirement for requirement in said["brings"]) == kept
    if unmet:
        out, = retarget.out.iterdir()
        audit(out, "--require", "none,12,13", "--allow-by-name")


def test_what_no_stub_serves_is_refused(retarget, audit, tmp_path):
    """The interface differs between majors, and nothing tells which is meant; or one name does."""
    wheel = made(tmp_path, {"module.so": (["cudaGraphExecUpdate"], [])})
    said, = retarget(wheel, status=1).wheels
    assert said["code"] == "UNDEFINED" and "cudaGraphExecUpdate of cudart" in said["error"]
    assert not list(retarget.out.iterdir())
    retarget("--leave", "pkg/module.so", wheel)
    # xllamacpp-cuda12x 0.1.6
    (tmp_path / "told").mkdir()
    told = made(tmp_path / "told", {"module.so": (["cudaGraphExecUpdate", "cudaGetDeviceProperties_v2"], [])})
    said, = retarget(told).wheels
    assert said["added"] == ["pkg.libs/libcudart.so.12"]
    audit(retarget.out / told.name, "--require", "none,12,13")


KINDS = {
    "plain": {"module.so": (["cudaMalloc"], ["libcudart.so.12"])},
    "counted": {"module.so": ([CREATE], ["libcurand.so.10"])},
    "driver": {"module.so": (["cuInit"], ["libcuda.so.1"])},
    "bundled": {"libcudart-09529672.so.12.6.77": (["cudaMalloc"], []),
                "module.so": (["cudaMalloc"], ["libcudart-09529672.so.12.6.77"])},
    # Of 12.5 and later.
    "newer": {"module.so": (["cudaMalloc", "cudaGetDriverEntryPointByVersion"], ["libcudart.so.12"])},
    "no stub": {"module.so": (["cudssCreate"], ["libcudss.so.0"]), "other.so": (["cudaMalloc"], ["libcudart.so.12"])},
}


@pytest.mark.parametrize("options", [(), ("--prefer", "stub"), ("--relax-requirements",)], ids=" ".join)
@pytest.mark.parametrize("kind", KINDS)
def test_audit_of_what_retarget_has_made(retarget, audit, tmp_path, kind, options):
    wheel = made(tmp_path, KINDS[kind])
    text = retarget(*options, wheel, json_wanted=False).out
    out, = retarget.out.iterdir()
    done = audit(out, "--require", *(["12"] if kind == "no stub" else ["none,12,13"]))
    assert ("CUDA's, and there is no stub of it: libcudss.so.0" in done.stdout) == (kind == "no stub")
    assert audit(out, "--require", "none", status=int(kind == "no stub"))
    # Nothing is advised that was just done.
    assert "use `lazycuda retarget`" not in done.stdout and not (options and " ".join(options) in text)
    assert ("serves where it is missing" not in text) or "--prefer" not in options
    assert not any(f" 1 {word}" in text + done.stdout for word in ("names", "files"))
    majors = {version.partition(".")[0] for version in audit(out, "--json")["all"]["runs_on"]}
    extras = {line.split()[1] for line in text.splitlines() if line.strip().startswith("extra ")}
    assert extras <= {f"cuda{major}" for major in majors}
    assert bool(extras) == ("--relax-requirements" in options or kind == "bundled" and "stub" in options)
