/* SPDX-License-Identifier: MIT */
/* guard.h - how careful the loader and the linker are: LAZYCUDA_GUARD, --policy */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>

/* Numbered as enum lazycuda_policy of lazycuda_link.h. */
enum lc_guard { LC_BEST_EFFORT, LC_STRICT, LC_OFF };

#define LC_GUARD_VARIABLE "LAZYCUDA_GUARD"
#define LC_GUARDS "strict, best_effort or off; the default is best_effort"

const char *lc_guard_name(enum lc_guard guard);

/* Returns false for a text that names no guard. */
bool lc_guard_read(const char *text, enum lc_guard *guard);

/* Set to 1, each stub loads its library when it is loaded. */
#define LC_EAGER_VARIABLE "LAZYCUDA_EAGER"

/* Set to 1, a forward-compatibility package makes up for an old driver. */
#define LC_FORWARD_VARIABLE "LAZYCUDA_FORWARD_COMPATIBLE"
#define LC_SWITCHES "1 or 0"

/* Reads a variable that is 1 or 0.  Returns false for a text that is neither. */
bool lc_switch_read(const char *text, bool *on);

#endif
