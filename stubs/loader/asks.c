/* SPDX-License-Identifier: MIT */
/* asks.c - asks a library which CUDA it was made with */
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
static int ask(struct lc_arena *arena, const char *path)
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
		lc_trace("%s: " QUESTION "() is %d", path, version);
	}
	dlclose(handle);
	return LC_MAJOR(lc_version_of_number(version));
}

bool lc_ask_libraries(struct lc_arena *arena, struct lc_search *search, int common)
{
	struct lc_seat *seat = &search->seats[search->at.self];
	bool any = false;

	for (size_t i = 0; i < seat->option_count; i++) {
		struct lc_option *option = &seat->options[i];
		const char *part = option->unusable ? NULL : part_of(seat->library, option->major);
		const char *path = part ? lc_beside(arena, search, i, part) : NULL;
		int cuda = path ? ask(arena, path) : 0;

		if (!cuda || cuda > LC_MAX_CUDA || (common && cuda != common))
			continue;
		option->cuda = 1u << cuda;
		option->told = lc_format(arena, "it belongs to CUDA %d, as %s beside it says", cuda, part);
		any = true;
	}
	return any;
}
