/* SPDX-License-Identifier: MIT */
/*
 * open.h - what a search found, chosen and loaded
 *
 * Of the seat that the search is made for.  Calls the dynamic loader and
 * foreign constructors: hold no lock.
 */
#ifndef OPEN_H
#define OPEN_H

#include "search.h"

struct lc_found {
	const struct lc_library *library;
	const struct lc_major *major;
	lc_version version;
	void *handle;			/* NULL: no library is usable */
	struct lc_choice choice;
};

/* Looks at the driver as far as the choice needs it; false: that could not be done now. */
typedef bool lc_driver_look(struct lc_arena *arena, struct lc_circumstances *at);

/*
 * Chooses and loads, until something is loaded that the process agrees on, or
 * nothing is left.  What cannot be loaded is unusable then, and has the reason.
 * look: NULL for what does not depend on the driver.
 */
void lc_open_found(struct lc_arena *arena, struct lc_search *search, lc_driver_look *look,
		   struct lc_found *found);

/* The function of this name in what was loaded, a struct lc_found; or NULL. */
lc_function lc_find_found(const char *name, void *found);

void lc_close_found(struct lc_found *found);

#endif
