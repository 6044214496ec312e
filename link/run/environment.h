/* SPDX-License-Identifier: MIT */
/* environment.h - what is installed, as the stubs find it */
#ifndef LINK_ENVIRONMENT_H
#define LINK_ENVIRONMENT_H

#include "../../stubs/base/arena.h"
#include "../tables/arch.h"

/* Has the stub of a tool load its library.  NULL, or why
 * there is none, in one line. */
const char *lk_why_missing(struct lc_arena *arena, enum lk_tool tool);

/* The version of what the stub has loaded, as in lazycuda_environment. */
int lk_loaded_version(enum lk_tool tool);

#endif
