/* SPDX-License-Identifier: MIT */
/*
 * of_thread.h - a stub's thread-local variables
 *
 * glibc reserves 1,664 bytes of static TLS for all libraries that dlopen() loads, and refuses
 * a library that does not fit any more.  So a stub's variables are all in this struct, which
 * is as small as it can be: tests/load counts how many stubs fit.
 */
#ifndef OF_THREAD_H
#define OF_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/glibc.h"
#include "../entry/stub.h"

struct lc_of_thread {
	/* errors.c: the last call that was not forwarded */
	int32_t reason;		/* its offset from lc_library; 0: none */
	int32_t status;
	int32_t pending;	/* a status that the caller has not fetched yet */
	uint16_t slot;
	uint8_t why;		/* enum lc_refusal */
	bool past;		/* the library has since returned that status */
	/* forks.c: the outermost lc_enter() */
	bool disabled;		/* cancellation was disabled before it */
	uint8_t epoch;		/* the last bits of its epoch */
	uint16_t entered;	/* nesting depth */
	uint32_t frame;		/* of the stack, as by mark_of(); 0: above any frame */
	bool forks;		/* this thread is in fork() */
	bool awaits;		/* its exit() waits for other threads */
	bool ready;		/* see lc_is_ready() */
};

_Static_assert(sizeof(struct lc_of_thread) <= 28, "see above");

extern LC_THREAD struct lc_of_thread lc_of_thread LC_HIDDEN;

/*
 * Returns true once the process is set up.  The resolver of an IFUNC runs while
 * ld.so is still relocating, and may call a stub before libc has a locale, an
 * environment or thread-local variables: until then they are zero.  Such a call is refused.  It
 * searches, allocates and formats nothing, and leaves no trace.
 */
static inline bool lc_is_ready(void)
{
	return lc_of_thread.ready;
}

#endif
