/* SPDX-License-Identifier: MIT */
/* zip.h - reads the files in a zip archive, such as a wheel, that passed directory_check() */
#ifndef ZIP_H
#define ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if these bytes begin a zip archive. */
bool zip_is(const void *bytes, size_t size);

struct zip_member {
	const char *name;
	const char *error;	/* NULL if the bytes are there */
	const void *bytes;	/* valid until `each` returns */
	size_t size;
};

/* Calls `each` with the name of every file, in one spelling, and where its entry in the directory is. */
void zip_names(const void *bytes, size_t size,
	       void (*each)(const char *name, uint64_t entry, void *data), void *data);

/* Copies the first bytes of the member of this entry; false if it has fewer, or cannot be read. */
bool zip_start(const void *bytes, size_t size, uint64_t entry, void *start, size_t wanted);

/* Calls `each` with the first member whose name is `wanted`, if it can be read. */
void zip_read_one(const void *bytes, size_t size, bool (*wanted)(const char *name),
		  void (*each)(const struct zip_member *member, void *data), void *data);

/*
 * Calls `each`, in the order of the archive, with the bytes of every member that is
 * an ELF file or whose name is `wanted`, which may be NULL, and with the error of every member
 * that cannot be read.  Returns NULL, or why nothing can be, as a phrase.  `bytes` is a mapped file that has not been written to.
 */
const char *zip_read(const void *bytes, size_t size, bool (*wanted)(const char *name),
		     void (*each)(const struct zip_member *member, void *data), void *data);

#endif
