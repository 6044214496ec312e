/* SPDX-License-Identifier: MIT */
/* isolated.h - a job in a child process, whose crash is an error here */
#ifndef LINK_ISOLATED_H
#define LINK_ISOLATED_H

#include "job.h"

struct lk_limits {
	bool isolated;
	uint64_t deadline;	/* of lk_now(); 0: none */
	uint64_t memory;	/* bytes; 0: no limit */
	int cancel;		/* a file that can be read once it is cancelled; -1: none */
};

/* Does the job in a child process.  How that ended is in the product, with what the child
 * printed in a log. */
void lk_do_isolated(struct lc_arena *arena, const struct lk_job *job,
		    const struct lk_limits *limits, struct lk_product *product);

/* The number that begins a job; a child that expects another is of another version. */
#define LK_JOB_STAMP UINT64_C(0x6c6b6a6f62303033)

#endif
