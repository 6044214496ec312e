/* SPDX-License-Identifier: MIT */
/*
 * cubin_usual.c - whether a relocatable cubin is laid out as compilers lay it out
 *
 * cubin_sound.c looks for references that lead nowhere.  The rules here are about references
 * to the wrong place, which crash nvJitLink as well.  Every file that was looked at keeps them,
 * of every compiler from 11.7 to 13.5; docs/linking.md says how many files these are.  A later
 * compiler need not keep them.
 */
#include "cubin_sound.h"

#include <string.h>

#include "../tables/versions.h"

#define NEWEST_COUNTED LC_CUDA(13, 5)

#define SHT_NV_CALLGRAPH (SHT_LOPROC + 1)
#define SHT_NV_PROTOTYPE (SHT_LOPROC + 2)
/* From sm_100 on there is a second set of everything, .nv.merc.* and .nv.capmerc.text.*. */
#define SHT_NV_MERC_RELA (SHT_LOPROC + 0x82)
#define SHT_NV_MERC_CALLGRAPH (SHT_LOPROC + 0x8a)
#define SHT_NV_MERC_PROTOTYPE (SHT_LOPROC + 0x8b)
#define SHF_NV_MERC 0x10000000

/* ---- headers of sections ---- */

/* Returns the size of an entry of a table, or 0 for what is none. */
static uint64_t entry_size(uint32_t type)
{
	switch (type) {
	case SHT_SYMTAB:
	case SHT_NV_MERC_SYMTAB:
		return sizeof(Elf64_Sym);
	case SHT_REL:
		return sizeof(Elf64_Rel);
	case SHT_RELA:
	case SHT_NV_MERC_RELA:
		return sizeof(Elf64_Rela);
	case SHT_NV_CALLGRAPH:
	case SHT_NV_PROTOTYPE:
	case SHT_NV_MERC_CALLGRAPH:
	case SHT_NV_MERC_PROTOTYPE:
		return 8;
	default:
		return 0;
	}
}

static bool is_whole(const lk_elf_section *section)
{
	const uint64_t size = entry_size(section->sh_type);

	return !size || (section->sh_entsize == size && section->sh_size % size == 0);
}

/* Returns the number of symbols in the table to which sh_link leads. */
static uint64_t symbols_of_table(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	return lk_device_elf_section(elf, section->sh_link)->sh_size / sizeof(Elf64_Sym);
}

/* sh_info of code holds registers and a symbol. */
static bool is_symbol_of_its_table(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	return (section->sh_info & 0xffffff) < symbols_of_table(elf, section);
}

/* Returns the rest of a name after the words, or NULL if the name does not begin with them. */
static const char *behind(const char *words, const char *name)
{
	const size_t length = strlen(words);

	return strncmp(name, words, length) ? NULL : name + length;
}

/* The name of a section of relocations is a prefix and the name of the section they apply to. */
static bool is_named_after_its_section(const struct lk_device_elf *elf,
				       const lk_elf_section *section)
{
	const char *name = lk_device_elf_name(elf, section), *rest, *of;

	of = lk_device_elf_name(elf, lk_device_elf_section(elf, section->sh_info));
	if (section->sh_type == SHT_NV_MERC_RELA) {
		rest = behind(".nv.merc.rela", name);
		of = behind(".nv.merc", of) ? behind(".nv.merc", of) : behind(".nv.capmerc", of);
	} else {
		rest = behind(section->sh_type == SHT_REL ? ".rel" : ".rela", name);
	}
	return rest && of && !strcmp(rest, of);
}

/* Whether sh_info holds what it holds in all files.  Before 12, SHF_INFO_LINK is not set where
 * sh_info is the index of a section. */
