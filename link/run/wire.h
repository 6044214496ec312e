/* SPDX-License-Identifier: MIT */
/*
 * wire.h - numbers, text and bytes, written to a file and read from memory
 *
 * Between two processes that run the same build of this library.  A reader that reads
 * past the end, or something else than was written, has failed, and from then on
 * returns zeros.
 */
#ifndef LINK_WIRE_H
#define LINK_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lk_writer {
	int fd;
	bool failed;		/* errno says why */
	uint64_t length;	/* of all so far */
	size_t used;		/* of the buffer */
	unsigned char buffer[4096];
};

struct lk_reader {
	const unsigned char *bytes;	/* aligned as malloc() aligns */
	size_t length, at;
	bool failed;
};

/* Returns false, with errno, if it could not write all. */
bool lk_write_all(int fd, const void *bytes, size_t length);

void lk_wire_put_number(struct lk_writer *writer, uint64_t number);
/* NULL is kept apart from what is empty. */
void lk_wire_put_bytes(struct lk_writer *writer, const void *bytes, size_t length);
void lk_wire_put_text(struct lk_writer *writer, const char *text);
/* Writes what is still in the buffer; false if any write failed. */
bool lk_wire_flush(struct lk_writer *writer);

uint64_t lk_wire_get_number(struct lk_reader *reader);
/* Points into what is read, aligned; a NUL follows that the length does not count. */
const void *lk_wire_get_bytes(struct lk_reader *reader, size_t *length);
const char *lk_wire_get_text(struct lk_reader *reader);

#endif
