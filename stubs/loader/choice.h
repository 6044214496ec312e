/* SPDX-License-Identifier: MIT */
/*
 * choice.h - chooses a library among those found
 *
 * A pure function of candidates and circumstances, which it does not change.  It returns
 * a choice with a reason for each candidate.  No I/O, no state, the same answer in any
 * thread and in any stub.
 */
#ifndef CHOICE_H
#define CHOICE_H

#include <stdbool.h>

#include "objections.h"

struct lc_choice {
	int candidate;		/* of voters[self]; -1: none */
	enum lc_refusal refusal;	/* if none: MISSING, DRIVER, INCOHERENT or EXCLUDED */
	bool objected;		/* the driver cannot run it */
	const char *reason;	/* why this one, or why none */
	int common;		/* the major of CUDA for the process; 0: none */
	const char **reasons;	/* of each candidate of voters[self]: why it was taken or not */
};

/* Returns true if a choice stands whatever lies farther: only the tiers before `end` were looked at. */
bool lc_choice_stands(struct lc_arena *arena, const struct lc_circumstances *at,
		      const struct lc_choice *choice, enum lc_tier end);

/* Reasons are allocated in `arena`; if it has failed, there is no choice. */
struct lc_choice lc_choose(struct lc_arena *arena, const struct lc_circumstances *at);

#endif
