/* SPDX-License-Identifier: MIT */
/* specifics.h - what a library needs beyond its table */
#ifndef SPECIFICS_H
#define SPECIFICS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../include/lazycuda.h"
#include "../entry/own.h"

struct lc_registration;	/* peers.h */

/* Returns what a slot leads to instead of a function that may take long, or the function itself. */
typedef lc_function lc_lasting(const char *name, lc_function function);

/* Each stub defines one. */
struct lc_specifics {
	/* How a user gets the library, a sentence for messages. */
	const char *advice;
	/* NULL: the library does not report its version. */
	lc_version_look *version;
	/* Functions for slots that the library leaves empty, or NULL. */
	const struct lc_adaptor *adaptors;
	/*
	 * Calls that were recorded before the library was loaded.  The first
	 * function returns true if any is left.  The second makes the next one,
	 * given the function of each slot, or why it has none (enum lc_refusal), and
	 * which signals it lets through meanwhile (loader.h).  The first is called
	 * with the lock held, the second without.  NULL: this library records no calls.
	 */
	bool (*replay_pending)(void);
	void (*replay_next)(const lc_function *functions, const uint8_t *outcomes, uint64_t *held);
	/* As in struct lc_peer; NULL: this library records no calls. */
	bool (*registered)(const struct lc_registration *call, uintptr_t *result);
	/* The status before the first search. */
	const struct lazycuda_status *unknown;
	/* NULL: no function takes long.  The second waits for those who are inside one when exit() shuts
	 * the library down. */
	lc_lasting *lasting;
	void (*await_lasting)(void);
	/* Called in the child of a fork(), as its only thread; NULL: there is nothing to do. */
	void (*replay_forked)(void);
};

#define LC_UNKNOWN(name) &(const struct lazycuda_status){ \
	.size = sizeof(struct lazycuda_status), .library = (name), \
	.state = LAZYCUDA_STATE_UNKNOWN, .reason = "no call has been made yet" }

#endif
