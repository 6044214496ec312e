/* SPDX-License-Identifier: MIT */
/*
 * stub_folder.h - the folder that `lazycuda stub` makes: whole, or as it was
 *
 * All is put into another folder beside it first.  That takes its place in one
 * step when it is complete, and only if anything is new in it.
 */
#ifndef STUB_FOLDER_H
#define STUB_FOLDER_H

#include <stdbool.h>

struct stub_folder {
	char *path;	/* where it is to be */
	char *parts;	/* where it is made, until then */
};

/* Each is false after a complaint. */
bool stub_folder_begin(struct stub_folder *folder, const char *path);
bool stub_folder_copy(const struct stub_folder *folder, const char *from, const char *name);
bool stub_folder_copy_all(const struct stub_folder *folder, const char *from);

/* Puts it into its place; *changed says whether that was needed. */
bool stub_folder_finish(struct stub_folder *folder, bool *changed);

/* Removes what was not finished. */
void stub_folder_end(struct stub_folder *folder);

#endif
