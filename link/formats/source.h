/* SPDX-License-Identifier: MIT */
/* source.h - the bytes of a file or of memory, read piece by piece */
#ifndef LINK_SOURCE_H
#define LINK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What is left of the reading that a source may be made to do.  Offsets in a
 * file may all lead to the same bytes: whoever reads some pays for them here, so
 * that all readers together read no more than a multiple of the file.
 */
struct lk_budget {
	uint64_t left;		/* bytes */
	bool spent;		/* more were to be read */
	uint64_t at;		/* of which these were the first */
};

/* Of honest files the most is read of a text that is recognised and then read, five
 * times. */
#define LK_TIMES_READ 16
#define LK_ALWAYS_READ ((uint64_t)1 << 16)

static inline struct lk_budget lk_budget_for(uint64_t length)
{
	const uint64_t most = (UINT64_MAX - LK_ALWAYS_READ) / LK_TIMES_READ;

	return (struct lk_budget){
		.left = LK_ALWAYS_READ + LK_TIMES_READ * (length < most ? length : most)
	};
}

/*
 * Memory if `bytes`, else a file.  Everything that is read is copied, so that
 * nothing need be aligned and a file that changes meanwhile changes nothing
 * that was checked.
 */
struct lk_source {
	const unsigned char *bytes;
	int fd;
	uint64_t length;
	int *error;	/* where the errno of a read that fails is noted, or NULL */
	struct lk_budget *budget;	/* NULL: it may be read as often as anybody likes */
};

/* Notes that a budget is spent; false. */
bool lk_source_overspend(const struct lk_source *source, uint64_t offset)
	__attribute__((cold));

/* Pays for `size` bytes; false if there is no budget for them.  What costs as much
 * as reading them, the length of a name that many share, is paid for, too. */
static inline bool lk_source_pay(const struct lk_source *source, uint64_t offset, uint64_t size)
{
	struct lk_budget *budget = source->budget;

	if (!budget)
		return true;
	if (size > budget->left)
		return lk_source_overspend(source, offset);
	budget->left -= size;
	return true;
}

/* A part of a source that is known to lie within it. */
static inline bool lk_source_has(const struct lk_source *source, uint64_t offset, uint64_t size)
{
	return offset <= source->length && size <= source->length - offset;
}

/* lk_source_read() of a file that has the bytes. */
bool lk_source_read_file(const struct lk_source *source, uint64_t offset, void *into, size_t size);

/* Copies `size` bytes.  False if they do not all exist, cannot be paid for, or
 * cannot be read. */
static inline bool lk_source_read(const struct lk_source *source, uint64_t offset, void *into,
				  size_t size)
{
	if (!lk_source_has(source, offset, size) || !lk_source_pay(source, offset, size))
		return false;
	if (!source->bytes)
		return lk_source_read_file(source, offset, into, size);
	if (size)
		memcpy(into, source->bytes + offset, size);
	return true;
}

#endif
