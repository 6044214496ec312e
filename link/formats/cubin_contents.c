/* SPDX-License-Identifier: MIT */
/*
 * cubin_contents.c - what is in the sections of a relocatable cubin, besides what
 * cubin_sound.c looks at: call graphs, DWARF, and the second set
 */
#include "cubin_sound.h"

#include <string.h>

/* ---- call graphs and prototypes ---- */

/* Returns the number of symbols in the table to which sh_link leads. */
static uint64_t symbols_of_table(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	return lk_device_elf_section(elf, section->sh_link)->sh_size / sizeof(Elf64_Sym);
}

static bool is_call_graph(uint32_t type)
{
	return type == SHT_NV_CALLGRAPH || type == SHT_NV_MERC_CALLGRAPH;
}

/*
 * A pair is the symbol of a function, and the symbol of one that it calls or the place of its
 * prototype among the names.  A call graph begins with pairs of 0 and of -1 to -4.
 */
static bool is_pair(const struct lk_device_elf *elf, const uint32_t pair[2], uint64_t symbols,
		    bool call)
{
	if (call && !pair[0])
		return pair[1] >= (uint32_t)-4 || pair[1] < symbols;
	return pair[0] < symbols && (pair[1] < symbols || pair[1] < elf->strings_size);
}

static const char *check_pairs(const struct lk_device_elf *elf, const lk_elf_section *section,
			       const unsigned char *at, const char *name)
{
	const uint64_t symbols = symbols_of_table(elf, section);
	const bool call = is_call_graph(section->sh_type);
	uint32_t pair[2];

	for (uint64_t i = 0; i + sizeof(pair) <= section->sh_size; i += sizeof(pair)) {
		memcpy(pair, at + i, sizeof(pair));
		if (!is_pair(elf, pair, symbols, call))
			return lk_device_elf_damage(elf, "pair", i / sizeof(pair), name,
						    "its symbols");
	}
	return NULL;
}

/* ---- relocations of the second set ---- */

/* Places of relocations of code are not those in the section. */
static const char *check_merc_relocations(const struct lk_device_elf *elf,
					  const struct lk_symbol_table *table,
					  const lk_elf_section *section, const unsigned char *at,
					  const char *name)
{
	const lk_elf_section *to = lk_device_elf_section(elf, section->sh_info);
	const uint64_t room = to->sh_type == SHT_NV_MERC_TEXT ? UINT64_MAX : to->sh_size;

	for (uint64_t i = 0; i < section->sh_size; i += sizeof(Elf64_Rela)) {
		/* A RELA entry begins with the fields of a REL entry. */
		const char *why = lk_cubin_relocation((const lk_elf_relocation *)(at + i),
						      table->count, room);

		if (why)
			return lk_device_elf_damage(elf, "relocation", i / sizeof(Elf64_Rela),
						    name, why);
	}
	return NULL;
}

/* ---- DWARF ---- */

/* Each unit begins with its length, of 32 bits or, behind -1, of 64. */
static const char *check_units(const struct lk_device_elf *elf, const lk_elf_section *section,
			       const unsigned char *at, const char *name)
{
	uint64_t left = section->sh_size, length;
	uint32_t word;

	for (uint64_t i = 0; left; i++) {
		size_t head = sizeof(word);

		if (left < sizeof(word) + sizeof(length))
			return lk_device_elf_damage(elf, "unit", i, name, "its length");
		memcpy(&word, at, sizeof(word));
		length = word;
		if (word == UINT32_MAX) {
			memcpy(&length, at + sizeof(word), sizeof(length));
			head += sizeof(length);
		}
		if (length > left - head)
			return lk_device_elf_damage(elf, "unit", i, name, "its length");
		at += head + length;
		left -= head + length;
	}
	return NULL;
}

/* ---- all of it ---- */

const char *lk_cubin_contents(const struct lk_device_elf *elf,
			      const struct lk_symbol_table *table,
			      const lk_elf_section *section, enum lk_cubin_contents contents,
			      uint64_t *registers)
{
	const char *name = lk_device_elf_name(elf, section);
	struct lk_bytes bytes;
	const char *why = lk_bytes_get(&bytes, elf->part, section->sh_offset, section->sh_size,
				       name, elf->arena);

	if (!why) {
		switch (contents) {
		case LK_CUBIN_PAIRS:
			why = check_pairs(elf, section, bytes.at, name);
			break;
		case LK_CUBIN_ATTRIBUTES:
			why = lk_cubin_attributes(elf, table, section, bytes.at, name, registers);
			break;
		case LK_CUBIN_RELOCATIONS:
			why = check_merc_relocations(elf, table, section, bytes.at, name);
			break;
		case LK_CUBIN_UNITS:
			why = check_units(elf, section, bytes.at, name);
			break;
		case LK_CUBIN_ANYTHING:
			break;
		}
	}
	lk_bytes_free(&bytes);
	return why;
}
