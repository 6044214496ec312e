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

#include "arena.h"
#include "process.h"
#include "stub.h"

struct lc_place {
	const char *directory;
	bool site;		/* a site-packages: each major has its folder below */
	const char *found_by;	/* as in lazycuda.h, "rpath" */
};

struct lc_places {
	struct lc_place *list;
	size_t count;
};

/* The places for one library, in order, each once. */
void lc_places_of(struct lc_arena *arena, const struct lc_library *library,
		  const struct lc_process *process, struct lc_places *places);

/*
 * Whether dlopen() of a plain name would search only where we do: an empty or
 * relative entry in LD_LIBRARY_PATH makes it search the current directory, and
 * it does not mind a directory that anybody may write to.
 */
bool lc_loader_path_is_safe(struct lc_arena *arena);

#endif
