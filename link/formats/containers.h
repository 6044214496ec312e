/* SPDX-License-Identifier: MIT */
/* containers.h - shared by the readers of containers */
#ifndef LINK_CONTAINERS_H
#define LINK_CONTAINERS_H

#include "formats.h"

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

/* A new entry for this part, with all else unknown; NULL on allocation failure. */
struct lazycuda_entry *lk_entry_new(struct lc_arena *arena, const struct lk_part *part);

/* A fatbin container's first bytes: magic, version 1 and 16 bytes of header. */
#define LK_FATBIN_MAGIC 0xba55ed50u
#define LK_FATBIN_BEGIN 0x00100001ba55ed50u

struct lk_fatbin_header {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;		/* of all entries */
};

struct lk_fatbin_entry_header {
	uint16_t kind, version;
	uint32_t header_size;
	uint64_t payload_size;	/* with padding; the next entry follows it */
	uint32_t packed_size;	/* without padding; 0: not compressed */
	uint32_t options;	/* offset from this header, as `name` is; 0: none */
	uint16_t minor, major;	/* of the PTX ISA, or of the LTO-IR container */
	uint32_t arch;		/* 90 */
	uint32_t name, name_length;
	uint64_t flags;
	uint64_t key;		/* of obfuscated LTO-IR */
	uint64_t unpacked_size;	/* 0: not compressed */
};

/* No file has more containers of alternatives, of whatever format. */
#define LK_MOST_CONTAINERS (1 << 20)

/* The first bytes of an offload binary. */
#define LK_OFFLOAD_MAGIC "\x10\xff\x10\xad"

/* Set of what is no code of CUDA: it has an error that says so, and becomes no entry. */
#define LK_FOREIGN 0x80000000u

/* Images of one source in an offload binary: none is compiled for so many. */
#define LK_MOST_ALTERNATIVES 64

/* Set of images of an offload binary until lk_tell_sources(), of the first in a row, and of those
 * in an object that was compiled of one source. */
#define LK_IMAGE 0x40000000u
#define LK_FIRST_IMAGE 0x20000000u
#define LK_ONE_SOURCE 0x10000000u

/* Returns the offset of the next byte that is not zero, or the length of the part. */
uint64_t lk_skip_zeros(const struct lk_part *part, uint64_t at);

/* Reads the container at the beginning of the part; *length is the container's length. */
const char *lk_fatbin_container(const struct lk_part *part, struct lc_arena *arena, int *count,
				lk_each_entry *each, void *data, uint64_t *length);

#endif
