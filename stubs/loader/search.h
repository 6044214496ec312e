/* SPDX-License-Identifier: MIT */
/*
 * search.h - finds everything that could be loaded, for every stub of the process
 *
 * Inspects files and the process.  Loads nothing, except lc_search_last_resort(),
 * and decides nothing.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "choice.h"
#include "../base/object.h"
#include "peers.h"
#include "places.h"
#include "process.h"

/* A file that was found; the choice only sees its option. */
struct lc_file {
	const char *path;
	const char *found_by;	/* as in lazycuda.h */
	bool stub;		/* a lazycuda stub: no sign that a real library is here */
	struct lc_identity identity;	/* when it was found or read; zero: not known */
};

struct lc_search {
	struct lc_circumstances at;
	struct lc_seat seats[LC_MAX_PEERS];
	struct lc_file *files[LC_MAX_PEERS];	/* parallel to seats[i].options */
	const struct lc_adaptor *adaptors[LC_MAX_PEERS];	/* of the stub whose seat it is */
	struct lc_peer *first;	/* the stub that keeps the process's major */
	struct lc_process process;
	struct lc_survey survey;
	unsigned long rounds;	/* through the places, one for each library and major */
	struct lc_places looked;	/* for messages: the places of this stub */
	bool resorted;		/* the last resort was tried, or must not be */
	const char *hidden;	/* the variable that hides the library, or NULL */
};

/* Fills everything but the driver.  If `process_only`, considers only libraries that
 * are named or already loaded; if the library is hidden, considers nothing. */
void lc_search_run(struct lc_arena *arena, struct lc_search *search, bool process_only);

/* The same for a library without majors that need not have a stub in the process. */
void lc_search_real(struct lc_arena *arena, struct lc_search *search,
		    const struct lc_library *library);

/* Returns true if anything was found, usable or not, except stubs under real names. */
bool lc_search_found_any(const struct lc_search *search);

/*
 * Adds what dlopen() finds for the plain SONAMEs if the places had nothing: the
 * dynamic loader may know more folders (Nix, LD_AUDIT, musl).  Loads the library to
 * do so.  Skips a SONAME under which a stub was found, because dlopen() would return
 * that stub.  Runs once in a search.  Returns true if something new was found.
 */
bool lc_search_last_resort(struct lc_arena *arena, struct lc_search *search);

#endif
