/* SPDX-License-Identifier: MIT */
/* native.h - the architecture of the GPU that is here */
#ifndef LINK_NATIVE_H
#define LINK_NATIVE_H

#include "../../stubs/base/arena.h"

/* "sm_90": of the current context's device or, without a context, of the device of this number.
 * Starts the driver.  NULL if the driver does not tell, and then *why says so. */
const char *lk_native_arch(struct lc_arena *arena, int device, const char **why);

#endif
