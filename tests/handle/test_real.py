# SPDX-License-Identifier: MIT
"""Links through the handle on every real nvJitLink and nvrtc."""
import pytest

import handles
import samples
from handles import SOURCES, check_image, inputs, pair, readelf
from samples import Sample


def claims(linker):
    """nvJitLink below 12.3 counts as absent; the handle can drive it all the
    same, and does if it is told that it is another."""
    return ("--nvjitlink", "12030", "--nvrtc", "12030") if linker.version < "12.3" else ()


KINDS = ("ptx", "cubin", "ltoir", "fatbin", "object", "archive", "source")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input_becomes_an_image(world, link, linker, kind):
    files = inputs(world, linker.version, kind)
    handles.install(world, linker)
    # Exact bytes: nvJitLink reads behind PTX, up to a NUL, from 12.3 on.
    for more in (["--bytes"], ["--bytes", "--exact"], []):
        image = world.root / "image"
        said = link(*["--lto"] * (kind == "ltoir"), *more, *claims(linker), "--symbol", "kernel", "-o", image,
                    *files)
        assert said["code"] == "OK", said
        assert said["image"] == image.stat().st_size
        check_image(image)
        image.unlink()


def test_a_source_that_does_not_compile(world, link, linker):
    (world.root / "good.cu").write_text(SOURCES["helper.cu"])
    (world.root / "bad.cu").write_text("__device__ int x = nonsense;\n")
    handles.install(world, linker)
    said = link(*claims(linker), "good.cu", "bad.cu")
    assert said["code"] == "COMPILE_FAILED" and said["input"] == 1
    assert said["call"] == "nvrtcCompileProgram 6"
    assert "nonsense" in said["error"] and "bad.cu" in said["error"]
    assert "nonsense" in said["message"] and "NVRTC_ERROR_COMPILATION" in said["message"]


def test_an_undefined_symbol_is_named(world, link, linker):
    # Before 12.9 its name stands on stderr alone.
    handles.install(world, linker)
    for kind, lto in (("ptx", ()), ("cubin", ()), ("ltoir", ("--lto",))):
        said = link(*lto, *claims(linker), pair(linker.version, kind)[0])
        assert said["code"] == "UNDEFINED_SYMBOL", said
        assert "helper" in said["message"]
        assert said["call"].startswith("nvJitLinkComplete")


def test_an_option_that_this_version_does_not_know(world, link, real):
    # The plan is for 13.0, which has -r; the library that is here does not.
    old = real("12.9")
    handles.install(world, old)
    said = link("--nvjitlink", "13010", "--output", "2", *pair("12.9", "ptx"))
    assert said["code"] == "OPTION_UNSUPPORTED" and said["call"] == "nvJitLinkCreate 1"
    assert "UNRECOGNIZED_OPTION" in said["message"]


def test_what_nvrtc_really_made_is_judged(world, link, real):
    # Planned for another nvrtc than the one that is here: its LTO-IR is too new.
    old, new = real("12.9"), real("13.5")
    files = inputs(world, new.version, "source")
    handles.install(world, old, "nvJitLink")
    handles.install(world, new, "nvrtc")
    world.env["LAZYCUDA_NVRTC"] = str(new.file("nvrtc"))
    world.env["LAZYCUDA_NVJITLINK"] = str(old.file("nvJitLink"))
    said = link("--lto", "--nvjitlink", "12090", "--nvrtc", "12080", *files)
    assert said["code"] == "LTOIR_TOO_NEW", said
    assert said["message"].startswith("after compiling: ") and said["call"] == "none 0"


# ---- callbacks and support modules ----

def test_callbacks_after_a_success_alone(world, link, real):
    toolkit = real("13.5")
    kernel, helper = pair(toolkit.version, "ptx")
    handles.install(world, toolkit)
    said = link("--callbacks", "--support", f"{helper}:helper", "--main", kernel)
    assert said["code"] == "OK", said
    assert said["calls"] == ["setup module k-sm_80.ptx", "setup module h-sm_80.ptx",
                             "teardown module h-sm_80.ptx", "teardown module k-sm_80.ptx"]
    said = link("--callbacks", kernel)
    assert said["code"] == "UNDEFINED_SYMBOL" and said["calls"] == []


# ---- nothing installed ----

def test_a_plan_for_another_machine_is_not_carried_out_here(world, link):
    handles.ptx_in(world)
    (world.root / "k.cu").write_text(SOURCES["helper.cu"])
    said = link("--nvjitlink", "13000", "k.ptx")
    assert said["code"] == "BACKEND_MISSING" and said["backend"] == 1
    assert "nvidia-nvjitlink" in said["message"]
    said = link("--nvjitlink", "13000", "--nvrtc", "13000", "k.cu")
    assert said["code"] == "BACKEND_MISSING"
    assert "nvidia-cuda-nvrtc" in said["message"]
    said = link("--driver", "13000", "k.ptx")
    assert said["code"] == "BACKEND_MISSING" and said["backend"] == 2
    assert "libcuda.so.1" in said["message"]


def test_the_target_is_chosen_from_the_inputs(world, real):
    handles.install(world, real("13.5"))
    made = [Sample("13.5", "ltoir", "sm_120a", "k"), Sample("13.5", "ptx", "sm_120", "h")]
    samples.make(made)
    words = ("link", "--driver", "none", "-o", world.root / "image", *(one.path for one in made))
    refused = world.cli(*words, "--arch", "sm_120", check=False)
    assert "or --arch from-inputs:sm_120," in refused.err and not (world.root / "image").exists()
    said = world.cli(*words, "--arch", "from-inputs:sm_120")
    assert "the target is sm_120a, not sm_120, for the sake of LTO-IR" in said.out
    check_image(world.root / "image")
    key = world.cli("inspect", world.root / "image").out
    assert "sm_120a" in key


def test_the_virtual_architecture_of_an_image_is_said(world, real):
    """That of its earliest PTX, up to 12.9; later images name none."""
    handles.install(world, real("12.9"))
    made = [Sample("12.9", "ptx", arch, unit) for arch in ("sm_75", "sm_90") for unit in "kh"]
    samples.make(made)

    def header(*paths):
        said = world.cli("link", "--driver", "none", "--arch", "sm_90", "-o", world.root / "image", *paths)
        return said.out, int(readelf(world.root / "image")["Flags"], 0) >> 16 & 0xff

    k75, h75, k90, h90 = (one.path for one in made)
    said, virtual = header(k90, h90)
    assert "says in its header" not in said and virtual == 90
    said, virtual = header(k90, h75)
    assert f"{h75}: PTX for an earlier architecture: the image for sm_90 says in its header that its code" \
        " is of compute_75" in said and virtual == 75
    said, virtual = header(k75, h75)
    assert f"{k75} and 1 more: PTX for an earlier" in said and virtual == 75
