/* SPDX-License-Identifier: MIT */
/* directory.h - which members a zip archive has, and where each lies */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../stubs/base/arena.h"

#define ZIP_STORED 0
#define ZIP_DEFLATED 8

struct zip {
	const unsigned char *bytes;
	size_t size;
	uint64_t start, end, count;	/* of the directory */
};

struct zip_entry {
	char name[4096];	/* in one spelling for one place; "" for the root */
	const unsigned char *raw;	/* the name as it is written */
	size_t raw_size;
	unsigned method, flags;
	uint32_t crc;
	uint64_t packed, size;	/* bytes in the archive, and out of it */
	uint64_t header;	/* offset of the member's own header */
	const unsigned char *data;	/* once it is located */
};

/* Finds the directory; returns what is wrong with its records, as a phrase, or NULL. */
const char *directory_find(struct zip *zip, const void *bytes, size_t size);

/* Reads an entry and sets *next to the offset of the next one.  Returns false if the directory is damaged;
 * sets *why to what is wrong with the name, or NULL. */
bool directory_read(const struct zip *zip, uint64_t offset, struct zip_entry *entry, uint64_t *next,
		    const char **why);

/* Finds a member's data, which follow its own header, and where the next header is.  Returns false if the
 * header is not what the directory says. */
bool directory_locate(const struct zip *zip, struct zip_entry *entry, uint64_t *next);

/* Returns what is wrong with an archive, as a phrase: what two readers could take for two wheels, or what
 * would lie outside of it; or NULL. */
const char *directory_check(struct lc_arena *arena, const void *bytes, size_t size);

/* The place of a member below site-packages; NULL if it is installed elsewhere. */
const char *path_in_site(const char *member);

#endif
