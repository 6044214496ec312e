/* SPDX-License-Identifier: MIT */
/* open.c - chooses and loads one of the files that a search found */
#include "open.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "../base/glibc.h"
#include "unknown.h"

/*
 * Returns why the object that dlopen() returned is not the chosen one, or NULL if it
 * is.  dlopen() opens the path again, and the file may have been replaced since it
 * was read.  dlopen() may also be interposed, or return an object that already has
 * that name.
 */
static const char *mismatch(struct lc_arena *arena, void *handle, const struct lc_library *library,
			    const struct lc_option *option, const struct lc_file *file)
{
	struct link_map *map;
	struct stat st;

	if (option->origin != LC_BY_PROCESS && stat(file->path, &st)) {
		lc_arena_hinder(arena, errno);
		return lc_format(arena, "cannot be looked at again: %s", strerror(errno));
	}
	if (option->origin != LC_BY_PROCESS && !lc_same_file(file->identity, lc_identity(&st)))
		return "was replaced while it was being loaded";
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) ||
	    lc_process_major(map, library) != option->major)
		return "is not what dlopen() loaded for it";
	return NULL;
}

/* Returns why dlopen() failed. */
static const char *failure(struct lc_arena *arena, int error, bool loaded)
{
	const char *said;

	lc_arena_hinder(arena, error);
	said = dlerror();
	said = said ? lc_printable(arena, said) :
	       loaded ? "it has just been unloaded" : "dlopen() does not say why";
	return lc_format(arena, "cannot be loaded: %s", said);
}

/* Marks an option as unusable, for this reason. */
static void reject(struct lc_search *search, int option, const char *why)
{
	size_t self = search->at.self;

	search->seats[self].options[option].unusable = why;
	lc_trace("%s %s", search->files[self][option].path, why);
}

/* Loads the file of an option.  On failure marks it as unusable and returns NULL. */
static void *open_option(struct lc_arena *arena, struct lc_search *search, int option)
{
	size_t self = search->at.self;
	const struct lc_option *chosen = &search->seats[self].options[option];
	const struct lc_file *file = &search->files[self][option];
	bool loaded = chosen->origin == LC_BY_PROCESS;
	const char *why;
	void *handle;

	errno = 0;
	handle = dlopen(file->path, RTLD_NOW | RTLD_LOCAL | (loaded ? RTLD_NOLOAD : 0));
	why = handle ? mismatch(arena, handle, search->seats[self].library, chosen, file) :
		       failure(arena, errno, loaded);
	if (!why)
		return handle;
	if (handle)
		dlclose(handle);
	reject(search, option, why);
	return NULL;
}

lc_function lc_find_found(const char *name, void *found)
{
	const struct lc_found *in = found;
	lc_function function;
	void *address = lc_has_nodes(in->library) ?
		dlvsym(in->handle, name, in->major->soname) : dlsym(in->handle, name);

	memcpy(&function, &address, sizeof(function));
	return function;
}

void lc_close_found(struct lc_found *found)
{
	if (found->handle)
		dlclose(found->handle);
	found->handle = NULL;
}

/* Returns the version that the library reports, else what its exports prove, else the
 * oldest of its major.  A library without majors has to report one, which NVIDIA's
 * link-time stubs cannot. */
static lc_version version_of(struct lc_found *found, lc_version_look *version)
{
	const struct lc_library *library = found->library;
	int major = found->major->major;
	lc_version said = version ? version(lc_find_found, found, major) : 0;

	if (!lc_has_majors(library) || (said && LC_MAJOR(said) == major))
		return said;
	for (size_t i = 0; i < library->since_count; i++) {
		const struct lc_since *since = &library->since[i];

		if (LC_MAJOR(since->version) == major &&
		    lc_find_found(library->names + since->name, found))
			return since->version;
	}
	return found->major->oldest;
}

/* Loads the chosen option. */
static bool open_choice(struct lc_arena *arena, struct lc_search *search,
			lc_version_look *version, struct lc_found *found)
{
	int chosen = found->choice.option;
	struct lc_option *option = &search->seats[search->at.self].options[chosen];

	found->major = lc_listed_major(found->library, option->major);
	found->handle = open_option(arena, search, chosen);
	if (!found->handle)
		return false;
	found->version = version_of(found, version);
	option->version = found->version;
	if (found->version)
		return true;
	lc_close_found(found);
	reject(search, chosen, "is a stand-in for linking: its functions do nothing");
	return false;
}

/*
 * Agrees on a major with the other stubs.  Returns false if they have agreed on
 * another one since the search read it; then the choice has to be made again.
 */
static bool agree(struct lc_search *search, const struct lc_found *found)
{
	struct lc_circumstances *at = &search->at;
	int major = found->major->major;
	uint32_t agreed = 0;

	if (at->settings.guard == LC_OFF || at->process_major || !lc_is_coordinated(found->library))
		return true;
	if (atomic_compare_exchange_strong(&search->first->process_major, &agreed,
					   (uint32_t)major) ||
	    (int)agreed == major)
		return true;
	at->process_major = (int)agreed;
	return false;
}

void lc_open_found(struct lc_arena *arena, struct lc_search *search, lc_driver_look *look,
		   lc_version_look *version, struct lc_found *found)
{
	static const struct lc_choice none = { .option = -1, .refusal = LC_MISSING };

	*found = (struct lc_found){ .choice = none };
	if (arena->failed)
		return;
	found->library = search->seats[search->at.self].library;
	for (;;) {
		if (look && !look(arena, &search->at)) {
			found->choice = none;
			return;
		}
		found->choice = lc_choose(arena, &search->at);
		if (arena->failed)
			return;
		if (found->choice.option < 0) {
			if (!lc_search_last_resort(arena, search))
				return;
		} else if (open_choice(arena, search, version, found)) {
			if (agree(search, found))
				return;
			lc_close_found(found);
		}
	}
}
