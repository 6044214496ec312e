/* SPDX-License-Identifier: MIT */
/* regular.h - opening a file that a user or another program has named */
#ifndef REGULAR_H
#define REGULAR_H

#include <sys/stat.h>

/*
 * Opens a regular file for reading, closed by exec().  Does not wait for the writer of a FIFO, nor
 * acquire a terminal.  Returns the descriptor, and what fstat() says in *st; -1 and errno if it
 * cannot: EISDIR for a folder, ENXIO for whatever else is no regular file.
 */
int lc_open_regular(const char *path, struct stat *st);

/* What an errno of lc_open_regular() means, as a phrase: "is a directory"; NULL if the file may be
 * sound, and cannot be opened for another reason. */
const char *lc_why_not_opened(int error);

#endif
