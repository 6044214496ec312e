/* SPDX-License-Identifier: MIT */
/* companions.c - loads what a real library needs, or opens by name, before it */
#include "companions.h"

#include <string.h>

#include "belongs.h"
#include "dl.h"
#include "../base/by_name.h"
#include "../base/count.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "places.h"
#include "unknown.h"

/* Returns the file of this name that ld.so might find before the library's RUNPATH leads it to
 * `own`, or instead of it if that is NULL; NULL: none.  It is in the LD_LIBRARY_PATH that the
 * program was started with, whatever has become of the variable since. */
static const char *shadowing_file(struct lc_arena *arena, const char *own, const char *soname)
{
	const Dl_serinfo *searched = lc_loader_path(arena, NULL);
	struct stat own_st, other;

	if (!searched || (own && stat(own, &own_st)))
		return NULL;
	for (unsigned i = 0; i < lc_count_before_own(searched); i++) {
		const char *path = lc_path(arena, searched->dls_serpath[i].dls_name, soname);

		if (!stat(path, &other) &&
		    !(own && lc_same_file(lc_identity(&own_st), lc_identity(&other))))
			return path;
	}
	return NULL;
}

/* One library, and what is brought for it. */
struct bringing {
	struct lc_arena *arena;
	struct lc_survey *survey;
	const char *site;	/* the site-packages that it lies in, or NULL */
	struct lc_strings seen;	/* SONAMEs of what was needed so far */
	struct lc_companions *brought;
	const struct lc_library *library;	/* of the stub that it is done for */
};

static bool is_usable(struct bringing *bringing, const char *folder, const char *path)
{
	const char *why;

	return lc_searchable(bringing->survey, folder) &&
	       lc_file_is_safe(&bringing->survey->folders, path, &why);
}

static void open_first(struct bringing *bringing, const char *path, const char *because)
{
	struct lc_companions *brought = bringing->brought;
	const char *said;
	void **handle = lc_grow(bringing->arena, &brought->handles, &brought->count,
				sizeof(*handle));

	if (!handle)
		return;
	*handle = lc_dlopen(bringing->arena, path, RTLD_LAZY | RTLD_LOCAL, &said);
	lc_trace(bringing->library, "%s: %s%s", path, *handle ? "loaded first, as the library " : "cannot be loaded",
		 *handle ? because : "");
}

/* ---- what it needs ---- */

#define MAX_DEPTH 8	/* libcusolver needs libcusparse, and that needs libnvJitLink */

/* The folder that an entry of a run path names; NULL for one that cannot be told or is relative. */
static const char *entry_folder(struct bringing *bringing, const char *entry, size_t length,
				const char *origin)
{
	const char *folder = lc_expand(bringing->survey->folders.arena, bringing->survey, entry, length,
				       origin);

	return folder && folder[0] == '/' ? lc_real_path(&bringing->survey->folders, folder) : NULL;
}

/* Returns the file in this folder, if it may be loaded. */
static const char *file_in(struct bringing *bringing, const char *folder, const char *soname)
{
	const char *path = folder ? lc_path(bringing->arena, folder, soname) : NULL;
	struct stat st;

	return path && !stat(path, &st) && is_usable(bringing, folder, path) ? path : NULL;
}

/* Returns the file that goes with the one at `path`: where its run path leads, beside it, or where
 * pip puts it; NULL: there is none. */
static const char *sibling_of(struct bringing *bringing, const char *path,
			      const struct lc_siblings *siblings, const char *soname)
{
	struct lc_arena *kept = bringing->survey->folders.arena;
	const char *origin = lc_folder_of(kept, path), *found = NULL, *at = siblings->path, *entry;
	size_t length;

	while (!found && (entry = lc_next_entry(&at, ":", &length)))
		found = file_in(bringing, entry_folder(bringing, entry, length, origin), soname);
	if (!found)
		found = file_in(bringing, origin, soname);
	if (!found && bringing->site)
		found = file_in(bringing, lc_format(kept, "%s/nvidia/%s/lib", bringing->site,
						    lc_cuda_folder(soname)), soname);
	return found;
}

