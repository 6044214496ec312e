/* SPDX-License-Identifier: MIT */
/* hooks.h - what is defined above the files that use it: of each, who defines and who uses it */
#ifndef HOOKS_H
#define HOOKS_H

#include "../entry/stub.h"

struct lc_attempt;	/* attempt.h */

/* This stub's own record.  api.c defines it, as it points to functions there; peers.c and others
 * use it.  It is exported as lazycuda_stub_1, but inside the stub that name might resolve to
 * another stub's record, so it is not used. */
extern struct lc_peer lc_self LC_HIDDEN;

/* What this stub's library needs.  Its room, or gen, defines it; the loader uses it. */
extern const struct lc_specifics lc_specifics LC_HIDDEN;

/* Resets what was half done, so that it is done anew.  loader.c defines it; forks.c calls it in the
 * child of a fork(), where the lock is free. */
void lc_forked(void);

/* Sets attempt->status.  report.c defines it; attempt.c calls it last. */
void lc_report(struct lc_attempt *attempt);

#endif
