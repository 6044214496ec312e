/* SPDX-License-Identifier: MIT */
/*
 * places.h - where a real library may lie
 *
 * The order is a promise (README, "Where it looks"): what the objects that
 * need the stub would have been linked to before comes first, what the whole
 * machine shares comes last.
 */
#ifndef PLACES_H
#define PLACES_H

#include "../../include/lazycuda.h"
#include "../base/arena.h"
#include "../base/by_name.h"
#include "../base/folders.h"
#include "../base/ldcache.h"
#include "process.h"
#include "../entry/stub.h"

struct lc_place {
	const char *path;
	struct lc_folder *folder;
	bool site;		/* a site-packages: each major has its folder below */
	const char *found_by;	/* as in lazycuda.h, "rpath" */
};

struct lc_places {
	struct lc_place *list;
	size_t count;
};

struct lc_strings {
	const char **list;
	size_t count;
};

/* What lies above a file: each site-packages, and the lib of each conda prefix. */
struct lc_above {
	struct lc_strings sites, condas;
};

/* What a search looks at once, however many libraries it looks for. */
struct lc_survey {
	const struct lc_process *process;
	struct lc_folders folders;
	struct lc_above *above;		/* parallel to the process's users */
	struct lc_ldcache cache;
	const Dl_serinfo *loader_path;	/* or NULL */
	const char *lib;		/* what ld.so puts for $LIB; NULL: not yet known */
	struct lc_strings toolkits;	/* below /usr/local, the newest first */
	struct lazycuda_folder *left_out;	/* what is there and not safe, and why */
	size_t left_out_count;
};

void lc_survey_begin(struct lc_arena *arena, const struct lc_process *process,
		     struct lc_survey *survey);
void lc_survey_end(struct lc_survey *survey);

/* The places for one library that are there and safe, in order, each once. */
void lc_places_of(struct lc_arena *arena, struct lc_survey *survey,
		  const struct lc_library *library, struct lc_places *places);

/* Notes what is there and is not searched: a folder, and what speaks against it. */
void lc_leave_out(struct lc_survey *survey, const char *path, const char *why);

/* The folder at this path, if it is there and safe; see folders.h. */
struct lc_folder *lc_searchable(struct lc_survey *survey, const char *path);

/* The path of what a file lies in, or NULL where only its name is known. */
const char *lc_folder_of(struct lc_arena *arena, const char *path);

#endif
