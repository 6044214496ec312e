/* SPDX-License-Identifier: MIT */
/*
 * by_name.h - libraries by their plain names
 *
 * dlopen() of a plain name searches what LD_LIBRARY_PATH has and run paths have,
 * whatever it is: an empty or relative entry is the current directory, and a
 * folder that everybody can write to is one like others.
 */
#ifndef BY_NAME_H
#define BY_NAME_H

#include <link.h>
#include <stdbool.h>

#include "arena.h"
#include "folders.h"

/* The folders that dlopen() would search for a plain name from here; NULL if it
 * does not tell.  With LD_LIBRARY_PATH as it was when the program started. */
const Dl_serinfo *lc_loader_path(struct lc_arena *arena);

/* Whether it would search only where it is safe to; NULL is not. */
bool lc_loader_path_is_safe(struct lc_folders *folders, const Dl_serinfo *path);

/* As dlopen(name, RTLD_NOW | RTLD_LOCAL), but looks nowhere else. */
void *lc_open_by_name(const char *name);

#endif
