/* SPDX-License-Identifier: MIT */
/* source.h - the bytes of a file or of memory, read piece by piece, and parts of them */
#ifndef LINK_SOURCE_H
#define LINK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../stubs/base/arena.h"

/*
 * The number of bytes that may still be read from a source.  Many offsets in a
 * file may lead to the same bytes.  Every read is paid for here, so that all
 * readers together read no more than a fixed multiple of the file.
 */
struct lk_budget {
	uint64_t left;		/* bytes */
	bool spent;		/* a read did not fit into the budget */
	uint64_t at;		/* offset of the first such read */
};

/* The most that an honest file needs is five times its length: text that is recognised
 * and then read. */
#define LK_TIMES_READ 16
#define LK_ALWAYS_READ ((uint64_t)1 << 16)

static inline struct lk_budget lk_budget_for(uint64_t length)
{
	const uint64_t most = (UINT64_MAX - LK_ALWAYS_READ) / LK_TIMES_READ;

	return (struct lk_budget){
		.left = LK_ALWAYS_READ + LK_TIMES_READ * (length < most ? length : most)
	};
}

/* Bytes of a file that were read ahead.  An archive has many headers and names of a few
 * bytes: a system call for each would cost more than all else. */
#define LK_BLOCK 16384

struct lk_block {
	uint64_t offset;	/* in the file, a multiple of LK_BLOCK */
	size_t length;		/* 0: nothing was read yet */
	unsigned char bytes[LK_BLOCK];
};

/*
 * Memory if `bytes` is set, else a file.  lk_source_read() copies, so that nothing
 * needs to be aligned, and a file that changes meanwhile does not change data that
 * was checked.
 */
struct lk_source {
	const unsigned char *bytes;
	int fd;
	uint64_t length;
	int *error;	/* receives the errno of a failed read, unless NULL */
	struct lk_budget *budget;	/* NULL: no limit */
	bool *host_lto;	/* set if a host object is there whose code only GCC reads, unless NULL */
	struct lk_block *block;		/* NULL: every read asks the kernel; one thread's alone */
};

/* Records that the budget is spent, and where.  Returns false. */
bool lk_source_overspend(const struct lk_source *source, uint64_t offset)
	__attribute__((cold));

/* Pays for `size` bytes; returns false if the budget is too small.  Work that costs as
 * much as a read is paid for, too: going through a name that many entries share. */
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

/* Returns true if the source has all of these bytes. */
static inline bool lk_source_has(const struct lk_source *source, uint64_t offset, uint64_t size)
{
	return offset <= source->length && size <= source->length - offset;
}

/* lk_source_read() for a file; the caller has checked that the file has the bytes. */
bool lk_source_read_file(const struct lk_source *source, uint64_t offset, void *into, size_t size);

/* Copies `size` bytes.  Returns false if not all of them exist, if the budget is too
 * small, or if the read fails. */
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

/* ---- parts ---- */

struct lk_part {
	const struct lk_source *source;
	uint64_t offset, length;
};

/* Offsets count from the beginning of the part. */
static inline bool lk_part_has(const struct lk_part *part, uint64_t offset, uint64_t size)
{
	return offset <= part->length && size <= part->length - offset;
}

static inline bool lk_part_read(const struct lk_part *part, uint64_t offset, void *into,
				size_t size)
{
	return lk_part_has(part, offset, size) &&
	       lk_source_read(part->source, part->offset + offset, into, size);
}

/* A part of a part.  The caller has checked that it lies inside. */
static inline struct lk_part lk_part_of(const struct lk_part *part, uint64_t offset,
					uint64_t length)
{
	return (struct lk_part){ part->source, part->offset + offset, length };
}

/* Bytes of a part, copied only if necessary. */
struct lk_bytes {
	const unsigned char *at;	/* not aligned */
	void *copy;
};

/*
 * Gets `size` bytes of a part.  They are valid while the source exists and until
 * lk_bytes_free().  Returns NULL, or an error phrase: "ends at 0x40, inside its
 * symbols", where `what` is "symbols".
 */
const char *lk_bytes_get(struct lk_bytes *bytes, const struct lk_part *part, uint64_t offset,
			 uint64_t size, const char *what, struct lc_arena *arena);
void lk_bytes_free(struct lk_bytes *bytes);

#endif
