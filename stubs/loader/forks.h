/* SPDX-License-Identifier: MIT */
/*
 * forks.h - the stub's only lock, and fork()
 *
 * A child of fork() has one thread.  What the parent's other threads were doing is
 * never finished there, and a lock that one of them held, the stub's or ld.so's,
 * would be held in the child for ever.  So fork() waits until no other thread is
 * between lc_enter() and lc_leave(), and threads that are about to enter wait for
 * fork().  Both wait a second at most, since each may depend on the other through
 * foreign code.  No lock is held across a fork(): handlers of other libraries run
 * in the middle of it and may call the stub.
 */
#ifndef FORKS_H
#define FORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Called when the stub is loaded.  Not later: glibc 2.28 to 2.35 have a lock over the handlers,
 * which fork() holds while it calls them, and these may wait for a thread in its first call.
 *
 * exit() of this thread, and of the one that fork() makes, then waits until no other one is between
 * lc_enter() and lc_leave(), a second at most: a library that is being loaded there would have its
 * static objects destroyed while it makes others.  An exit handler would be late, as exit() first
 * calls those that were registered last, and the library has registered its own.
 */
void lc_handle_forks(void);

/*
 * Put these around every call into the dynamic loader, and around anything else
 * that a fork() must not interrupt.  They may be nested.  The thread cannot be
 * cancelled in between.
 */
void lc_enter(void);
void lc_leave(void);

/* lc_enter() for who loads a library.  If exit() runs in the main thread, this lets it go on for a
 * tenth of a second, in which most processes end. */
void lc_enter_for_load(void);

/* lc_enter() that returns false instead of waiting for a fork(). */
bool lc_try_enter(void);

/* This thread, which has entered, goes on in a stack of LC_STACK_BYTES at a multiple of that.
 * lc_move_back() takes what lc_move_in() returned. */
uint32_t lc_move_in(const void *stack);
void lc_move_back(uint32_t left);

#define LC_STACK_BYTES ((size_t)8 << 20)

/* The lock over the state, the slots and the records: see loader.h.  Not recursive. */
void lc_lock(void);
void lc_unlock(void);

/* Asserts that this thread holds the lock; a build for a sanitizer ends the process if not. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
# define LC_CHECKS_THE_LOCK
void lc_locked(void);
#else
static inline void lc_locked(void) { }
#endif

/* Clears interrupted work in the child of a fork(), where the lock is free.  loader.c defines it. */
void lc_forked(void);

/* Sleeps for a tenth of a millisecond, for the few waits that have no event to wait for. */
void lc_nap(void);

#define LC_NAPS_A_SECOND 10000

/* Of a constant that is read when a stub is loaded: among what ld.so has just written, so that no
 * page of .rodata is fetched for it. */
#ifndef LC_EMBEDDED
#define LC_AT_START __attribute__((section(".data.rel.ro")))
#else
#define LC_AT_START
#endif

#endif
