/* SPDX-License-Identifier: MIT */
/* by_name.c - opens libraries by their plain names, from safe folders only */
#include "by_name.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "glibc.h"

#if defined(__x86_64__)
# define CPU "x86_64"
#else
# define CPU "aarch64"
#endif

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

/* Returns which of the folders it is that ld.so was compiled with and searches last, such as
 * /usr/lib64 or Debian's /lib/x86_64-linux-gnu; below 0: none. */
static int own_folder(const char *path)
{
	static const char *const endings[] = { "/lib", "/lib64", "/lib/" CPU "-linux-gnu" };
	const int usr = !strncmp(path, "/usr/", 5) ? 1 : 0;
	size_t length = strlen(path += 4 * usr);

	length -= length > 1 && path[length - 1] == '/';
	for (size_t i = 0; i < LC_COUNT(endings); i++)
		if (length == strlen(endings[i]) && !memcmp(path, endings[i], length))
			return (int)(2 * i) + usr;
	return -1;
}

unsigned lc_count_before_own(const Dl_serinfo *path)
{
	unsigned count = path ? path->dls_cnt : 0, seen = 0;
	int which;

	while (count && (which = own_folder(path->dls_serpath[count - 1].dls_name)) >= 0 &&
	       !(seen >> which & 1)) {
		seen |= 1u << which;
		count--;
	}
	return count;
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

/* What cannot be looked at now may be there when ld.so looks. */
static bool is_safe_or_absent(struct lc_folders *folders, const char *path)
{
	const char *why;
	struct stat st;

	return lstat(path, &st) ? errno == ENOENT || errno == ENOTDIR :
				  lc_file_is_safe(folders, path, &why);
}

/* The folders for some CPUs that ld.so looks for below each folder, one below another.  Since
 * glibc 2.37 there are none but those below glibc-hwcaps. */
static const char *const for_cpus[] = {
#if defined(__x86_64__)
	"tls", "x86_64", "haswell", "xeon_phi", "avx512_1",
#elif defined(__aarch64__)
	"tls", "aarch64", "atomics",
#endif
	NULL
};

/* ld.so combines as many of them. */
#define CPU_FOLDERS 4

/* A plain name that ld.so would look for. */
struct plain_name {
	struct lc_folders *folders;
	const char *text;
};

/* Returns true if the folder is safe, and what has the name in it. */
static bool is_safe_in(const struct plain_name *name, const char *folder)
{
	return lc_folder_is_safe(name->folders, folder) &&
	       is_safe_or_absent(name->folders, lc_path(name->folders->arena, folder, name->text));
}

static bool is_safe_below(const struct plain_name *name, const char *folder, int depth)
{
	for (size_t i = 0; for_cpus[i]; i++) {
		const char *below = lc_path(name->folders->arena, folder, for_cpus[i]);

		if (lc_folder_may_be_there(name->folders, below) &&
		    (!is_safe_in(name, below) || (depth && !is_safe_below(name, below, depth - 1))))
			return false;
	}
	return true;
}

/* ld.so may have been told of more of these than it has for this CPU: all are judged. */
static bool is_safe_in_hwcaps(const struct plain_name *name, const char *folder)
{
	const char *hwcaps = lc_path(name->folders->arena, folder, "glibc-hwcaps");
	struct dirent *entry;
	DIR *directory;
	bool safe = true;

	if (!lc_folder_may_be_there(name->folders, hwcaps))
		return true;
	directory = lc_folder_is_safe(name->folders, hwcaps) ?
		LC_AGAIN_IF(opendir(hwcaps), !done) : NULL;
	if (!directory)
		return false;
	while (safe && (errno = 0, entry = readdir(directory))) {
		const char *below = lc_path(name->folders->arena, hwcaps, entry->d_name);

		safe = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		       !lc_folder_may_be_there(name->folders, below) || is_safe_in(name, below);
	}
	safe = safe && !errno;
	closedir(directory);
	return safe;
}

static bool is_safe_in_cache(const struct plain_name *name, const struct lc_ldcache *cache)
{
	struct lc_arena *arena = name->folders->arena;
	const char **files;
	size_t count = lc_ldcache_parse(arena, cache->bytes, cache->size, &name->text, 1, &files);

	for (size_t i = 0; i < count; i++) {
		const char *folder = lc_copy(arena, files[i],
					     (size_t)(strrchr(files[i], '/') - files[i]));

		if (!folder || !lc_folder_is_safe(name->folders, *folder ? folder : "/") ||
		    !is_safe_or_absent(name->folders, files[i]))
			return false;
	}
	/* It may have been closed: then it tells nothing. */
	return cache->known && (cache->bytes || !cache->size);
}

bool lc_dlopen_is_safe(struct lc_folders *folders, const Dl_serinfo *path,
		       const struct lc_ldcache *cache, const char *text)
{
	const struct plain_name name = { folders, text };

	if (!lc_loader_path_is_safe(folders, path))
		return false;
	for (unsigned i = 0; i < path->dls_cnt; i++) {
		const char *folder = path->dls_serpath[i].dls_name;

		if (!is_safe_in(&name, folder) || !is_safe_below(&name, folder, CPU_FOLDERS - 1) ||
		    !is_safe_in_hwcaps(&name, folder))
			return false;
	}
	/* Without memory a path is "", where nothing is. */
	return is_safe_in_cache(&name, cache) && !folders->arena->failed;
}

/* Searches the entries of a path from one to before another. */
static void *open_between(struct lc_folders *folders, const Dl_serinfo *path, unsigned from,
			  unsigned to, const char *name)
{
	void *handle = NULL;

	for (unsigned i = from; i < to && !handle; i++)
		handle = open_in(folders, path->dls_serpath[i].dls_name,
				 strlen(path->dls_serpath[i].dls_name), name);
	return handle;
}

/* Searches in ld.so's order: run paths and LD_LIBRARY_PATH, the cache, then ld.so's own folders. */
static void *open_searched(struct lc_folders *folders, const Dl_serinfo *path,
			   const struct lc_ldcache *cache, const char *name)
{
	unsigned before = lc_count_before_own(path);
	void *handle = open_between(folders, path, 0, before, name);
	const char **cached;
	size_t count;

	count = lc_ldcache_parse(folders->arena, cache->bytes, cache->size, &name, 1, &cached);
	for (size_t i = 0; i < count && !handle && !folders->arena->failed; i++)
		handle = open_in(folders, cached[i],
				 (size_t)(strrchr(cached[i], '/') - cached[i]), name);
	return handle ? handle : open_between(folders, path, before, path ? path->dls_cnt : 0, name);
}

void *lc_open_by_name(const char *name)
{
	struct lc_arena arena = { .failed = false };
	struct lc_folders folders = { .arena = &arena };
	const Dl_serinfo *path = lc_loader_path(&arena, NULL);
	struct lc_ldcache cache;
	void *handle;

	lc_ldcache_open(&arena, &cache);
	handle = lc_dlopen_is_safe(&folders, path, &cache, name) ?
		 dlopen(name, FLAGS) : open_searched(&folders, path, &cache, name);
	lc_ldcache_close(&cache);
	lc_arena_free(&arena);
	return handle;
}
