/* SPDX-License-Identifier: MIT */
/*
 * attempt.h - one search, up to all that is to be published
 *
 * Belongs to the thread that makes it.  Calls the dynamic loader and foreign
 * constructors: hold no lock.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "open.h"

struct lc_attempt {
	struct lc_arena arena;		/* of everything below */
	struct lc_search search;
	struct lc_found found;
	void *companion;		/* what was loaded for it, or NULL */
	lc_function *functions;		/* what each slot is to lead to, */
	uint8_t *outcomes;		/* or why it does not: enum lc_refusal */
	struct lazycuda_status *status;
};

/*
 * Searches, chooses, loads, resolves and says what came of it.  Only what is
 * loaded already is considered if `process_only`.  False when it could not be
 * done for want of memory or the like; then nothing is left to drop.
 */
bool lc_attempt(struct lc_attempt *attempt, bool process_only);

/* Unloads what was loaded and forgets the rest. */
void lc_attempt_drop(struct lc_attempt *attempt);

/* Sets attempt->status: report.c. */
void lc_report(struct lc_attempt *attempt);

static inline const struct lc_file *lc_attempt_file(const struct lc_attempt *attempt)
{
	return &attempt->search.files[attempt->search.at.self][attempt->found.choice.option];
}

#endif
