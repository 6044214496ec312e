/* SPDX-License-Identifier: MIT */
/* tries.h - whether anything may be tried now */
#ifndef TRIES_H
#define TRIES_H

#include <stdbool.h>

/*
 * Whether the process is set up.  An IFUNC's resolver runs while ld.so is still
 * relocating, and may call us before libc has a locale, an environment or anything
 * thread-local.  Then a call is refused, nothing is searched for, allocated or
 * formatted, and nothing is remembered: what is thread-local begins anew.
 */
bool lc_is_ready(void);

/*
 * What memory or file descriptors ran out in is tried again, but not by each of a
 * thousand calls: whether it may be now, and that it failed again.
 */
#define LC_TRIES_A_SECOND 8

bool lc_may_try(void);
void lc_try_failed(void);

#endif
