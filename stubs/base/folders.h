/* SPDX-License-Identifier: MIT */
/*
 * folders.h - which folders exist, and which are safe to search
 *
 * Results are cached: one search examines each folder, and each folder on the way
 * to it, only once.
 */
#ifndef FOLDERS_H
#define FOLDERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "arena.h"

/* One folder, however many paths lead to it. */
struct lc_folder {
	dev_t device;
	ino_t inode;
	const void *listed[2];	/* for places.c: the library that lists it, by lc_place.site */
	unsigned long searched;	/* for search.c: the round that searched it last */
	struct lc_folder *next;
};

#define LC_FOLDER_BUCKETS 128

struct lc_folders {
	struct lc_arena *arena;
	struct lc_way *ways[LC_FOLDER_BUCKETS];		/* by path */
	struct lc_folder *folders[LC_FOLDER_BUCKETS];	/* by inode */
};

/* The folder that an absolute path leads to; NULL if there is none. */
struct lc_folder *lc_folder(struct lc_folders *folders, const char *path);

/*
 * Returns true if only root, the user, and those whom these two admitted can have
 * put the folder's contents there.  The path has to be absolute.  Neither the
 * folder nor any folder on the way to it, both as written and with links resolved,
 * may be world-writable.  On the way a sticky folder such as /tmp is acceptable if
 * the next component in it belongs to root or the user.  The check ends at a folder
 * that has this library below it, too: whoever can change that folder can replace
 * this library and needs no other way.  For the same reason everything below such a
 * folder is safe: all of a site-packages that has this library, as `chmod -R a+w`
 * leaves it.
 */
bool lc_folder_is_safe(struct lc_folders *folders, const char *path);

/* Returns true if the folder exists, or if its path could not be examined. */
bool lc_folder_may_be_there(struct lc_folders *folders, const char *path);

/* Why a folder is not safe, in a sentence without its path; NULL if it is safe. */
const char *lc_folder_objection(struct lc_folders *folders, const char *path);

/* An absolute path with its links resolved, as by realpath(); components that do
 * not exist stay as they are written. */
const char *lc_real_path(struct lc_folders *folders, const char *path);

/* This library's file name, as ld.so has it; NULL if ld.so does not tell. */
const char *lc_this_file(void);

#endif
