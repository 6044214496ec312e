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
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "arena.h"

#define LC_NAME_BITS 4096

/* The names in a folder: a bit for each hash of one. */
struct lc_listing {
	uint64_t bits[LC_NAME_BITS / 64];
};

/* One folder, however many paths lead to it. */
struct lc_folder {
	dev_t device;
	ino_t inode;
	const void *listed[2];	/* for places.c: the library that lists it, by lc_place.site */
	unsigned long searched;	/* for search.c: the round that searched it last, */
	const void *lacking;	/* and the library that was last looked for in vain */
	bool small;		/* its names may be read, all at once */
	unsigned asked;		/* after how many names it was asked, until they were */
	const struct lc_listing *names;	/* NULL: they are not known */
	struct lc_folder *next;
};

/* To read the names of a folder costs as much as to look for so many. */
#define LC_ASKED_SINGLY 7

#define LC_FOLDER_BUCKETS 128

/* Paths that exist, as they were when they were examined. */
struct lc_ways {
	struct lc_way **list;
	size_t count;
	unsigned long held[2];	/* when all were last as they had been; [1]: as `nothing` says */
};

struct lc_folders {
	struct lc_arena *arena;
	struct lc_way *ways[LC_FOLDER_BUCKETS];		/* by path */
	struct lc_folder *folders[LC_FOLDER_BUCKETS];	/* by inode */
	struct lc_ways all;
	struct lc_ways *noted;	/* see lc_folders_note(); NULL: nowhere */
	unsigned long notes;	/* how often that was called */
	int links;		/* steps in the texts of those that led to the one that is followed now */
	bool young;	/* one that lacks something had changed so lately that its time
			   might not tell another change */
};

/* Notes from now on each path that an answer depends on, unless it is among those noted the
 * first time; NULL: no more. */
void lc_folders_note(struct lc_folders *folders, struct lc_ways *ways);

/* Says that something was looked for in this folder, and is not there. */
void lc_folder_lacks(struct lc_folders *folders, const char *path);

/*
 * Returns true if nothing in the folder, which the path leads to, has this name; false: it has
 * to be looked for.  What is asked of a small folder again and again costs no system call: its
 * names are read, and hold as long as what else is known of it.
 */
bool lc_folder_has_no(struct lc_folders *folders, struct lc_folder *folder, const char *path,
		      const char *name);

/*
 * Returns true if these paths are as they were.  A folder that lacks something is not if
 * anything in it was made, renamed or removed: it may be there now.  `time` is not 0; a path is
 * looked at once for each.  `nothing`: all that was asked for was not there, and no folder was
 * left out.  Then what was only gone through need not be looked at: the folders behind it tell
 * whether the paths still lead to them.
 */
bool lc_ways_hold(struct lc_ways *ways, bool nothing, unsigned long time);

/* The folder that an absolute path leads to; NULL if there is none. */
struct lc_folder *lc_folder(struct lc_folders *folders, const char *path);

/*
 * Returns true if only root, the user, and those whom these two admitted can have
 * put the folder's contents there.  The path has to be absolute.  Neither the
 * folder nor any folder on the way to it, both as written and as each link on it says,
 * may be world-writable.  On the way a sticky folder such as /tmp is acceptable if
 * the next component in it belongs to root or the user.  The check ends at a folder
 * that has this library below it, too: whoever can change that folder can replace
 * this library and needs no other way.  For the same reason everything below such a
 * folder is safe: all of a site-packages that has this library, as `chmod -R a+w`
 * leaves it.
 */
bool lc_folder_is_safe(struct lc_folders *folders, const char *path);

/*
 * Follows a file that is a link, in a folder that is safe, as lstat() has told of it: *st is then
 * what it leads to.  Returns false, with errno, if it leads nowhere.  *why says why it is not safe
 * where it leads, in a sentence without its path; NULL: it is safe.
 */
bool lc_follow_file(struct lc_folders *folders, const char *path, struct stat *st,
		    const char **why);

/*
 * Returns true if a file, in a folder that is safe, may be loaded: it is a plain one, or a link by
 * a safe way to one; dlopen() of a FIFO would wait for its writer.  Else *why is as above, or NULL
 * if there is no such file.
 */
bool lc_file_is_safe(struct lc_folders *folders, const char *path, const char **why);

/* Returns true if the folder exists, or if its path could not be examined. */
bool lc_folder_may_be_there(struct lc_folders *folders, const char *path);

/*
 * The folder at this path if it is safe to search; else NULL, and *why says why it is not safe,
 * in a sentence without its path, or is NULL if there is no such folder.  A relative path would
 * depend on the current directory, and leads nowhere.
 */
struct lc_folder *lc_folder_to_search(struct lc_folders *folders, const char *path,
				      const char **why);

/* An absolute path with its links resolved, as by realpath(); components that do
 * not exist stay as they are written. */
const char *lc_real_path(struct lc_folders *folders, const char *path);

/* This library's file name, as ld.so has it; NULL if ld.so does not tell. */
const char *lc_this_file(void);

#endif
