# SPDX-License-Identifier: MIT
"""An error that an adaptor returns by itself is the thread's last error, as one of the
library's own would be."""
import pytest

import build
from fakes import fake


@pytest.mark.parametrize("step, node, version, status", [
    ("kernel", "libcudart.so.12", "11.8", "1"), ("many:Signal", "libcudart.so.11.0", "13.5", "2"),
    ("many:Wait", "libcudart.so.11.0", "13.5", "2")])
def test_the_last_error_is_what_the_adaptor_returned(world, step, node, version, status):
    world.loader(fake("cudart", version))
    said = world.versioned("errors", build.stub("cudart"), node, "get", step, "get", "get")
    assert said == ["0", status, status, "0"]
