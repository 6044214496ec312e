/* SPDX-License-Identifier: MIT */
/*
 * places.h - where a real library may be
 *
 * The order is a promise (docs/reference/how-it-works.md).  It begins as ld.so's for the objects that
 * need the stub: what they would have loaded, had they been linked to the library itself.  What
 * ld.so knows nothing of comes in between only if the objects lie in it.
 */
#ifndef PLACES_H
#define PLACES_H

#include "choice.h"
#include "survey.h"

struct lc_place {
	const char *path;
	enum lc_tier tier;
	struct lc_folder *folder;
	bool site;		/* a site-packages: each major has its own folder below it */
	const char *found_by;	/* as in lazycuda.h, "rpath" */
	const char *object;	/* the file above which it lies; NULL: somebody named it */
};

struct lc_places {
	struct lc_place *list;
	size_t count;
	const Dl_serinfo *loader_path;	/* of the library's stub, or NULL */
};

/* Kinds of places: what a variable or ld.so leads to, and so on. */
#define LC_KINDS 12

/* Adds the places for one library that exist and are safe, in order, each once: those of the kinds from
 * one on to before another.  `stub` is the file of its stub; NULL: of this one. */
void lc_places_of(struct lc_arena *arena, struct lc_survey *survey, size_t from, size_t end,
		  const struct lc_library *library, const char *stub, struct lc_places *places);

/* How many kinds are to be looked at after so many: those of a tier, or `singly`, but always those of the
 * caller and the shell together, which ld.so has in an order of its own. */
size_t lc_kinds_after(size_t kinds, bool singly);

/* The first tier of which so many kinds are not all. */
enum lc_tier lc_tier_after(size_t kinds);

/* Returns true if the run path of an object leads to a file with a name of the library behind the stub
 * that it needs, in a folder that the survey has not left out. */
bool lc_leads_to_its_library(struct lc_arena *arena, const struct lc_survey *survey,
			     const struct lc_user *user);

/* Expands the tokens that ld.so expands in an entry of a search path; any other `$` stays.  Returns
 * NULL if it has a token whose value is not known. */
const char *lc_expand(struct lc_arena *arena, const struct lc_survey *survey, const char *entry,
		      size_t length, const char *origin);

/* lc_searchable() for a place, or for a folder below it.  One that nobody named may only belong to root,
 * to the user, or to the owner of the object that it was found by. */
struct lc_folder *lc_place_folder(struct lc_survey *survey, const struct lc_place *place,
				  const char *path);

#endif
