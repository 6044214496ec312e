/* SPDX-License-Identifier: MIT */
/*
 * attempt.h - one search, and what it came to
 *
 * An attempt belongs to the thread that makes it.  It calls the dynamic loader
 * and foreign constructors: hold no lock.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "open.h"

struct lc_attempt {
	struct lc_arena arena;		/* owns everything below */
	struct lc_search search;
	struct lc_found found;
	void *companion;		/* the handle of library->companion, or NULL */
	lc_function *functions;		/* for each slot; NULL: the slot stays slow */
	uint8_t *outcomes;		/* for each slot: enum lc_refusal */
	lc_function *endings;		/* room for one for each slot; NULL: not needed */
};

/*
 * For a stub: searches, chooses, loads and resolves.  If `process_only`,
 * considers only libraries that are named or already loaded.  Returns false if the
 * search could not be finished, for lack of memory or file descriptors; then there
 * is nothing to drop.
 */
bool lc_attempt(struct lc_attempt *attempt, struct lc_peer *self, bool process_only);

/* Unloads what was loaded and frees the rest. */
void lc_attempt_drop(struct lc_attempt *attempt);

static inline const struct lc_library *lc_attempt_library(const struct lc_attempt *attempt)
{
	return attempt->search.self->library;
}

static inline const struct lc_file *lc_attempt_file(const struct lc_attempt *attempt)
{
	return attempt->search.own->candidates[attempt->found.choice.candidate].file;
}

#endif
