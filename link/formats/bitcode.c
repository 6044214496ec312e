/* SPDX-License-Identifier: MIT */
/* bitcode.c - whether LLVM bitcode is whole, and the names that it defines
 *
 * Some bitcode that is not whole makes libnvvm end the process. */
#include <string.h>

#include "bytes.h"
#include "containers.h"
#include "symbols.h"

struct wrapper {
	uint32_t magic, version, offset, length, cpu;
};

/* Ids of top-level blocks. */
enum { MODULE_BLOCK = 8, STRINGS_BLOCK = 23, SYMBOLS_BLOCK = 25 };

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

/* ---- names, by the table that LLVM writes for linkers ---- */

/* Strings and symbols are each a block of one record, which is a blob: the abbreviation for it
 * (of two operands, the literal 1 and a blob), its use, the length as vbr6, and from the next word
 * on the bytes. */
#define BLOB_BEGINS (2u | 2u << 3 | 1u << 8 | 1u << 9 | 5u << 18 | 4u << 21)
#define BLOB_BITS 24
#define MOST_LENGTH_GROUPS 6

static struct lk_part blob_of(const struct lk_part *block)
{
	const struct lk_part none = lk_part_of(block, 0, 0);
	uint64_t word, length = 0, begin;
	unsigned at = BLOB_BITS, group = 0;

	if (!lk_part_read(block, 0, &word, sizeof(word)) ||
	    (word & ((1u << BLOB_BITS) - 1)) != BLOB_BEGINS)
		return none;
	do {
		length |= (word >> at & 0x1f) << 5 * group++;
		at += 6;
	} while (word >> (at - 1) & 1 && group < MOST_LENGTH_GROUPS);
	begin = (at + 31) / 32 * sizeof(uint32_t);
	return lk_part_has(block, begin, length) ? lk_part_of(block, begin, length) : none;
}

/* The blob in the last block of this kind, or an empty part. */
static struct lk_part find_blob(const struct lk_part *part, unsigned id)
{
	struct lk_part found = lk_part_of(part, 0, 0);
	struct block_header header;

	for (uint64_t at = MAGIC_LENGTH; read_block_header(part, at, &header) &&
					 header.end <= part->length; at = header.end) {
		const uint64_t begin = at + sizeof(uint32_t[2]);
		const struct lk_part block = lk_part_of(part, begin, header.end - begin);

		if (header.id == id)
			found = blob_of(&block);
	}
	return found;
}

#define OLDEST_TABLE 1
#define NEWEST_TABLE 3

/* The first fields of the table. */
struct table_begin {
	uint32_t version, producer[2], modules[2], comdats[2];
	uint32_t symbols, symbol_count;
};

struct table_symbol {
	uint32_t name, name_length;	/* in the strings */
	uint32_t ir_name[2], comdat, flags;
};

/* Bits of `flags`. */
enum { IS_UNDEFINED = 1 << 3, IS_WEAK = 1 << 4, IS_COMMON = 1 << 5, IS_GLOBAL = 1 << 10 };

static void add_names(const struct lk_part *strings, const struct lk_bytes *text,
		      const struct lk_bytes *table, uint64_t count, struct lk_symbols *symbols)
{
	uint64_t left = strings->length;	/* names of a sound table do not overlap */

	for (uint64_t i = 0; i < count; i++) {
		struct lazycuda_symbol like = { .defined = 1 };
		struct table_symbol symbol;

		memcpy(&symbol, table->at + i * sizeof(symbol), sizeof(symbol));
		if (!(symbol.flags & IS_GLOBAL) || symbol.flags & IS_UNDEFINED)
			continue;
		if (!lk_part_has(strings, symbol.name, symbol.name_length) ||
		    symbol.name_length > left)
			return;
		left -= symbol.name_length;
		like.weak = !!(symbol.flags & (IS_WEAK | IS_COMMON));
		lk_symbols_add(symbols, (const char *)text->at + symbol.name, symbol.name_length,
			       &like);
	}
}

void lk_bitcode_names(const struct lk_part *part, struct lc_arena *arena,
		      struct lazycuda_entry *entry)
{
	const struct lk_part strings = find_blob(part, STRINGS_BLOCK);
	const struct lk_part table = find_blob(part, SYMBOLS_BLOCK);
	struct lk_symbols symbols = { .arena = arena };
	struct lk_bytes text, listed;
	struct table_begin begin;
	uint64_t size;

	if (!lk_part_read(&table, 0, &begin, sizeof(begin)) || begin.version < OLDEST_TABLE ||
	    begin.version > NEWEST_TABLE)
		return;
	size = (uint64_t)begin.symbol_count * sizeof(struct table_symbol);
	if (!size || !lk_part_has(&table, begin.symbols, size) || !strings.length)
		return;
	if (lk_bytes_get(&text, &strings, 0, strings.length, "names", arena))
		return;
	if (!lk_bytes_get(&listed, &table, begin.symbols, size, "symbols", arena)) {
		add_names(&strings, &text, &listed, begin.symbol_count, &symbols);
		lk_bytes_free(&listed);
	}
	lk_bytes_free(&text);
	entry->symbols = symbols.list;
	entry->symbol_count = symbols.count;
}
