/* SPDX-License-Identifier: MIT */
/* buffer.h - memory for the bytes of a large file, few of which are needed at once */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	unsigned char *bytes;
	size_t size;
	bool in_file;		/* buffer_forget() may be called on it */
};

/* Allocates buffer->size bytes, zeroed; false on failure. */
bool buffer_allocate(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

/* Gives back the pages of a mapped file between two addresses.  The next access reads them
 * from the file again. */
void buffer_forget(const unsigned char *from, const unsigned char *to);

#endif
