# SPDX-License-Identifier: MIT
"""Made-up libraries, in the words of symbols.txt."""

# The statuses that a library with majors of CUDA's needs.
ERRORS = """\
    error missing 1
    error absent 2
    error refused 3
    error driver 4
    error incoherent 5
"""

# Its toolkits are 1.0 and 1.1 at least.
WITHOUT_MAJORS = """\
library thing
    stub libthing_stub.so
    soname libthing.so.1 1.0-
    majors none
    witness thingA
    home /one
    home /two/three
    variable THING
    error missing 21
    error absent 22
    status thingStatus

enum thingStatus
    thingOk 0 1.0-

functions
    thingA 1.0- (out i32)
    thingB 1.1-1.1 (i32)
    thingC 1.0- (?) undeclared
"""

# A library with majors, of two versions of the first and one of the second.
OTHER = f"""\
toolkits 1.0 1.1 2.0

library other
    stub libother_stub.so
    soname libother.so.1 1.0-1.1
    soname libother.so.2 2.0-
    variable OTHER
{ERRORS}    status status

enum status
    ok 0 1.0-

functions
    other 1.0- ()
"""
