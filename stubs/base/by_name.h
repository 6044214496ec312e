/* SPDX-License-Identifier: MIT */
/*
 * by_name.h - opens libraries by their plain names, from safe folders only
 *
 * dlopen() of a plain name searches every entry of LD_LIBRARY_PATH and of run
 * paths, whatever it is: an empty or relative entry leads to the current
 * directory, and a world-writable folder is treated like any other.
 */
#ifndef BY_NAME_H
#define BY_NAME_H

#include <link.h>
#include <stdbool.h>

#include "arena.h"
#include "folders.h"
#include "ldcache.h"

/* The folders that dlopen() of a plain name would search if called by the library that was loaded
 * from this file, or by this library if `file` is NULL.  Returns NULL if ld.so does not tell.
 * LD_LIBRARY_PATH is that of program start. */
const Dl_serinfo *lc_loader_path(struct lc_arena *arena, const char *file);

/* Returns how many folders of a path come before those that ld.so was compiled with, of which each
 * is there once.  0 for NULL. */
unsigned lc_count_before_own(const Dl_serinfo *path);

/* Returns true if every folder of the path is safe to search; NULL is not safe. */
bool lc_loader_path_is_safe(struct lc_folders *folders, const Dl_serinfo *path);

/*
 * Returns true if dlopen() of a plain name, which follows any link, looks only in safe folders and
 * finds only safe files: those of the path, the folders for some CPUs below them, and what ld.so's
 * cache has by this name.  False where any of this cannot be told.  Another cache than this one,
 * and what an auditor adds, are not known here.
 */
bool lc_dlopen_is_safe(struct lc_folders *folders, const Dl_serinfo *path,
		       const struct lc_ldcache *cache, const char *name);

/* Like dlopen(name, RTLD_NOW | RTLD_LOCAL), but searches safe folders only. */
void *lc_open_by_name(const char *name);

#endif
