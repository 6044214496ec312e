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
	bool ready;		/* see tries.c */
};

_Static_assert(sizeof(struct lc_of_thread) <= 28, "see above");

extern LC_THREAD struct lc_of_thread lc_of_thread LC_HIDDEN;

#endif
