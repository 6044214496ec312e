/* SPDX-License-Identifier: MIT */
/*
 * folders.h - which folders there are, and which may be searched
 *
 * What is looked at is remembered: in one search no folder, and none on the way
 * to one, is looked at twice.
 */
#ifndef FOLDERS_H
#define FOLDERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "arena.h"

/* One folder, under whatever paths. */
struct lc_folder {
	dev_t device;
	ino_t inode;
	const void *listed[2];	/* for places.c: in whose list it is, as what */
	unsigned long searched;	/* for search.c: for what it was searched last */
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
 * Whether nobody but root, the user, and whom they chose can have put there what
 * lies in a folder.  It has to be named by an absolute path, and neither it nor
 * any folder on the way to it, as it is written or as links lead there, may be
 * one that everybody can write to.  On the way a sticky one such as /tmp will
 * do, if what lies in it is root's or the user's.  The way ends where this
 * library lies below, too: who can change that needs no other.  For the same reason
 * everything is safe below such a folder: all of a site-packages that has this
 * library, as `chmod -R a+w` leaves it.
 */
bool lc_folder_is_safe(struct lc_folders *folders, const char *path);

/* Whether there is one, as far as can be seen. */
bool lc_folder_may_be_there(struct lc_folders *folders, const char *path);

/* What speaks against a folder, a sentence without its path; NULL: it is safe. */
const char *lc_folder_objection(struct lc_folders *folders, const char *path);

/* An absolute path without links, as realpath() gives it; what is not there is
 * taken as it is written. */
const char *lc_real_path(struct lc_folders *folders, const char *path);

/* The file of this library, as ld.so has it; NULL if it does not tell. */
const char *lc_this_file(void);

#endif
