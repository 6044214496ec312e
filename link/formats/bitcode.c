/* SPDX-License-Identifier: MIT */
/* bitcode.c - whether LLVM bitcode is whole
 *
 * Some bitcode that is not whole makes libnvvm end the process. */
#include <string.h>

#include "formats.h"

struct wrapper {
	uint32_t magic, version, offset, length, cpu;
};

#define MODULE_BLOCK 8		/* id of a top-level block */
#define MAGIC_LENGTH 4
#define ENTER_BLOCK 1		/* the abbreviation that begins a block; outside of blocks an
				   abbreviation has two bits */
#define WIDEST_ABBREVIATION 32

/* LLVM looks for no further block in the last bytes, so many of them: some archivers pad. */
#define IGNORED 8

struct block_header {
	unsigned id;
	uint64_t end;
};

/*
 * Two words.  The first has ENTER_BLOCK in 2 bits, the id as vbr8, the width of the block's
 * abbreviations as vbr4, and padding; the second has the block's length in words.  The ids of
 * LLVM's blocks fit one group of vbr8, the widths two groups of vbr4.
 */
static bool read_block_header(const struct lk_part *part, uint64_t at, struct block_header *header)
{
	uint32_t words[2], width;

	if (!lk_part_read(part, at, words, sizeof(words)))
		return false;
	width = words[0] >> 10 & 7;
	if (words[0] >> 13 & 1)
		width |= (words[0] >> 14 & 7) << 3;
	header->id = words[0] >> 2 & 0x7f;
	header->end = at + sizeof(words) + (uint64_t)words[1] * 4;
	return (words[0] & 3) == ENTER_BLOCK && !(words[0] >> 9 & 1) &&
	       !(words[0] >> 13 & 1 && words[0] >> 17 & 1) && width &&
	       width <= WIDEST_ABBREVIATION;
}

static const char *read_blocks(const struct lk_part *part, struct lc_arena *arena)
{
	uint64_t at = MAGIC_LENGTH;
	size_t modules = 0;

	while (at + IGNORED < part->length || !modules) {
		struct block_header header;

		if (at >= part->length)
			return "has no module in it: it is cut off";
		if (!read_block_header(part, at, &header))
			return lc_format(arena, "has at 0x%llx what begins no block of bitcode",
					 (unsigned long long)(part->offset + at));
		if (header.end > part->length)
			return lc_format(arena, "ends inside its block %u (at 0x%llx)", header.id,
					 (unsigned long long)(part->offset + at));
		if (header.id == MODULE_BLOCK && modules++)
			return lc_format(arena, "has a second module (at 0x%llx), and libnvvm takes one"
					 " of a file; make a file of each, or one module with llvm-link",
					 (unsigned long long)(part->offset + at));
		at = header.end;
	}
	return NULL;
}

/* The blocks are where the wrapper says, if there is one. */
const char *lk_bitcode_read(const struct lk_part *part, struct lc_arena *arena)
{
	struct wrapper wrapper;
	struct lk_part inside;
	unsigned char magic[MAGIC_LENGTH];

	if (!lk_part_read(part, 0, magic, sizeof(magic)) || magic[0] == 'B')
		return read_blocks(part, arena);
	if (!lk_part_read(part, 0, &wrapper, sizeof(wrapper)))
		return "ends inside its wrapper";
	if (!lk_part_has(part, wrapper.offset, wrapper.length))
		return lc_format(arena, "ends at 0x%llx, and its wrapper says that bitcode is from"
				 " 0x%x to 0x%llx", (unsigned long long)part->length, wrapper.offset,
				 (unsigned long long)wrapper.offset + wrapper.length);
	inside = lk_part_of(part, wrapper.offset, wrapper.length);
	if (!lk_part_read(&inside, 0, magic, sizeof(magic)) || memcmp(magic, "BC\xc0\xde", 4))
		return lc_format(arena, "has no bitcode at 0x%x, where its wrapper says it is",
				 wrapper.offset);
	return read_blocks(&inside, arena);
}