static bool is_info(const struct lk_device_elf *elf, const lk_elf_section *section,
		    enum lk_section_name name)
{
	switch (section->sh_type) {
	case SHT_SYMTAB:
	case SHT_NV_MERC_SYMTAB:
		return true;		/* a number of symbols, which nobody follows */
	case SHT_NV_MERC_TEXT:
		return is_symbol_of_its_table(elf, section);
	case SHT_REL:
	case SHT_RELA:
	case SHT_NV_MERC_RELA:
		return section->sh_info < elf->section_count &&
		       is_named_after_its_section(elf, section);
	case SHT_PROGBITS:
		return section->sh_flags & SHF_EXECINSTR ? is_symbol_of_its_table(elf, section) :
							   !section->sh_info;
	}
	if (section->sh_info >= elf->section_count)
		return false;
	return !section->sh_info || (name != LK_NAME_INFO && name != LK_NAME_CONSTANT) ||
	       elf->named[section->sh_info] == LK_NAME_TEXT;
}

/* SHF_EXECINSTR is set for code alone, SHF_NV_MERC for sections of the second set alone. */
static bool are_flags(const lk_elf_section *section, enum lk_section_name name)
{
	return !(section->sh_flags & SHF_EXECINSTR) == (name != LK_NAME_TEXT) &&
	       !(section->sh_flags & SHF_NV_MERC) == (name != LK_NAME_MERC);
}

static const char *check_layout(const struct lk_device_elf *elf, const lk_elf_section *section,
				enum lk_section_name name)
{
	if (!section->sh_addralign)
		return "its alignment";
	if (!is_info(elf, section, name))
		return "its link";
	if (!are_flags(section, name))
		return "its flags";
	return is_whole(section) ? NULL : "the size of its entries";
}

/* ---- call graphs and prototypes ---- */

static bool is_call_graph(uint32_t type)
{
	return type == SHT_NV_CALLGRAPH || type == SHT_NV_MERC_CALLGRAPH;
}

static bool has_pairs(uint32_t type)
{
	return is_call_graph(type) || type == SHT_NV_PROTOTYPE || type == SHT_NV_MERC_PROTOTYPE;
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

static const char *check_pairs(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	const char *name = lk_device_elf_name(elf, section), *why;
	const uint64_t symbols = symbols_of_table(elf, section);
	const bool call = is_call_graph(section->sh_type);
	struct lk_bytes bytes;
	uint32_t pair[2];

	why = lk_bytes_get(&bytes, elf->part, section->sh_offset, section->sh_size, name,
			   elf->arena);
	for (uint64_t i = 0; !why && i + sizeof(pair) <= section->sh_size; i += sizeof(pair)) {
		memcpy(pair, bytes.at + i, sizeof(pair));
		if (!is_pair(elf, pair, symbols, call))
			why = lk_cubin_damage(elf, "pair", i / sizeof(pair), name, "its symbols");
	}
	lk_bytes_free(&bytes);
	return why;
}

/* ---- all of it ---- */

/* The lowest byte is 4 before sm_100, and from then on has the bit 2; the architecture is next. */
static bool are_abi_8_flags(uint32_t flags)
{
	enum { BEFORE_SM_100 = 4, FROM_SM_100_ON = 2 };

	return (flags >> 8 & 0xffff) < 100 ? (flags & 0xff) == BEFORE_SM_100 :
					     (flags & FROM_SM_100_ON) != 0;
}

const char *lk_cubin_usual(const struct lk_device_elf *elf, int abi, int toolkit)
{
	const lk_elf_section *first = lk_device_elf_section(elf, 0);

	if (toolkit > NEWEST_COUNTED)
		return NULL;
	if (abi == 8 && !are_abi_8_flags(elf->header.e_flags))
		return "has a damaged ELF header: its flags";
	if (first->sh_type != SHT_NULL || first->sh_flags)
		return "has a damaged header of section 0";
	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);
		const char *why = check_layout(elf, section, elf->named[i]);

		if (why)
			return lk_cubin_damage(elf, "header, section", i,
					       lk_device_elf_name(elf, section), why);
		if (has_pairs(section->sh_type))
			why = check_pairs(elf, section);
		if (why)
			return why;
	}
	return NULL;
}
