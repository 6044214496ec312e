/* SPDX-License-Identifier: MIT */
/* places.c - where a real library may lie */
#include "places.h"

#include <dirent.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "glibc.h"
#include "ldcache.h"
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

struct list {
	struct lc_arena *arena;
	struct lc_places *places;
};

static void add(struct list *list, const char *directory, bool site, const char *found_by)
{
	struct lc_place *place;

	/* A relative entry would mean the current directory: never search it. */
	if (directory[0] != '/')
		return;
	for (size_t i = 0; i < list->places->count; i++)
		if (list->places->list[i].site == site &&
		    !strcmp(list->places->list[i].directory, directory))
			return;
	place = lc_grow(list->arena, &list->places->list, &list->places->count, sizeof(*place));
	if (place)
		*place = (struct lc_place){ directory, site, found_by };
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The directory of a file, or NULL where only its name is known. */
static char *directory_of(struct lc_arena *arena, const char *path)
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

static void add_rpaths(struct list *list, const struct lc_library *library,
		       const struct lc_process *process)
{
	for (size_t i = 0; i < process->user_count; i++) {
		const struct lc_user *user = &process->users[i];

		if (concerns(user, library)) {
			const char *path = user->rpath ? user->rpath : user->runpath;

			add_path(list, path, directory_of(list->arena, user->path), "rpath");
		}
	}
}

/*
 * A site-packages folder is known by what lies in it, since `pip --target`
 * gives it any name: it is above the object and has a folder "nvidia".  Conda
 * prefixes have a folder "conda-meta".  One that anybody may write to is passed
 * over: anybody could put such a folder there.
 */
static void add_above(struct list *list, const char *path, bool site)
{
	const char *mark = site ? "nvidia" : "conda-meta";
	char *directory = directory_of(list->arena, path);

	while (directory && directory[1]) {
		const char *below = lc_format(list->arena, "%s/%s", directory, mark);
		struct stat st;

		if (is_directory(below) && !stat(directory, &st) && !(st.st_mode & S_IWOTH)) {
			if (site)
				add(list, lc_format(list->arena, "%s", directory), true, "site-packages");
			else
				add(list, lc_format(list->arena, "%s/lib", directory), false, "conda");
		}
		char *slash = strrchr(directory, '/');
		if (!slash || slash == directory)
			break;
		*slash = 0;
	}
}

static void add_all_above(struct list *list, const struct lc_library *library,
			  const struct lc_process *process, bool site)
{
	for (size_t i = 0; i < process->user_count; i++) {
		char real[4096];	/* PATH_MAX, which realpath() asks for */

		if (!concerns(&process->users[i], library))
			continue;
		add_above(list, process->users[i].path, site);
		if (realpath(process->users[i].path, real))
			add_above(list, real, site);
	}
}

static void add_conda(struct list *list, const struct lc_library *library,
		      const struct lc_process *process)
{
	const char *prefix = lc_variable("CONDA_PREFIX");

	if (prefix) {
		add(list, lc_format(list->arena, "%s/lib", prefix), false, "conda");
		for (size_t i = 0; target_folders[i]; i++)
			add(list, lc_format(list->arena, "%s/%s", prefix, target_folders[i]),
			    false, "conda");
	}
	add_all_above(list, library, process, false);
}

/* Where ld.so's cache has the library. */
static void add_cached(struct list *list, const struct lc_library *library)
{
	const char **sonames = lc_alloc(list->arena, library->major_count * sizeof(*sonames));
	const char **files;
	size_t count;

	if (!sonames)
		return;
	for (size_t i = 0; i < library->major_count; i++)
		sonames[i] = library->majors[i].soname;
	count = lc_ldcache_find(list->arena, sonames, library->major_count, &files);
	for (size_t i = 0; i < count; i++) {
		const char *directory = directory_of(list->arena, files[i]);

		if (directory)
			add(list, directory, false, "loader");
	}
}

/* The directories that ld.so would search for a plain name; NULL if it does
 * not tell.  With LD_LIBRARY_PATH as it was when the program started. */
static const Dl_serinfo *loader_path(struct lc_arena *arena)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	Dl_serinfo size, *info = NULL;

	if (!program)
		return NULL;
	if (!dlinfo(program, RTLD_DI_SERINFOSIZE, &size))
		info = lc_alloc(arena, size.dls_size);
	if (info && (dlinfo(program, RTLD_DI_SERINFOSIZE, info) ||
		     dlinfo(program, RTLD_DI_SERINFO, info)))
		info = NULL;
	dlclose(program);
	return info;
}

