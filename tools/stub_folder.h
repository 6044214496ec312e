/* SPDX-License-Identifier: MIT */
/*
 * stub_folder.h - makes the folder of `lazycuda stub` completely or leaves it as it was
 *
 * The files go into a temporary folder beside it.  When that is complete, and only
 * if anything in it is new, it replaces the folder in one step; not if there are files
 * of the user's, or files that the user has changed.
 */
#ifndef STUB_FOLDER_H
#define STUB_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

struct stub_folder {
	const char *shown;	/* the path as the user gave it */
	char *path;		/* without links */
	size_t made;		/* the length of the first folder on this path that was not there; or 0 */
	char *parts;		/* of the temporary folder; or NULL */
	bool changed;		/* by stub_folder_finish(): anything was new */
	FILE *manifest;		/* that is being written */
	const char *known;	/* the manifest of the last run; or NULL */
};

/* On failure these complain and return false. */
bool stub_folder_begin(struct stub_folder *folder, const char *path);
bool stub_folder_copy(const struct stub_folder *folder, const char *from, const char *name);
bool stub_folder_copy_all(struct stub_folder *folder, const char *from);
bool stub_folder_finish(struct stub_folder *folder);

/* Removes the temporary folder, or the old one after an exchange, and frees the paths. */
void stub_folder_end(struct stub_folder *folder);

#endif
