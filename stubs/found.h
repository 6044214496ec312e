/* SPDX-License-Identifier: MIT */
/*
 * found.h - what a search found, loaded
 *
 * Of the seat that the search is made for.  Calls the dynamic loader and
 * foreign constructors: hold no lock.
 */
#ifndef FOUND_H
#define FOUND_H

#include "search.h"

/* Loads the file of an option.  NULL: then it is unusable, and has the reason. */
void *lc_open_found(struct lc_arena *arena, struct lc_search *search, int option);

/* Makes an option unusable, for this reason. */
void lc_reject_found(struct lc_search *search, int option, const char *why);

/* Why a library without majors is rejected that does not say its version. */
extern const char lc_stand_in[];

#endif