/* Notes what may be the reason if the library cannot be loaded. */
static void note_shadowing(struct bringing *bringing, const char *other, const char *own)
{
	struct lc_arena *arena = bringing->arena;

	if (own && lc_lead_to_same(other, own))
		return;
	lc_add_string(arena, &bringing->brought->others,
		      lc_format(arena, "ld.so takes %s%s%s", lc_printable(arena, other),
				own ? " and not " : "", own ? lc_printable(arena, own) : ""));
}

static bool is_new(struct bringing *bringing, const char *soname)
{
	if (lc_is_among(soname, bringing->seen.list, bringing->seen.count))
		return false;
	lc_add_string(bringing->arena, &bringing->seen, soname);
	return true;
}

/*
 * Loads what a file needs of CUDA's libraries: their own needs first, each from where it goes with
 * the file.  ld.so searches LD_LIBRARY_PATH before a RUNPATH, and would mix two CUDAs.  What is in
 * the process stays the only one of its SONAME.
 */
static void bring_needed(struct bringing *bringing, const char *path, int depth)
{
	struct lc_siblings siblings;

	lc_elf_siblings(bringing->arena, path, &siblings);
	for (size_t i = 0; i < siblings.sonames.count; i++) {
		const char *soname = siblings.sonames.list[i], *own, *other;

		if (!is_new(bringing, soname))
			continue;
		own = sibling_of(bringing, path, &siblings, soname);
		other = lc_process_path_of(bringing->arena, soname);
		if (!other && !own)
			other = shadowing_file(bringing->arena, NULL, soname);
		if (other)
			note_shadowing(bringing, other, own);
		else if (own && depth < MAX_DEPTH) {
			bring_needed(bringing, own, depth + 1);
			open_first(bringing, own, "needs it");
		}
	}
}

/* ---- what it opens by name ---- */

static void bring_opened(struct bringing *bringing, const char *folder,
			 const struct lc_opened *row)
{
	const char *path = lc_path(bringing->arena, folder, row->soname);

	if (!is_usable(bringing, folder, path) ||
	    lc_process_path_of(bringing->arena, row->soname) ||
	    (!row->cuda && !shadowing_file(bringing->arena, path, row->soname)))
		return;
	bring_needed(bringing, path, 0);
	open_first(bringing, path, "opens it by name");
}

static void bring_all_opened(struct bringing *bringing, const char *path,
			     const struct lc_opened *row, int cuda)
{
	struct lc_arena *kept = bringing->survey->folders.arena;
	const char *own = lc_folder_of(kept, path);

	for (; row && row->soname; row++) {
		const char *folder = !row->cuda ? own : bringing->site && row->cuda == cuda ?
				     lc_path(kept, bringing->site, row->folder) : NULL;

		if (folder)
			bring_opened(bringing, folder, row);
	}
}

static struct bringing begin_bringing(struct lc_arena *arena, struct lc_cache *cache,
				      const struct lc_library *library,
				      const struct lc_candidate *candidate)
{
	struct bringing bringing = { .arena = arena, .survey = lc_cache_survey(cache), .library = library };
	const char *name;

	bringing.site = lc_site_of(arena, lc_listed_major(library, candidate->major), candidate->file->path,
				   &name);
	return bringing;
}

/* Returns the file of this SONAME that goes with one that was found and needs it: it would be loaded
 * before that one.  NULL: there is none, or this one does not need it. */
static const char *sibling_of_candidate(struct lc_arena *arena, struct lc_search *search,
					const struct lc_voter *voter,
					const struct lc_candidate *candidate, const char *soname)
{
	const char *path = candidate->file->path;
	struct lc_siblings siblings;
	struct bringing bringing;

	if (path[0] != '/' || !(candidate->file->siblings & lc_cuda_kind(soname)))
		return NULL;
	lc_elf_siblings(arena, path, &siblings);
	for (size_t i = 0; i < siblings.sonames.count; i++) {
		if (strcmp(siblings.sonames.list[i], soname))
			continue;
		bringing = begin_bringing(arena, search->cache, voter->library, candidate);
		return sibling_of(&bringing, path, &siblings, soname);
	}
	return NULL;
}

