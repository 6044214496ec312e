/* SPDX-License-Identifier: MIT */
/*
 * asks.c - asks a library which CUDA it was made with
 *
 * cuDNN is the one that can say it without a GPU, and is often copied into a toolkit's folder, which
 * may be that of another CUDA.
 */
#include "open.h"

#include <string.h>

#include "dl.h"
#include "../base/count.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "../base/objects.h"

#define QUESTION "cudnnGetCudartVersion"

/* Where the function is, for each major of cuDNN.  libcudnn.so opens that by name, and ends the
 * process if it cannot: so it is asked itself. */
static const struct { int own; const char *soname; } parts[] = {
	{ 8, "libcudnn_ops_infer.so.8" }, { 9, "libcudnn_graph.so.9" },
};

static const char *part_of(const struct lc_library *library, int own)
{
	for (size_t i = 0; i < LC_COUNT(parts); i++)
		if (!strncmp(library->name, "cudnn", 5) && parts[i].own == own)
			return parts[i].soname;
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
static bool ask_option(struct lc_arena *arena, struct lc_search *search, size_t seat, size_t index,
		       int common)
{
	struct lc_option *option = &search->seats[seat].options[index];
	const char *part = part_of(search->seats[seat].library, option->major);
	const char *path = part && !option->unusable ?
			   lc_beside(arena, search, seat, index, part) : NULL;
	int cuda = path ? ask_library(arena, search->seats[seat].library, path) : 0;

	if (!cuda || cuda > LC_MAX_CUDA || (common && cuda != common) || option->cuda == 1u << cuda)
		return false;
	option->cuda = 1u << cuda;
	option->told = lc_format(arena, "it belongs to CUDA %d, as %s beside it says", cuda, part);
	return true;
}

bool lc_ask_libraries(struct lc_arena *arena, struct lc_search *search, int common)
{
	const size_t self = search->at.self;
	bool any = false;

	for (size_t i = 0; i < search->seats[self].option_count; i++)
		any |= ask_option(arena, search, self, i, common);
	return any;
}

/* Returns true if there is a library of another CUDA for one of the stubs. */
static bool has_another(const struct lc_search *search, int common)
{
	for (size_t s = 0; s < search->at.seat_count; s++) {
		const struct lc_seat *seat = &search->seats[s];

		for (size_t i = 0; i < seat->option_count && !seat->library->own_majors; i++)
			if (seat->options[i].major != common && !seat->options[i].unusable)
				return true;
	}
	return false;
}

bool lc_ask_in_folders(struct lc_arena *arena, struct lc_search *search, int common)
{
	bool any = false;

	if (!common || search->at.process_major || !has_another(search, common))
		return false;
	for (size_t s = 0; s < search->at.seat_count; s++)
		for (size_t i = 0; i < search->seats[s].option_count; i++)
			if (search->seats[s].options[i].by_folder)
				any |= ask_option(arena, search, s, i, 0);
	return any;
}