/* In ld.so's order: LD_LIBRARY_PATH, its cache, and what is built into it. */
static void add_loader(struct list *list, const struct lc_library *library)
{
	const Dl_serinfo *path = loader_path(list->arena);

	add_path(list, lc_variable("LD_LIBRARY_PATH"), NULL, "loader");
	add_cached(list, library);
	for (unsigned i = 0; path && i < path->dls_cnt; i++)
		add(list, path->dls_serpath[i].dls_name, false, "loader");
}

bool lc_loader_path_is_safe(struct lc_arena *arena)
{
	const Dl_serinfo *path = loader_path(arena);

	for (unsigned i = 0; path && i < path->dls_cnt; i++) {
		const char *directory = path->dls_serpath[i].dls_name;
		struct stat st;

		if (directory[0] != '/' || (!stat(directory, &st) && (st.st_mode & S_IWOTH)))
			return false;
	}
	return path != NULL;
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

/* "cuda-12.9" as 1209; 0 for anything else. */
static int toolkit_version(const char *name)
{
	char *end;
	long major, minor = 0;

	if (strncmp(name, "cuda-", 5))
		return 0;
	major = strtol(name + 5, &end, 10);
	if (end == name + 5 || major < 1 || major > 99)
		return 0;
	if (*end == '.')
		minor = strtol(end + 1, &end, 10);
	return *end || minor < 0 || minor > 99 ? 0 : LC_VERSION((int)major, (int)minor);
}

/* /usr/local/cuda-X.Y, the newest first. */
static void add_versions(struct list *list)
{
	DIR *directory = opendir("/usr/local");
	int versions[32], count = 0;
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)) && count < 32) {
		int version = toolkit_version(entry->d_name), i;

		if (!version)
			continue;
		for (i = count++; i > 0 && versions[i - 1] < version; i--)
			versions[i] = versions[i - 1];
		versions[i] = version;
	}
	closedir(directory);
	for (int i = 0; i < count; i++) {
		int major = versions[i] / 100, minor = versions[i] % 100;

		add_toolkit(list, lc_format(list->arena, "/usr/local/cuda-%d.%d", major, minor), "system");
		if (!minor)
			add_toolkit(list, lc_format(list->arena, "/usr/local/cuda-%d", major), "system");
	}
}

/* Where the system has what comes with the driver.  Toolkits have no part in that:
 * theirs is for linking alone, or for a user to name. */
static void add_system(struct list *list, const struct lc_library *library)
{
	for (size_t i = 0; system_directories[i]; i++)
		add(list, system_directories[i], false, "system");
	for (size_t i = 0; library->homes && library->homes[i]; i++)
		add(list, library->homes[i], false, "system");
}

void lc_places_of(struct lc_arena *arena, const struct lc_library *library,
		  const struct lc_process *process, struct lc_places *places)
{
	struct list list = { arena, places };

	*places = (struct lc_places){ .count = 0 };
	add_rpaths(&list, library, process);
	if (!lc_has_majors(library)) {
		add_loader(&list, library);
		add_system(&list, library);
		return;
	}
	add_all_above(&list, library, process, true);
	add_conda(&list, library, process);
	add_loader(&list, library);
	add_environment(&list);
	add_system(&list, library);
	add_toolkit(&list, "/usr/local/cuda", "system");
	add_versions(&list);
	add_toolkit(&list, "/opt/cuda", "system");
}
