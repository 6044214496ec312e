/* SPDX-License-Identifier: MIT */
/*
 * stub_folder.h - makes the folder of `lazycuda stub` completely or leaves it as it was
 *
 * The files go into a temporary folder beside it.  When that is complete, and only
 * if anything in it is new, it replaces the folder in one step.
 */
#ifndef STUB_FOLDER_H
#define STUB_FOLDER_H

#include <stdbool.h>

struct stub_folder {
	char *path;	/* of the folder */
	char *parts;	/* of the temporary folder; or NULL */
};

/* On failure these complain and return false. */
bool stub_folder_begin(struct stub_folder *folder, const char *path);
bool stub_folder_copy(const struct stub_folder *folder, const char *from, const char *name);
bool stub_folder_copy_all(const struct stub_folder *folder, const char *from);

/* Replaces the folder if anything is new; *changed tells whether it was. */
bool stub_folder_finish(struct stub_folder *folder, bool *changed);

/* Removes the temporary folder, or the old one after an exchange, and frees the paths. */
void stub_folder_end(struct stub_folder *folder);

#endif
