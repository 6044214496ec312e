/* SPDX-License-Identifier: MIT */
/* regular.h - opening a file that a user or another program has named */
#ifndef REGULAR_H
#define REGULAR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct lc_arena;	/* arena.h */

/*
 * Opens a regular file for reading, closed by exec().  Does not wait for the writer of a FIFO, nor
 * acquire a terminal.  Returns the descriptor, and what fstat() says in *st; -1 and errno if it
 * cannot: EISDIR for a folder, ENXIO for whatever else is no regular file.
 */
int lc_open_regular(const char *path, struct stat *st);

/* lc_open_regular(), as a stream; NULL and errno if it cannot.  Inline, as no stub has streams. */
static inline FILE *lc_stream_regular(const char *path, struct stat *st)
{
	const int fd = lc_open_regular(path, st);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

/* Reads bytes of a file, all of them or false; *error becomes the errno of a read that failed. */
bool lc_read_at(int fd, uint64_t offset, void *to, size_t size, int *error);

/* Writes all bytes, or returns false and sets errno.  Inline, as no stub writes files. */
static inline bool lc_write_all(int fd, const void *bytes, size_t length)
{
	for (size_t done = 0; done < length;) {
		const ssize_t written = write(fd, (const char *)bytes + done, length - done);

		if (!written || (written < 0 && errno != EINTR))
			return false;
		if (written > 0)
			done += (size_t)written;
	}
	return true;
}

/* Returns the text of a regular file, or the first `most` bytes of it; *st is what fstat() says.
 * NULL: it cannot be read, and the arena is marked as starved if that may pass. */
const char *lc_read_regular(struct lc_arena *arena, const char *path, size_t most, struct stat *st);

/* What an errno of lc_open_regular() means, as a phrase: "is a directory"; NULL if the file may be
 * sound, and cannot be opened for another reason. */
const char *lc_why_not_opened(int error);

#endif
