/* SPDX-License-Identifier: MIT */
/* tries.c - when a stub may search: not too early, and not too often */
#include "tries.h"

#include <stdatomic.h>
#include <time.h>

#include "of_thread.h"

/* ld.so initializes thread-local variables after all relocations; until then they are zero. */
bool lc_is_ready(void)
{
	return lc_of_thread.ready;
}

static struct {
	_Atomic unsigned long long second;	/* of the last failed try */
	_Atomic int failed;			/* tries in that second */
} tries;

static unsigned long long this_second(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
		return atomic_load(&tries.second) + 1;	/* no clock: every call tries */
	return (unsigned long long)now.tv_sec;
}

bool lc_may_try(void)
{
	return atomic_load(&tries.failed) < LC_TRIES_A_SECOND ||
	       atomic_load(&tries.second) != this_second();
}

void lc_try_failed(void)
{
	unsigned long long second = this_second();

	if (atomic_exchange(&tries.second, second) != second)
		atomic_store(&tries.failed, 0);
	atomic_fetch_add(&tries.failed, 1);
}
