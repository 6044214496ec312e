/* SPDX-License-Identifier: MIT */
/* sets.c - which of several files goes with what was found for the other stubs */
#include "sets.h"

#include <string.h>

#include "companions.h"
#include "../base/glibc.h"
#include "unknown.h"

/* The option of this stub that is that file; -1: none. */
static int option_of(const struct lc_search *search, const char *path)
{
	const struct lc_seat *seat = &search->seats[search->at.self];
	struct stat own, st;

	if (stat(path, &own))
		return -1;
	for (size_t i = 0; i < seat->option_count; i++) {
		const char *other = search->files[search->at.self][i].path;

		if (!strcmp(other, path) || (!stat(other, &st) && lc_same_file(lc_identity(&own),
									       lc_identity(&st))))
			return (int)i;
	}
	return -1;
}

/* The first option that was searched for, of this major; -1: none is usable. */
static int first_of(const struct lc_seat *seat, int major)
{
	for (size_t i = 0; i < seat->option_count; i++)
		if (seat->options[i].origin == LC_BY_SEARCH && !seat->options[i].unusable &&
		    seat->options[i].major == major)
			return (int)i;
	return -1;
}

/* Moves an option and its file to the place of an earlier one. */
static void move(struct lc_search *search, int from, int to)
{
	struct lc_option *options = search->seats[search->at.self].options, option = options[from];
	struct lc_file *files = search->files[search->at.self], file = files[from];

	for (int i = from; i > to; i--) {
		options[i] = options[i - 1];
		files[i] = files[i - 1];
	}
	options[to] = option;
	files[to] = file;
}

/* Puts the file first that goes with an option of another stub.  Returns false if there is none. */
static bool prefer(struct lc_arena *arena, struct lc_search *search, size_t seat, size_t option,
		   const struct lc_major *major)
{
	const struct lc_seat *own = &search->seats[search->at.self];
	const struct lc_file *needing = &search->files[seat][option];
	const char *path = lc_sibling_of(arena, search, seat, option, major->soname);
	int first = first_of(own, major->major), at;

	if (!path || first < 0)
		return false;
	at = option_of(search, path);
	if (at < 0) {
		at = (int)own->option_count;
		lc_search_add(arena, search, path, needing->found_by, major);
	}
	if (arena->failed || at >= (int)own->option_count || own->options[at].unusable)
		return false;
	if (at > first) {
		lc_trace("%s goes with %s", path, needing->path);
		move(search, at, first);
	}
	return true;
}

/* Does so for one major, by the first file that needs it, in the order of the stubs. */
static void prefer_for(struct lc_arena *arena, struct lc_search *search, const struct lc_major *major)
{
	for (size_t i = 0; i < search->at.seat_count; i++) {
		const struct lc_seat *seat = &search->seats[i];

		for (size_t k = 0; k < seat->option_count && i != search->at.self; k++)
			if (!seat->options[k].unusable && search->files[i][k].siblings &&
			    prefer(arena, search, i, k, major))
				return;
	}
}

void lc_prefer_set(struct lc_arena *arena, struct lc_search *search)
{
	const struct lc_library *library = search->seats[search->at.self].library;

	for (size_t m = 0; m < library->major_count && !arena->failed; m++)
		prefer_for(arena, search, &library->majors[m]);
}