const char *lc_beside(struct lc_arena *arena, struct lc_search *search, const struct lc_voter *voter,
		      const struct lc_candidate *candidate, const char *soname)
{
	const char *path = candidate->file->path;
	struct bringing bringing;

	if (path[0] != '/')
		return NULL;
	bringing = begin_bringing(arena, search->cache, voter->library, candidate);
	return file_in(&bringing, lc_folder_of(bringing.survey->folders.arena, path), soname);
}

void lc_bring_companions(struct lc_arena *arena, struct lc_search *search,
			 const struct lc_candidate *candidate, int cuda, struct lc_companions *brought)
{
	const struct lc_library *library = search->own->library;
	const struct lc_file *file = candidate->file;
	struct bringing bringing;

	if ((!library->opens && !file->siblings) || file->path[0] != '/')
		return;
	if (!library->own_majors)
		cuda = candidate->major;
	else if (lc_only_cuda(candidate->cuda))
		cuda = lc_only_cuda(candidate->cuda);
	bringing = begin_bringing(arena, search->cache, library, candidate);
	bringing.brought = brought;
	if (file->siblings)
		bring_needed(&bringing, file->path, 0);
	bring_all_opened(&bringing, file->path, library->opens, cuda);
}

void lc_drop_companions(struct lc_companions *brought)
{
	for (size_t i = 0; i < brought->count; i++)
		if (brought->handles[i])
			dlclose(brought->handles[i]);
	*brought = (struct lc_companions){ .count = 0 };
}

/* ---- which of several files goes with what was found for the other stubs ---- */

/* The candidate that is that file; -1: none. */
static int candidate_of(const struct lc_voter *voter, const char *path)
{
	for (size_t i = 0; i < voter->candidate_count; i++)
		if (lc_lead_to_same(voter->candidates[i].file->path, path))
			return (int)i;
	return -1;
}

/* The first candidate that was searched for, of this major; -1: none is usable. */
static int first_found(const struct lc_voter *voter, int major)
{
	for (size_t i = 0; i < voter->candidate_count; i++)
		if (voter->candidates[i].origin == LC_BY_SEARCH && !voter->candidates[i].unusable &&
		    voter->candidates[i].major == major)
			return (int)i;
	return -1;
}

/* Moves a candidate before an earlier one. */
static void move_candidate(struct lc_candidate *candidates, int from, int to)
{
	const struct lc_candidate candidate = candidates[from];

	for (int i = from; i > to; i--)
		candidates[i] = candidates[i - 1];
	candidates[to] = candidate;
}

/* Puts the file first that goes with a candidate of another stub.  Returns false if there is none. */
static bool prefer_sibling(struct lc_arena *arena, struct lc_search *search, const struct lc_voter *voter,
			   const struct lc_candidate *candidate, const struct lc_major *major)
{
	const struct lc_voter *own = search->own;
	const char *path = sibling_of_candidate(arena, search, voter, candidate, major->soname);
	int first = first_found(own, major->major), at;

	if (!path || first < 0)
		return false;
	at = candidate_of(own, path);
	if (at < 0) {
		at = (int)own->candidate_count;
		lc_search_add(arena, search, path, candidate->file->found_by, candidate->tier, major);
	}
	if (arena->failed || at >= (int)own->candidate_count || own->candidates[at].unusable)
		return false;
	if (at > first) {
		lc_trace(own->library, "%s goes with %s", path, candidate->file->path);
		move_candidate(own->candidates, at, first);
	}
	return true;
}

/* Prefers a file for one major, by the first file that needs it, in the order of the stubs. */
static void prefer_for_major(struct lc_arena *arena, struct lc_search *search, const struct lc_major *major)
{
	for (size_t i = 0; i < search->at.voter_count; i++) {
		const struct lc_voter *voter = &search->voters[i];

		for (size_t k = 0; k < voter->candidate_count && voter != search->own; k++)
			if (!voter->candidates[k].unusable && voter->candidates[k].file->siblings &&
			    prefer_sibling(arena, search, voter, &voter->candidates[k], major))
				return;
	}
}

void lc_prefer_set(struct lc_arena *arena, struct lc_search *search)
{
	const struct lc_library *library = search->own->library;

	for (size_t m = 0; m < library->major_count && !arena->failed; m++)
		prefer_for_major(arena, search, &library->majors[m]);
}
