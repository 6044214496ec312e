/* SPDX-License-Identifier: MIT */
/* by_name.c - opens libraries by their plain names, from safe folders only */
#include "by_name.h"

#include <stdlib.h>
#include <string.h>

#include "folders.h"
#include "glibc.h"
#include "ldcache.h"

#define FLAGS (RTLD_NOW | RTLD_LOCAL)

/* Returns a handle of the library that was loaded from this file: the DT_RPATH of the object
 * that loaded it applies to what it opens.  Without such a library, a handle of the program. */
static void *open_loaded(const char *file)
{
	void *handle = file ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	return handle ? handle : dlopen(NULL, RTLD_LAZY);
}

const Dl_serinfo *lc_loader_path(struct lc_arena *arena, const char *file)
{
	void *handle = open_loaded(file ? file : lc_this_file());
	Dl_serinfo size, *info = NULL;

	if (!handle)
		return NULL;
	if (!dlinfo(handle, RTLD_DI_SERINFOSIZE, &size))
		info = lc_alloc(arena, size.dls_size);
	if (info && (dlinfo(handle, RTLD_DI_SERINFOSIZE, info) ||
		     dlinfo(handle, RTLD_DI_SERINFO, info)))
		info = NULL;
	dlclose(handle);
	return info;
}

bool lc_loader_path_is_safe(struct lc_folders *folders, const Dl_serinfo *path)
{
	for (unsigned i = 0; path && i < path->dls_cnt; i++)
		if (!lc_folder_is_safe(folders, path->dls_serpath[i].dls_name))
			return false;
	return path != NULL;
}

/* `folder` is not NUL-terminated. */
static void *open_in(struct lc_folders *folders, const char *folder, size_t length,
		     const char *name)
{
	const char *safe = lc_copy(folders->arena, folder, length), *path, *why;

	if (!safe || !lc_folder_is_safe(folders, safe))
		return NULL;
	path = lc_path(folders->arena, safe, name);
	if (!lc_file_is_safe(folders, path, &why))
		return NULL;
	/* Without memory the path is "", which dlopen() takes for the program. */
	return folders->arena->failed ? NULL : dlopen(path, FLAGS);
}

static bool is_safe_or_absent(struct lc_folders *folders, const char *path)
{
	const char *why;
	struct stat st;

	return lstat(path, &st) || lc_file_is_safe(folders, path, &why);
}

/* Returns true if every file that ld.so, which follows any link, can find by this name is safe. */
static bool finds_safe_ones(struct lc_folders *folders, const Dl_serinfo *path, const char *name)
{
	const char **cached;
	size_t count;

	if (!lc_loader_path_is_safe(folders, path))
		return false;
	for (unsigned i = 0; i < path->dls_cnt; i++)
		if (!is_safe_or_absent(folders, lc_path(folders->arena,
							path->dls_serpath[i].dls_name, name)))
			return false;
	count = lc_ldcache_find(folders->arena, &name, 1, &cached);
	for (size_t i = 0; i < count; i++)
		if (!is_safe_or_absent(folders, cached[i]))
			return false;
	return true;
}

/* Searches in ld.so's order: LD_LIBRARY_PATH, the cache, then ld.so's other folders. */
static void *open_searched(struct lc_folders *folders, const Dl_serinfo *path, const char *name)
{
	const char *at = secure_getenv("LD_LIBRARY_PATH"), **cached;
	void *handle = NULL;
	size_t count;

	while (at && *at && !handle) {
		size_t length = strcspn(at, ":;");

		handle = open_in(folders, at, length, name);
		at += length + (at[length] != 0);
	}
	count = handle ? 0 : lc_ldcache_find(folders->arena, &name, 1, &cached);
	for (size_t i = 0; i < count && !handle && !folders->arena->failed; i++)
		handle = open_in(folders, cached[i],
				 (size_t)(strrchr(cached[i], '/') - cached[i]), name);
	for (unsigned i = 0; path && i < path->dls_cnt && !handle; i++)
		handle = open_in(folders, path->dls_serpath[i].dls_name,
				 strlen(path->dls_serpath[i].dls_name), name);
	return handle;
}

void *lc_open_by_name(const char *name)
{
	struct lc_arena arena = { .failed = false };
	struct lc_folders folders = { .arena = &arena };
	const Dl_serinfo *path = lc_loader_path(&arena, NULL);
	void *handle = finds_safe_ones(&folders, path, name) ? dlopen(name, FLAGS) :
							       open_searched(&folders, path, name);

	lc_arena_free(&arena);
	return handle;
}
