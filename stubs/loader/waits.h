/* SPDX-License-Identifier: MIT */
/*
 * waits.h - waiting for a thread that does what this one needs
 *
 * A thread that registers kernels with the library runs foreign code, which may take any time.
 * Whoever needs the result waits as long as that takes.  But the foreign code may itself
 * wait for the waiter: for ld.so's lock, say, while the waiter is in a constructor.  Or it may
 * have left by longjmp(), and not come back.  The kernel tells what a thread is waiting for.
 */
#ifndef WAITS_H
#define WAITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "../base/thread.h"

/* A thread at work, as it describes itself with lc_work_begin(). */
struct lc_work {
	const void *self;	/* by lc_this_thread() */
	pid_t thread;
	const char *frame;	/* of its stack: the work is done below */
};

void lc_work_begin(struct lc_work *work, const void *frame);

static inline bool lc_work_is_own(const struct lc_work *work)
{
	return work->self == lc_this_thread();
}

/*
 * Waits while `*word` is `value`, at most `LC_WAIT_MS` at a time.  Returns false if it is no use
 * to wait on: the thread is gone, has left its work, or waits for a lock that the caller holds or,
 * for a second, for one of ld.so's that another thread holds, which may be waiting for the caller.
 * `waits` counts the calls.  It takes neither locks nor memory.
 */
bool lc_wait_for(const struct lc_work *work, const _Atomic int *word, int value, int *waits);

#define LC_WAIT_MS 50

/* Wakes who waits for a change of `*word`. */
void lc_wake(const _Atomic int *word);

#endif
