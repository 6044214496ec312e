# SPDX-License-Identifier: MIT
"""Every import is counted, however many libraries and versions a file needs."""
import pytest

import build
from importer import importer, real

COUNT = 40      # torch's largest library needs 37.


def others(folder, count):
    """Libraries, each with a version node of its own."""
    return [real(folder, f"libother{i}.so.1", f"other{i}", node=f"OTHER_{i}") for i in range(count)]


def test_many_libraries_and_their_versions(said, tmp_path):
    link = [*others(tmp_path, COUNT), build.import_library("cudart", 12)]
    file = said(importer(tmp_path, "cudaMalloc", "cudaFree", "cudaMemAdvise",
                         *[f"other{i}" for i in range(COUNT)], link=link))
    entry, = file["imports"]
    assert (entry["library"], entry["compiled_for"], entry["names"]) == ("cudart", 12, 3)
    assert file["targets"]["13.5"]["adapted"] == 1


@pytest.mark.parametrize("count, more", [(200, False), (300, True)])
def test_many_names_that_it_may_open(said, audit, tmp_path, count, more):
    text = "\\0".join(f"libcudart.so.{i + 100}" for i in range(count))
    file = importer(tmp_path, "cudaMalloc", text=text)
    assert len(said(file)["dlopens"]) == min(count, 256)
    assert ("holds more names of libraries than are listed here" in audit(file).out) == more
