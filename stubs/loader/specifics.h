/* SPDX-License-Identifier: MIT */
/* specifics.h - what a library needs beyond its table */
#ifndef SPECIFICS_H
#define SPECIFICS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../include/lazycuda.h"
#include "../entry/stub.h"

struct lc_registration;	/* peers.h */

/* One is defined for each stub. */
struct lc_specifics {
	/* A status was here, which grows and would move what other releases read. */
	char unused[80];
	/* How a user gets the library, a sentence for messages. */
	const char *advice;
	/*
	 * The version that the library gives itself; 0 if it does not tell.
	 * `find` gives its functions.
	 */
	lc_version (*version)(lc_finder *find, void *data, int major);
	/* How slots are served that the library cannot fill, or NULL. */
	const struct lc_adaptor *adaptors;
	/*
	 * Calls recorded before the library was there: whether any is left, and
	 * make the next one, given what each slot leads to, or why it does not
	 * (enum lc_refusal).  The first is called with the lock held, the second
	 * without.  NULL: this library records none.
	 */
	bool (*replay_pending)(void);
	void (*replay_next)(const lc_function *functions, const uint8_t *outcomes);
	/* As in struct lc_peer; NULL likewise. */
	bool (*registered)(const struct lc_registration *call, uintptr_t *result);
	/* The status before the first search. */
	const struct lazycuda_status *unknown;
	/* In a new process, alone there, after fork(); NULL likewise. */
	void (*replay_forked)(void);
};

#define LC_UNKNOWN(name) &(const struct lazycuda_status){ \
	.size = sizeof(struct lazycuda_status), .library = (name), \
	.state = LAZYCUDA_UNKNOWN, .reason = "no call has been made yet" }

extern const struct lc_specifics lc_specifics LC_HIDDEN;

#endif
