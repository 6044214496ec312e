/* SPDX-License-Identifier: MIT */
/* environment.h - the installed CUDA libraries, as the stubs find them, and the GPU that is here */
#ifndef LINK_ENVIRONMENT_H
#define LINK_ENVIRONMENT_H

#include "../../include/lazycuda.h"
#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "../tables/arch.h"

/* Makes the stub of a tool load its library.  Returns NULL, or in one line why there is none. */
const char *lk_why_missing(struct lc_arena *arena, enum lk_tool tool);

const char *lk_tool_name(enum lk_tool tool);

/* The stub's status, once it has tried to load its library; NULL if there is no stub. */
const struct lazycuda_status *lk_tool_status(enum lk_tool tool);
/* The file that is loaded; NULL if none is.  Loads nothing. */
const char *lk_loaded_file(enum lk_tool tool);

/* Loads the library, too, and returns its version, as in lazycuda_environment. */
int lk_loaded_version(enum lk_tool tool);

/* "sm_90": of the current context's device or, without a context, of the device of this number.
 * Starts the driver.  NULL if the driver does not tell, and then *why says so. */
const char *lk_native_arch(struct lc_arena *arena, int device, const char **why);

/* lazycuda_get_environment() without the compiler. */
struct lazycuda_environment lk_linkers(void);

/* Whether the driver finds a device that it can use.  Starts the driver. */
bool lk_has_device(void);

#endif
