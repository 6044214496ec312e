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
#include "cache.h"

struct lc_search {
	struct lc_peer *self;	/* the stub that it is made for; NULL: for the driver's library */
	struct lc_circumstances at;
	struct lc_voter *voters;	/* with room for every stub of the process */
	struct lc_voter *own;	/* of these, the one that it is made for */
	struct lc_cache *cache;
	const struct lc_places *looked;	/* for messages: the places of this stub, or NULL */
	size_t kinds;		/* how many kinds of places were looked at, or must not be */
	bool last_resort_done;		/* the last resort was tried, or must not be */
	const char *hidden;	/* the variable that hides the library, or NULL */
};

/* For this stub, fills everything but the driver.  If `process_only`, considers only libraries that
 * are named or already loaded; if the library is hidden, considers nothing.  Takes what is
 * known, which is to be given back; search->cache is NULL if memory ran out. */
void lc_search_run(struct lc_arena *arena, struct lc_search *search, struct lc_peer *self, bool process_only);

/* Looks farther: at the folders of the caller's and the shell's, then at those of the next tier, until
 * there is something usable; at one kind of place after the other, where the first file of the process's
 * major ends the search.  Returns false if nothing is left to look at. */
bool lc_search_farther(struct lc_arena *arena, struct lc_search *search);

/* Searches for a library of the driver's, which need not have a stub in the process.  Uses
 * `cache`, which stays the caller's to give back. */
void lc_search_real(struct lc_arena *arena, struct lc_search *search, struct lc_cache *cache,
		    const struct lc_library *library);

/*
 * A search that ran out of memory or file descriptors is tried again, but not by
 * each of a thousand calls.  lc_may_try() returns true if the caller may try now;
 * lc_try_failed() records another failure.
 */
#define LC_TRIES_A_SECOND 8

bool lc_may_try(void);
void lc_try_failed(void);

/* Adds a file that may be this stub's library, for a SONAME of `major`. */
void lc_search_add(struct lc_arena *arena, struct lc_search *search, const char *path,
		   const char *found_by, enum lc_tier tier, const struct lc_major *major);

/* The name of the file that goes with a version of a library which has a companion. */
const char *lc_companion_name(struct lc_arena *arena, const struct lc_library *library, lc_version version);

/* Returns true if anything was found, usable or not, except stubs under real names, and what is
 * left of libraries: empty files and dangling links; with `listed`, of a major that is in the list. */
bool lc_search_found_any(const struct lc_search *search, bool listed);

/*
 * Adds what dlopen() finds for the plain SONAMEs if the places had nothing: the
 * dynamic loader may know more folders (Nix, LD_AUDIT, musl).  Loads the library to
 * do so.  Skips a SONAME under which a stub was found, because dlopen() would return
 * that stub.  Runs once in a search.  Returns true if something new was found.
 */
bool lc_search_last_resort(struct lc_arena *arena, struct lc_search *search);

#endif
