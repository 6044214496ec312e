/* SPDX-License-Identifier: MIT */
/*
 * forks.h - the one lock, and fork()
 *
 * A child of fork() has one thread, and what another thread of the parent was
 * in the middle of is never finished there.  A lock that such a thread held, of
 * ours or of ld.so, would be held in the child for ever.  So fork() waits until
 * no other thread is at such a place on our behalf, and threads on their way
 * there wait for fork(); both for a second at most, since the one may depend on
 * the other through foreign code.  Nothing is locked across a fork(): handlers
 * of other libraries run in the middle of it and may call us.
 */
#ifndef FORKS_H
#define FORKS_H

#include <stdbool.h>

/*
 * Around every call into the dynamic loader, and around whatever else a fork()
 * is not to cut in two.  May be nested.  The thread cannot be cancelled there.
 */
void lc_enter(void);
void lc_leave(void);

/* The same, but false rather than wait for a fork(). */
bool lc_try_enter(void);

/* The lock over the state, the slots and the records: loader.h.  Never taken twice. */
void lc_lock(void);
void lc_unlock(void);

/* A tenth of a millisecond, for the few waits that have no event to wait for. */
void lc_nap(void);

#define LC_NAPS_A_SECOND 10000

/* In a child, once the lock is free: what was half done is to be done anew. */
void lc_forked(void);

#endif
