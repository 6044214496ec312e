/* SPDX-License-Identifier: MIT */
/* found.c - what a search found, loaded */
#include "found.h"

#include <errno.h>

#include "glibc.h"

const char lc_stand_in[] = "is a stand-in for linking: its functions do nothing";

/*
 * Whether what dlopen() gave is what was chosen.  It opens a path again, under
 * which somebody may have put another file since it was read; and it may be
 * somebody else's dlopen(), or hand out what has that name already.
 */
static const char *mismatch(void *handle, const struct lc_library *library,
			    const struct lc_option *option, const struct lc_file *file)
{
	struct link_map *map;
	struct stat st;

	if (option->origin != LC_BY_PROCESS &&
	    (stat(file->path, &st) || !lc_same_file(file->identity, lc_identity(&st))))
		return "was replaced while it was being loaded";
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) ||
	    lc_process_major(map, library) != option->major)
		return "is not what dlopen() loaded for it";
	return NULL;
}

/* Why dlopen() gave nothing. */
static const char *failure(struct lc_arena *arena, int error, bool loaded)
{
	const char *said;

	lc_arena_hinder(arena, error);
	said = dlerror();
	said = said ? lc_printable(arena, said) :
	       loaded ? "it has just been unloaded" : "dlopen() does not say why";
	return lc_format(arena, "cannot be loaded: %s", said);
}

void lc_reject_found(struct lc_search *search, int option, const char *why)
{
	size_t self = search->at.self;

	search->seats[self].options[option].reason = why;
	search->seats[self].options[option].unusable = true;
	lc_trace("%s %s", search->files[self][option].path, why);
}

void *lc_open_found(struct lc_arena *arena, struct lc_search *search, int option)
{
	size_t self = search->at.self;
	const struct lc_option *chosen = &search->seats[self].options[option];
	const struct lc_file *file = &search->files[self][option];
	bool loaded = chosen->origin == LC_BY_PROCESS;
	const char *why;
	void *handle;

	errno = 0;
	handle = dlopen(file->path, RTLD_NOW | RTLD_LOCAL | (loaded ? RTLD_NOLOAD : 0));
	why = handle ? mismatch(handle, search->peers[self]->library, chosen, file) :
		       failure(arena, errno, loaded);
	if (!why)
		return handle;
	if (handle)
		dlclose(handle);
	lc_reject_found(search, option, why);
	return NULL;
}
