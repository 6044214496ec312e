/* SPDX-License-Identifier: MIT */
/* stub.h - `lazycuda stub`: a stub for a library of anybody's */
#ifndef TOOLS_STUB_H
#define TOOLS_STUB_H

int stub_main(int argc, char **argv);

#endif
