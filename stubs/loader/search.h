/* SPDX-License-Identifier: MIT */
/*
 * search.h - everything that could be loaded, for every stub of the process
 *
 * Looks at files and at the process, loads nothing, decides nothing.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "choice.h"
#include "../base/object.h"
#include "peers.h"
#include "places.h"
#include "process.h"

/* A file found, beside the option that the choice sees of it. */
struct lc_file {
	const char *path;
	const char *found_by;	/* as in lazycuda.h */
	bool stub;		/* one of ours: no sign that a real library is here */
	struct lc_identity identity;	/* when it was read; none if it was not */
};

struct lc_search {
	struct lc_circumstances at;
	struct lc_seat seats[LC_MAX_PEERS];
	struct lc_file *files[LC_MAX_PEERS];	/* parallel to seats[i].options */
	struct lc_peer *peers[LC_MAX_PEERS];	/* whose seats they are */
	struct lc_peer *first;	/* keeps the process's major */
	struct lc_process process;
	struct lc_survey survey;
	unsigned long rounds;	/* of places, one for each library and major */
	struct lc_places looked;	/* for messages: where this stub looked */
	bool resorted;		/* dlopen() was asked, or is not to be */
	const char *hidden;	/* the variable that hides what is searched for, or NULL */
};

/* Fills everything but the driver.  Only what is loaded already is considered
 * if `process_only`, and nothing if it is hidden. */
void lc_search_run(struct lc_arena *arena, struct lc_search *search, bool process_only);

/* The same for a library without majors that need not have a stub in the process. */
void lc_search_real(struct lc_arena *arena, struct lc_search *search,
		    const struct lc_library *library, const struct lc_specifics *specifics);

/* Whether it found anything at all, usable or not, but stubs under real names. */
bool lc_search_found_any(const struct lc_search *search);

/*
 * Adds what dlopen() finds for a plain soname where the places had nothing: a
 * loader may know more than we do (Nix, LD_AUDIT, musl).  Loads it.  A soname
 * under which there is a stub is not asked for: dlopen() would give that one.
 * Once in a search; whether there is something now that was not.
 */
bool lc_search_last_resort(struct lc_arena *arena, struct lc_search *search);

#endif
