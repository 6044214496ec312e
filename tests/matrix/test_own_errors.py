# SPDX-License-Identifier: MIT
"""An error that an adaptor returns by itself is the thread's last error, as one of the
library's own would be."""
import pytest

import build
from fakes import fake

SEMAPHORES = "const void *, const void *, unsigned, void *"
# More parameters than a process of a gigabyte has room for.
MANY = '"", "", UINT32_MAX, (void *)0'


@pytest.mark.parametrize("call, parameters, arguments, major, version, status", [
    ("__cudaGetKernel", "void **, int (*)(void)", "(void *)0, main", 12, "11.8", 1),
    ("cudaSignalExternalSemaphoresAsync", SEMAPHORES, MANY, 11, "13.5", 2),
    ("cudaWaitExternalSemaphoresAsync", SEMAPHORES, MANY, 11, "13.5", 2),
])
def test_the_last_error_is_what_the_adaptor_returned(world, call, parameters, arguments, major,
                                                      version, status):
    world.search(build.STUBS)
    world.loader(fake("cudart", version))
    program = build.program(build.TESTS / "matrix" / "own_errors.c", f"-DCALL={call}",
                            f"-DPARAMETERS={parameters}", f"-DARGUMENTS={arguments}",
                            build.import_library("cudart", major))
    assert world.run(program).out.split() == [str(status), str(status), "0"]
