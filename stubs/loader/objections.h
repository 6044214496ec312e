/* SPDX-License-Identifier: MIT */
/* objections.h - what a candidate is, and what speaks against it whatever else was found */
#ifndef OBJECTIONS_H
#define OBJECTIONS_H

#include "choice.h"

bool lc_is_guarded(const struct lc_circumstances *at);
bool lc_heeds_driver(const struct lc_circumstances *at);

/* Returns true if it matters whether the driver can run a stub's library. */
bool lc_asks_driver(const struct lc_circumstances *at, const struct lc_seat *seat);

/* The majors of CUDA that an option may belong to, a bit for each; 0: it goes with any. */
uint32_t lc_cuda_of(const struct lc_seat *seat, const struct lc_option *option);

/* Returns true if an option may belong to this major of CUDA; 0: to any. */
bool lc_goes_with(const struct lc_seat *seat, const struct lc_option *option, int major);

/* The major of CUDA that an option belongs to; 0: it goes with any, or that is not known. */
int lc_told_major(const struct lc_seat *seat, const struct lc_option *option);
bool lc_is_unclear(const struct lc_seat *seat, const struct lc_option *option);

/* Returns why the driver cannot run this option, or NULL if it can. */
const char *lc_driver_objection(struct lc_arena *arena, const struct lc_circumstances *at,
				const struct lc_seat *seat, const struct lc_option *option);

/* Returns why an option may not be taken, whatever the other stubs do, or NULL.  What the driver
 * cannot run may be, unless the guard is strict. */
const char *lc_objection(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_seat *seat, const struct lc_option *option);

/* Returns why the user's constraints allow no version that an option can have, or NULL.  They
 * do not concern a file that the user names, nor one that goes with any CUDA. */
const char *lc_why_excluded(struct lc_arena *arena, const struct lc_circumstances *at,
			    const struct lc_seat *seat, const struct lc_option *option);

/* Returns true if anything about the driver can change the choice; with `branch`, if the display
 * driver's can: the driver has the same major as a candidate and may be older. */
bool lc_choice_needs_driver(const struct lc_circumstances *at, bool branch);

#endif
