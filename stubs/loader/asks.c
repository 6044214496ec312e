/* SPDX-License-Identifier: MIT */
/*
 * asks.c - asks a library which CUDA it was made with
 *
 * cuDNN is the one that can say it without a GPU, and is often copied into a toolkit's folder, which
 * may be that of another CUDA.
 */
#include "asks.h"

#include <string.h>

#include "companions.h"
#include "dl.h"
#include "../base/count.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "../base/objects.h"

#define QUESTION "cudnnGetCudartVersion"

/* Where the function is, for each major of cuDNN.  libcudnn.so opens that by name, and ends the
 * process if it cannot: so it is asked itself.  A whole SONAME here would look as if the file of any
 * embedded stub opened it. */
static const struct { int own; const char *name; } parts[] = {
	{ 8, "ops_infer" }, { 9, "graph" },
};

static const char *asked_part(struct lc_arena *arena, const struct lc_library *library, int own)
{
	for (size_t i = 0; i < LC_COUNT(parts); i++)
		if (!strncmp(library->name, "cudnn", 5) && parts[i].own == own)
			return lc_format(arena, "libcudnn_%s.so.%d", parts[i].name, own);
	return NULL;
}

/* The major of CUDA that the library in this file says; 0: it does not. */
static int ask_library(struct lc_arena *arena, const struct lc_library *library, const char *path)
{
	size_t (*question)(void);
	void *handle, *address;
	const char *said;
	int version = 0;

	handle = lc_dlopen(arena, path, RTLD_LAZY | RTLD_LOCAL, &said);
	if (!handle)
		return 0;
	address = lc_ask_loader(handle, QUESTION, NULL);
	if (address) {
		memcpy(&question, &address, sizeof(question));
		version = (int)question();
		lc_trace(library, "%s: " QUESTION "() is %d", path, version);
	}
	dlclose(handle);
	return LC_MAJOR(lc_version_of_number(version));
}

/* Asks one that was found for a stub, and notes what it says: of any CUDA, or only of that of the
 * process.  Returns true if that is news. */
static bool ask_candidate(struct lc_arena *arena, struct lc_search *search, const struct lc_voter *voter,
			  struct lc_candidate *candidate, int common)
{
	const char *part = asked_part(arena, voter->library, candidate->major);
	const char *path = part && !candidate->unusable ?
			   lc_beside(arena, search, voter, candidate, part) : NULL;
	int cuda = path ? ask_library(arena, voter->library, path) : 0;

	if (!cuda || cuda > LC_MAX_CUDA || (common && cuda != common) || candidate->cuda == 1u << cuda)
		return false;
	candidate->cuda = 1u << cuda;
	candidate->cuda_reason = lc_format(arena, "it belongs to CUDA %d, as %s beside it says", cuda,
					   part);
	return true;
}

bool lc_ask_libraries(struct lc_arena *arena, struct lc_search *search, int common)
{
	bool any = false;

	for (size_t i = 0; i < search->own->candidate_count; i++)
		any |= ask_candidate(arena, search, search->own, &search->own->candidates[i], common);
	return any;
}

/* Returns true if there is a library of another CUDA for one of the stubs. */
static bool has_another(const struct lc_search *search, int common)
{
	for (size_t s = 0; s < search->at.voter_count; s++) {
		const struct lc_voter *voter = &search->voters[s];

		for (size_t i = 0; i < voter->candidate_count && !voter->library->own_majors; i++)
			if (voter->candidates[i].major != common && !voter->candidates[i].unusable)
				return true;
	}
	return false;
}

bool lc_ask_in_folders(struct lc_arena *arena, struct lc_search *search, int common)
{
	bool any = false;

	if (!common || search->at.process_major || !has_another(search, common))
		return false;
	for (size_t s = 0; s < search->at.voter_count; s++) {
		const struct lc_voter *voter = &search->voters[s];

		for (size_t i = 0; i < voter->candidate_count; i++)
			if (voter->candidates[i].by_folder)
				any |= ask_candidate(arena, search, voter, &voter->candidates[i], 0);
	}
	return any;
}
