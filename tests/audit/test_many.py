# SPDX-License-Identifier: MIT
"""Every import is counted, however many libraries and versions a file needs."""
import pytest

import build
from importer import importer, real

COUNT = 40      # torch's largest library needs 37.


def others(folder, count, stem="other"):
    """Libraries, each with a version node of its own."""
    return [real(folder, f"lib{stem}{i}.so.1", f"{stem}{i}", node=f"{stem.upper()}_{i}")
            for i in range(count)]


@pytest.mark.parametrize("last", [True, False])
def test_many_libraries_and_their_versions(said, tmp_path, last):
    link = others(tmp_path, COUNT)
    link.insert(COUNT if last else 0, build.import_library("cudart", 12))
    file = said(importer(tmp_path, "cudaMalloc", "cudaFree", "cudaMemAdvise",
                         *[f"other{i}" for i in range(COUNT)], link=link))
    entry, = file["imports"]
    assert (entry["library"], entry["compiled_for"], entry["names"]) == ("cudart", 12, 3)
    assert file["targets"]["13.5"]["adapted"] == 1


def test_the_same_library_under_many_names(said, tmp_path):
    """As in a wheel that several others were put into."""
    link = []
    for i in range(COUNT):
        folder = tmp_path / str(i)
        folder.mkdir()
        link.append(real(folder, f"libcudart-{i:08x}.so.12", f"cudaNone{i}",
                         node="libcudart.so.12"))
    file = said(importer(tmp_path, *[f"cudaNone{i}" for i in range(COUNT)], link=link))
    assert [entry["names"] for entry in file["imports"]] == [1] * COUNT
    assert len(file["targets"]["13.5"]["absent"]) == COUNT


def test_a_name_of_another_library_that_is_needed_behind_many(said, tmp_path):
    link = [real(tmp_path, "libcuda.so.1", "cuInit"), *others(tmp_path, 40, "cux"),
            real(tmp_path, "libcufile.so.0", "cuFileRead")]
    file = said(importer(tmp_path, "cuInit", "cuFileRead", link=link))
    assert file["targets"]["13.5"]["absent"] == []


@pytest.mark.parametrize("count, more", [(200, False), (300, True)])
def test_many_names_that_it_may_open(said, audit, tmp_path, count, more):
    text = "\\0".join(f"libcudart.so.{i + 100}" for i in range(count))
    file = importer(tmp_path, "cudaMalloc", text=text)
    assert len(said(file)["dlopens"]) == min(count, 256)
    assert ("holds more names of libraries than are listed here" in audit(file).out) == more
