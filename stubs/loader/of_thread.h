/* SPDX-License-Identifier: MIT */
/*
 * of_thread.h - what a stub keeps of each thread
 *
 * No stub has a variable that the compiler makes thread-local.  glibc reserves 1,664 bytes for
 * those of all libraries that dlopen() loads, and refuses a library that does not fit any more.
 */
#ifndef OF_THREAD_H
#define OF_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../base/thread.h"

/*
 * Returns true once the process is set up.  The resolver of an IFUNC runs while
 * ld.so is still relocating, and may call a stub before libc has a locale, an
 * environment or thread-local variables.  Such a call is refused.  It
 * searches, allocates and formats nothing, and leaves no trace.
 */
bool lc_is_ready(void);

/* Called when the stub is loaded: from now on lc_is_ready(), whatever becomes of the environment. */
void lc_begin_threads(void);

/* What a library's stub keeps of each thread, 0 at first: the last call that was not forwarded. */
union lc_of_thread {
	struct {
		int32_t status;
		int32_t pending;	/* a status that the caller has not fetched yet */
		int32_t reason;		/* its offset from lc_library; 0: none */
		uint16_t slot;
		uint8_t why;		/* enum lc_refusal */
		bool past;		/* the library has since returned that status */
	};
	uint64_t word[2];
};

_Static_assert(sizeof(union lc_of_thread) == 2 * sizeof(uint64_t), "it is kept as the values of two keys");

/*
 * The main thread's lies here.  Those of others are the values of two of POSIX's keys, which are made
 * when such a thread writes first: there is no memory to be had, and none to be freed.
 */
struct lc_of_threads {
	union lc_of_thread of_main;
	union lc_of_thread early;	/* until lc_is_ready() */
	_Atomic uint64_t pair;	/* the keys */
};

/* NULL: the stub has not begun; some other address: another thread loaded it. */
extern _Atomic(const void *) lc_main_thread LC_HIDDEN;

static inline bool lc_is_main_here(void)
{
	return __builtin_expect(atomic_load(&lc_main_thread) == lc_this_thread(), 1);
}

union lc_of_thread lc_of_thread(struct lc_of_threads *threads);

/* Takes the lock once, for the keys.  Does nothing if the process has used up its own, or if libc has
 * no memory for a thread that has used many. */
void lc_set_of_thread(struct lc_of_threads *threads, union lc_of_thread own);

/* Called before each search, as it takes ld.so's lock: finds libc's functions about keys. */
void lc_find_keys(void);

#endif
