# SPDX-License-Identifier: MIT
"""tools/upkeep/survey.py: what wheels need of CUDA, and docs/reference/survey.md."""
import sys
import zipfile

import pytest

import build
from importer import importer, real

sys.path.insert(0, str(build.ROOT / "tools" / "upkeep"))
import survey  # noqa: E402


def test_the_page_is_what_the_table_and_the_lists_give():
    assert survey.PAGE.read_text() == survey.page(survey.read_table())


@pytest.mark.parametrize("name, soname", [
    ("libcudart-5a077122.so.12.0.107", "libcudart.so.12"),
    ("libcudart.782fcab0.so.11.0", "libcudart.so.11"),
    ("/x/libnvrtc-builtins.so.12.6", "libnvrtc-builtins.so.12.6"), ("libcuda.so.1", "libcuda.so.1"),
    ("libcudart_stub.so", None), ("libcurl.so.4", None), ("libcudart.so.12.txt", None),
    ("libcudart.so", "libcudart.so"), ("libnppicc-1a2b3c4d.so.12.4.1", "libnppicc.so.12"),
    ("libcutensornet.so.2", "libcutensornet.so.2"), ("libcudaq.so", None), ("libnpp.so.12", None)])
def test_what_counts(name, soname):
    assert survey.plain(name) == soname


def test_every_library_has_a_stub_or_a_reason():
    stubbed = survey.sonames_with_stubs()
    needed = {each.rstrip("+").partition(".so")[0] for row in survey.read_table().values() for each in row}
    assert not [stem for stem in needed if stem not in stubbed and not survey.reason(stem)]
    assert not [stem for stem in needed if stem in stubbed and survey.reason(stem)]
    assert all(any(survey.re.fullmatch(pattern, stem) for stem in needed)
               for pattern, _ in survey.REASONS), "a reason of what no wheel needs"


def wheel(folder, name, **members):
    made = folder / name
    with zipfile.ZipFile(made, "w") as out:
        for member, path in members.items():
            out.write(path, f"pkg/{member}" if member != "brought" else f"pkg.libs/{path.name}")
        out.writestr("pkg/__init__.py", "x" * 100)
    return made


def test_a_wheel(tmp_path):
    link = [real(tmp_path, name, f"f{i}") for i, name in enumerate(
        ["libcudart-1a2b3c4d.so.12.6.77", "libcublas.so.12", "libother.so.1"])]
    one = importer(tmp_path, "f0", "f2", link=[link[0], link[2]], name="one.so")
    two = importer(tmp_path, "f1", link=link[1:2], name="two.so")
    path = wheel(tmp_path, "My_Pkg-1.0-py3-none-any.whl", one=one, two=two, brought=link[0])
    assert survey.row_of(path) == ("my-pkg==1.0", ["libcublas.so.12", "libcudart.so.12+"])
