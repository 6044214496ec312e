/* SPDX-License-Identifier: MIT */
/* tries.h - when a stub may search: not too early, and not too often */
#ifndef TRIES_H
#define TRIES_H

#include <stdbool.h>

/*
 * Returns true once the process is set up.  The resolver of an IFUNC runs while
 * ld.so is still relocating, and may call a stub before libc has a locale, an
 * environment or thread-local variables.  Such a call is refused.  It searches,
 * allocates and formats nothing, and leaves no trace: thread-local variables are
 * initialized later.
 */
bool lc_is_ready(void);

/*
 * A search that ran out of memory or file descriptors is tried again, but not by
 * each of a thousand calls.  lc_may_try() returns true if the caller may try now;
 * lc_try_failed() records another failure.
 */
#define LC_TRIES_A_SECOND 8

bool lc_may_try(void);
void lc_try_failed(void);

#endif
