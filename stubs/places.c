/* SPDX-License-Identifier: MIT */
/* places.c - where a real library may lie */
#include "places.h"

#include <string.h>

#include "settings.h"

/* Debian's name for the CPU, and the folders that NVIDIA's packages use. */
#if defined(__x86_64__)
# define MULTIARCH "x86_64-linux-gnu"
static const char *const target_folders[] = { "targets/x86_64-linux/lib", NULL };
#elif defined(__aarch64__)
# define MULTIARCH "aarch64-linux-gnu"
static const char *const target_folders[] = {
	"targets/sbsa-linux/lib", "targets/aarch64-linux/lib", NULL
};
#else
# define MULTIARCH "unknown-linux-gnu"
static const char *const target_folders[] = { NULL };
#endif

static const char *const system_directories[] = {
	"/usr/lib/" MULTIARCH, "/usr/lib64", "/usr/lib", NULL
};

/* The list for one library, being made. */
struct list {
	struct lc_arena *arena;
	struct lc_survey *survey;
	const struct lc_library *library;
	struct lc_places *places;
};

struct lc_folder *lc_searchable(struct lc_survey *survey, const char *path)
{
	struct lc_folder *folder = lc_folder(&survey->folders, path);

	if (!folder || lc_folder_is_safe(&survey->folders, path))
		return folder;
	lc_trace("%s: not searched, anybody may write there", path);
	return NULL;
}

static void add(struct list *list, const char *path, bool site, const char *found_by)
{
	struct lc_folder *folder = lc_folder(&list->survey->folders, path);
	struct lc_place *place;

	/* A relative entry would mean the current directory, and leads nowhere. */
	if (!folder || folder->listed[site] == list->library ||
	    !lc_searchable(list->survey, path))
		return;
	place = lc_grow(list->arena, &list->places->list, &list->places->count, sizeof(*place));
	if (!place)
		return;
	*place = (struct lc_place){ path, folder, site, found_by };
	folder->listed[site] = list->library;
}

const char *lc_folder_of(struct lc_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || path[0] != '/')
		return NULL;
	return slash == path ? lc_format(arena, "/") : lc_copy(arena, path, (size_t)(slash - path));
}

/*
 * Replaces $ORIGIN and $LIB in an entry of a search path.  Returns NULL for an
 * entry with another `$`, which would need the loader's own knowledge.
 */
static const char *expand(struct lc_arena *arena, const char *entry, size_t length,
			  const char *origin)
{
	static const struct { const char *token; size_t length; bool origin; } tokens[] = {
		{ "${ORIGIN}", 9, true }, { "$ORIGIN", 7, true },
		{ "${LIB}", 6, false }, { "$LIB", 4, false },
	};
	const char *end = entry + length, *result = "";

	while (entry < end) {
		const char *dollar = memchr(entry, '$', (size_t)(end - entry));
		size_t plain = (size_t)((dollar ? dollar : end) - entry), i;

		result = lc_format(arena, "%s%.*s", result, (int)plain, entry);
		if (!dollar)
			break;
		for (i = 0; i < sizeof(tokens) / sizeof(*tokens); i++)
			if ((size_t)(end - dollar) >= tokens[i].length &&
			    !strncmp(dollar, tokens[i].token, tokens[i].length))
				break;
		if (i == sizeof(tokens) / sizeof(*tokens) || (tokens[i].origin && !origin))
			return NULL;
		result = lc_format(arena, "%s%s", result, tokens[i].origin ? origin : "lib");
		entry = dollar + tokens[i].length;
	}
	return result;
}

/* The entries of a colon-separated search path. */
static void add_path(struct list *list, const char *path, const char *origin, const char *found_by)
{
	for (const char *entry = path; entry; ) {
		const char *colon = strchr(entry, ':');
		size_t length = colon ? (size_t)(colon - entry) : strlen(entry);
		const char *directory = expand(list->arena, entry, length, origin);

		if (directory)
			add(list, directory, false, found_by);
		entry = colon ? colon + 1 : NULL;
	}
}

static bool concerns(const struct lc_user *user, const struct lc_library *library)
{
	return !user->needs || !strcmp(user->needs->name, library->name);
}

