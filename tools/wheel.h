/* SPDX-License-Identifier: MIT */
/* wheel.h - the files in a wheel, which is a zip archive */
#ifndef WHEEL_H
#define WHEEL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether these bytes begin a zip archive. */
bool wheel_is(const void *bytes, size_t size);

/*
 * Calls `each` with the bytes of every member that is an ELF file, or with what
 * is wrong with a member, in the order of the archive.  NULL, or what is wrong
 * with all of it, as a phrase.  Trusts nothing in it.
 */
struct wheel_member {
	const char *name;
	const char *error;	/* NULL: the bytes are there */
	const void *bytes;	/* until `each` returns */
	size_t size;
};

const char *wheel_read(const void *bytes, size_t size,
		       void (*each)(const struct wheel_member *member, void *data), void *data);

#endif
