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

/* The names in a folder: a bit for the hash of each. */
struct lc_listing {
	uint64_t bits[LC_NAME_BITS / 64];
};

/* One folder, however many paths lead to it. */
struct lc_folder {
	dev_t device;
	ino_t inode;
	const void *listed[2];	/* for places.c: the library it was last listed for, by .site, */
	size_t position[2];	/* and where in the list */
	unsigned long searched;	/* for search.c: the round that searched it last, */
	const void *lacking;	/* and the struct lc_sought that last found nothing in it */
	bool told;		/* for report.c: it is in the text already */
	bool small;		/* one call can read all its names, and has not yet */
	unsigned asked;		/* how many names were asked for while `small` */
	const struct lc_listing *names;	/* NULL: not known */
	struct lc_folder *next;
};

/* Reading the names of a small folder costs as much as looking for this many. */
#define LC_ASKED_SINGLY 7

#define LC_FOLDER_BUCKETS 128

struct lc_folders {
	struct lc_arena *arena;
	struct lc_way **ways;		/* by path */
	size_t way_count, way_capacity;
	struct lc_folder *folders[LC_FOLDER_BUCKETS];	/* by inode */
	struct lc_way **there;	/* those that exist */
	size_t there_count;
	int links;		/* components in the texts of the links being followed */
	bool young;	/* a folder that lacks something had changed so recently that another
			   change might leave its time the same */
};

/* Records that something looked for in this folder is not there. */
void lc_folder_lacks(struct lc_folders *folders, const char *path);

/*
 * Returns true if nothing in the folder, to which the path leads, has this name; false if the
 * name has to be looked for.  Repeated questions about a small folder cost no system call: its
 * names are read once, and stay valid as long as all else that is cached about it.
 */
bool lc_folder_has_no(struct lc_folders *folders, struct lc_folder *folder, const char *path,
		      const char *name);

/*
 * Returns true if all paths are as they were.  A folder that lacked something has changed if
 * anything in it was created, renamed or removed: what it lacked may be there now.  `time` is another
 * one for each call, and not 0.  `nothing` says that nothing asked for was there, and that no folder was
 * left out as unsafe or unreadable.  Then folders on the way to others need not be examined: those
 * others tell whether the paths still lead to them.
 */
bool lc_folders_hold(const struct lc_folders *folders, bool nothing, unsigned long time);

/* The folder that an absolute path leads to; NULL if there is none. */
struct lc_folder *lc_folder(struct lc_folders *folders, const char *path);

/*
 * Returns true if only root, the user, and those whom these two admitted can have
 * put the folder's contents there.  The path has to be absolute.  Neither the
 * folder nor any folder on the way to it, as written and as each link on it leads,
 * may be world-writable.  On the way a sticky folder such as /tmp is acceptable if
 * the next component in it belongs to root, the user, or the owner of that folder.  What a stranger
 * has mounted by FUSE is not.  The check ends at a folder that has this library below it, too:
 * whoever can change that folder can replace this library and needs no other way.  For the same
 * reason everything below such a folder is safe: all of a site-packages that has this library, as
 * `chmod -R a+w` leaves it.
 */
bool lc_folder_is_safe(struct lc_folders *folders, const char *path);

/*
 * Follows a link in a safe folder.  *st is what lstat() said of it, and becomes what stat() says.
 * Returns false, with errno, if the link leads nowhere.  *why says why it is not safe to follow,
 * in a sentence without the link's path; NULL: it is safe.
 */
bool lc_follow_file(struct lc_folders *folders, const char *path, struct stat *st,
		    const char **why);

/*
 * Returns true if a file in a safe folder may be loaded: it is a regular file, or a link that leads
 * to one by a safe way.  dlopen() of a FIFO would wait for a writer.  Else *why is as above, or
 * NULL if there is no such regular file.
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

/* Sets *owner to whoever owns what an absolute path leads to.  Returns false if nothing is there. */
bool lc_owner_of(struct lc_folders *folders, const char *path, uid_t *owner);

/* An absolute path with its links resolved, as by realpath(); components that do
 * not exist stay as they are written. */
const char *lc_real_path(struct lc_folders *folders, const char *path);

/* This library's file name, as ld.so has it; NULL if ld.so does not tell. */
const char *lc_this_file(void);

#endif