static void add_rpaths(struct list *list)
{
	const struct lc_process *process = list->survey->process;

	for (size_t i = 0; i < process->user_count; i++) {
		const struct lc_user *user = &process->users[i];

		if (concerns(user, list->library)) {
			const char *path = user->rpath ? user->rpath : user->runpath;
			const char *origin = lc_is_privileged() ? NULL :
					     lc_folder_of(list->arena, user->path);

			add_path(list, path, origin, "rpath");
		}
	}
}

static void add_above(struct list *list, bool site)
{
	const struct lc_survey *survey = list->survey;

	for (size_t i = 0; survey->above && i < survey->process->user_count; i++) {
		const struct lc_strings *above = site ? &survey->above[i].sites :
							&survey->above[i].condas;

		if (!concerns(&survey->process->users[i], list->library))
			continue;
		for (size_t j = 0; j < above->count; j++)
			add(list, above->list[j], site, site ? "site-packages" : "conda");
	}
}

static void add_conda(struct list *list)
{
	const char *prefix = lc_variable("CONDA_PREFIX");

	if (prefix) {
		add(list, lc_format(list->arena, "%s/lib", prefix), false, "conda");
		for (size_t i = 0; target_folders[i]; i++)
			add(list, lc_format(list->arena, "%s/%s", prefix, target_folders[i]),
			    false, "conda");
	}
	add_above(list, false);
}

/* Where ld.so's cache has the library. */
static void add_cached(struct list *list)
{
	const struct lc_library *library = list->library;
	const struct lc_ldcache *cache = &list->survey->cache;
	const char **sonames = lc_alloc(list->arena, library->major_count * sizeof(*sonames));
	const char **files;
	size_t count;

	if (!sonames)
		return;
	for (size_t i = 0; i < library->major_count; i++)
		sonames[i] = library->majors[i].soname;
	count = lc_ldcache_parse(list->arena, cache->bytes, cache->size,
				 sonames, library->major_count, &files);
	for (size_t i = 0; i < count; i++) {
		const char *directory = lc_folder_of(list->arena, files[i]);

		if (directory)
			add(list, directory, false, "loader");
	}
}

/* In ld.so's order: LD_LIBRARY_PATH, its cache, and what is built into it. */
static void add_loader(struct list *list)
{
	const Dl_serinfo *path = list->survey->loader_path;

	add_path(list, lc_variable("LD_LIBRARY_PATH"), NULL, "loader");
	add_cached(list);
	for (unsigned i = 0; path && i < path->dls_cnt; i++)
		add(list, path->dls_serpath[i].dls_name, false, "loader");
}

/* The folders of a toolkit as NVIDIA installs it. */
static void add_toolkit(struct list *list, const char *base, const char *found_by)
{
	add(list, lc_format(list->arena, "%s/lib64", base), false, found_by);
	add(list, lc_format(list->arena, "%s/lib", base), false, found_by);
	for (size_t i = 0; target_folders[i]; i++)
		add(list, lc_format(list->arena, "%s/%s", base, target_folders[i]), false, found_by);
}

static void add_environment(struct list *list)
{
	static const char *const variables[] = { "CUDA_PATH", "CUDA_HOME" };

	for (size_t i = 0; i < 2; i++) {
		const char *base = lc_variable(variables[i]);

		if (base)
			add_toolkit(list, base, "environment");
	}
}

/* Where the system has what comes with the driver.  Toolkits have no part in that:
 * theirs is for linking alone, or for a user to name. */
static void add_system(struct list *list)
{
	for (size_t i = 0; system_directories[i]; i++)
		add(list, system_directories[i], false, "system");
	for (size_t i = 0; list->library->homes && list->library->homes[i]; i++)
		add(list, list->library->homes[i], false, "system");
}

void lc_places_of(struct lc_arena *arena, struct lc_survey *survey,
		  const struct lc_library *library, struct lc_places *places)
{
	struct list list = { arena, survey, library, places };

	*places = (struct lc_places){ .count = 0 };
	add_rpaths(&list);
	if (!lc_has_majors(library)) {
		add_loader(&list);
		add_system(&list);
		return;
	}
	add_above(&list, true);
	add_conda(&list);
	add_loader(&list);
	add_environment(&list);
	add_system(&list);
	add_toolkit(&list, "/usr/local/cuda", "system");
	for (size_t i = 0; i < survey->toolkits.count; i++)
		add_toolkit(&list, survey->toolkits.list[i], "system");
	add_toolkit(&list, "/opt/cuda", "system");
}
