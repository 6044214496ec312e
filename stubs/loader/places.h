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

#include "../../include/lazycuda.h"
#include "../base/arena.h"
#include "../base/by_name.h"
#include "../base/folders.h"
#include "../base/ldcache.h"
#include "choice.h"
#include "process.h"
#include "../entry/stub.h"

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
	size_t before;		/* how many were there before the last call of lc_places_of() */
	const Dl_serinfo *loader_path;	/* of the library's stub, or NULL */
};

/* The nearest folders above a file, by each of its paths: the site-packages, and the lib of the
 * conda prefix. */
struct lc_above {
	struct lc_strings sites, condas;
};

/* A folder that may be a site-packages, and the packages in it that are for one CUDA: names of
 * dist-info folders. */
struct lc_site {
	const char *path;
	struct lc_strings packages;
	bool nvidias;		/* it has a package of NVIDIA's */
};

/* What a search reads only once, however many libraries it looks for. */
struct lc_survey {
	struct lc_process *process;
	struct lc_folders folders;
	struct lc_above *above;		/* parallel to the process's users */
	struct lc_ldcache cache;
	const char *lib;		/* ld.so's value of $LIB; NULL: not known yet */
	const Dl_serinfo *library_path;	/* begins with LD_LIBRARY_PATH; NULL: ld.so does not tell */
	const char *conda, *python;	/* CONDA_PREFIX and PYTHONPATH, or NULL */
	struct lc_strings toolkits;	/* below /usr/local, the newest first */
	struct lc_site *sites;		/* that were listed */
	size_t site_count;
	struct lazycuda_folder *left_out;	/* folders that are not searched, and why */
	size_t left_out_count;
	bool cache_read, toolkits_read;
};

void lc_survey_begin(struct lc_arena *arena, struct lc_process *process, struct lc_survey *survey);

/* Reads ld.so's cache, or opens it again. */
void lc_survey_cache(struct lc_survey *survey);

/* Reads which toolkits lie below /usr/local. */
void lc_survey_toolkits(struct lc_survey *survey);
void lc_survey_end(struct lc_survey *survey);

/* The folder's packages, which are listed once; NULL if memory ran out. */
const struct lc_site *lc_site(struct lc_survey *survey, const char *path);

/* "cuda-12.9" as 1209; 0 for anything else. */
int lc_toolkit_version(const char *name);

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

/* Records a folder that exists but is not searched, and why. */
void lc_leave_out(struct lc_survey *survey, const char *path, const char *why);
bool lc_is_left_out(const struct lc_survey *survey, const char *path);

/* The folder at this path if it exists and is safe (see folders.h), else NULL. */
struct lc_folder *lc_searchable(struct lc_survey *survey, const char *path);

/* lc_searchable() for a place, or for a folder below it.  One that nobody named may only belong to root,
 * to the user, or to the owner of the object that it was found by. */
struct lc_folder *lc_place_folder(struct lc_survey *survey, const struct lc_place *place,
				  const char *path);

#endif
