/* SPDX-License-Identifier: MIT */
/*
 * amalgam.h - joins sources into one file, in which nothing is visible from outside
 *
 * The sources are ours: declarations begin at the start of a line, no macro opens a brace that it does
 * not close, and no two files of a stub have a name twice (tests/layout).  So it is enough to read
 * words, brackets and directives.
 */
#ifndef AMALGAM_H
#define AMALGAM_H

#include "model/symbols_txt.h"

struct amalgam {
	/* Returns the text of a file, for the one that includes it or NULL; fails if there is none. */
	const char *(*read)(void *data, const char *path, const char *from);
	void *data;
	struct list done;	/* the headers that are in it */
	struct list linked;	/* names that assembly or other files use: all others become static */
};

/*
 * Adds files to a text, each with the headers that it includes by name and that are not there yet.
 * `names`, which ends with NULL, get `suffix`, also in the strings that are assembly; if the files are
 * there once for each library, so does every name that they declare.
 */
void amalgamate(struct amalgam *amalgam, struct text *out, const struct list *paths, const char *suffix,
		const char *const *names, bool for_each_library);

#endif
