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

/*
 * Chooses and loads, until something is loaded that the process agrees on, or
 * nothing is left.  What cannot be loaded is unusable then, and has the reason.
 */
void lc_open_found(struct lc_arena *arena, struct lc_search *search, struct lc_found *found);

/* The function of this name in what was loaded, a struct lc_found; or NULL. */
lc_function lc_find_found(const char *name, void *found);

void lc_close_found(struct lc_found *found);

#endif
