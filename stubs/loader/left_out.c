/* SPDX-License-Identifier: MIT */
/* left_out.c - what was not searched, or in vain, and why */
#include "left_out.h"

#include <string.h>

#include "../base/glibc.h"
#include "../base/image.h"

const char *lc_wanted(struct lc_arena *arena, const struct lc_library *library)
{
	const char *text = "";

	for (size_t i = 0; i < library->major_count; i++)
		text = lc_format(arena, "%s%s%s", text,
				 i == 0 ? "" : i + 1 == library->major_count ? " or " : ", ",
				 library->majors[i].soname);
	return text;
}

static bool lies_in(const char *path, const char *folder)
{
	const size_t length = strlen(folder);

	return !strncmp(path, folder, length) && (!path[length] || path[length] == '/' ||
						  folder[length - 1] == '/');
}

/* Returns true if a file was found there, or something there has been left out. */
static bool is_told_of(const struct lc_attempt *attempt, const char *entry)
{
	const struct lc_search *search = &attempt->search;
	const struct lc_survey *survey = &search->cache->survey;

	for (size_t i = 0; i < search->own->candidate_count; i++) {
		const struct lc_file *file = search->own->candidates[i].file;

		if (lies_in(file->path, entry))
			return true;
		for (const struct lc_other_path *other = file->other_paths; other; other = other->next)
			if (lies_in(other->path, entry))
				return true;
	}
	for (size_t i = 0; i < survey->left_out_count; i++)
		if (lies_in(survey->left_out[i].path, entry))
			return true;
	return false;
}

/* Why there is no folder of that name. */
static const char *why_none(struct lc_attempt *attempt, const char *entry, bool by_hand)
{
	const char *last = entry + strlen(entry) - 1;
	struct stat st;

	if (*entry == '/' && !stat(entry, &st))
		return !by_hand ? "it is a file" : lc_format(&attempt->arena,
			"it is a file: name its folder, or the file by %s",
			lc_attempt_library(attempt)->variable);
	if (*entry == '~')
		return "~ means something to shells alone";
	if (strchr("\"'", *entry) || strchr("\"'", *last))
		return "it is in quotes";
	if (*entry == ' ' || *last == ' ')
		return "it begins or ends with a space";
	return *entry == '/' ? "it does not exist" : "it is relative: an absolute path is needed";
}

/* Why an entry has led to nothing; NULL: it was searched, or is told of. */
static const char *why_not(struct lc_attempt *attempt, const char *entry, bool by_hand)
{
	const char *why;

	if (!lc_folder_to_search(&attempt->search.cache->survey.folders, entry, &why) && !why)
		return why_none(attempt, entry, by_hand);
	if (why || !by_hand || is_told_of(attempt, entry))
		return why;
	return lc_format(&attempt->arena, "it has no %s", lc_wanted(&attempt->arena, lc_attempt_library(attempt)));
}

struct listing {
	struct lc_attempt *attempt;
	struct lazycuda_status *status;
	uint32_t *numbers;	/* by the hash of its path, a folder's number, from 1 on */
	size_t capacity;		/* a power of two */
};

/* Where the number of this path stands, or is to stand. */
static uint32_t *number_at(const struct listing *listing, const char *path)
{
	size_t i = lc_hash(path, strlen(path));

	for (;; i++) {
		uint32_t *number = &listing->numbers[i & (listing->capacity - 1)];

		if (!*number || !strcmp(listing->status->left_out[*number - 1].path, path))
			return number;
	}
}

static bool hold_more(struct listing *listing)
{
	const struct lazycuda_status *status = listing->status;

	if (2 * status->left_out_count < listing->capacity)
		return true;
	listing->capacity = listing->capacity ? 2 * listing->capacity : 16;
	listing->numbers = lc_alloc(&listing->attempt->arena,
				    listing->capacity * sizeof(*listing->numbers));
	for (size_t i = 0; listing->numbers && i < status->left_out_count; i++)
		*number_at(listing, status->left_out[i].path) = (uint32_t)i + 1;
	return listing->numbers;
}

static void add_left_out(struct listing *listing, const char *path, const char *why)
{
	struct lazycuda_status *status = listing->status;
	struct lazycuda_folder *list = (struct lazycuda_folder *)status->left_out, *folder;

	if (listing->attempt->arena.failed || !hold_more(listing) || *number_at(listing, path))
		return;
	folder = lc_grow(&listing->attempt->arena, &list, &status->left_out_count, sizeof(*folder));
	status->left_out = list;
	if (!folder)
		return;
	*folder = (struct lazycuda_folder){ path, why };
	*number_at(listing, path) = (uint32_t)status->left_out_count;
}

/* Each character of `between` is between two entries. */
static void add_entries(struct listing *listing, const char *name, const char *value,
			const char *between, bool by_hand)
{
	struct lc_attempt *attempt = listing->attempt;
	struct lc_arena *arena = &attempt->arena;
	const char *found;
	size_t length;

	while ((found = lc_next_entry(&value, between, &length))) {
		const char *entry = lc_copy(arena, found, length), *why = NULL;

		/* ld.so alone knows what a $ in it stands for. */
		if (entry && length && !strchr(entry, '$'))
			why = why_not(attempt, entry, by_hand);
		if (why) {
			lc_trace(lc_attempt_library(attempt), "%s: %s names it, but %s", entry, name, why);
			add_left_out(listing, entry, lc_format(arena, "%s names it, but %s", name, why));
		}
	}
}

struct lc_left_out lc_list_left_out(struct lc_attempt *attempt, struct lazycuda_status *status)
{
	const struct lc_cache *cache = attempt->search.cache;
	const struct lc_survey *survey = &cache->survey;
	const bool in_vain = !attempt->found.handle && attempt->search.looked;
	const bool toolkits = in_vain && lc_has_majors(lc_attempt_library(attempt));
	struct listing listing = { .attempt = attempt, .status = status };
	struct lc_left_out counts = { 0 };

	/* LAZYCUDA_PATH is first, and is for every library. */
	for (size_t i = 0; in_vain && i < (toolkits ? LC_LEADING : 1); i++)
		add_entries(&listing, lc_leading[i], cache->variables[i], i ? "" : ":", true);
	counts.by_hand = status->left_out_count;
	for (size_t i = 0; i < survey->left_out_count; i++)
		add_left_out(&listing, survey->left_out[i].path, survey->left_out[i].reason);
	counts.searched = status->left_out_count - counts.by_hand;
	if (in_vain)
		add_entries(&listing, "LD_LIBRARY_PATH",
			    lc_variable_at_start(&attempt->arena, "LD_LIBRARY_PATH"), ":;", false);
	if (toolkits) {
		add_entries(&listing, "CONDA_PREFIX", survey->conda, "", false);
		add_entries(&listing, "PYTHONPATH", survey->python, ":", false);
	}
	return counts;
}
