/* SPDX-License-Identifier: MIT */
/* text_file.h - a file of text in memory */
#ifndef TEXT_FILE_H
#define TEXT_FILE_H

/* Returns the text of a file, to be freed with free(); NULL, with errno, if it cannot be read.
 * EINVAL: there is a NUL in it, so that it is no text. */
char *text_file_read(const char *path);

#endif
