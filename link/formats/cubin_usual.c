/* SPDX-License-Identifier: MIT */
/*
 * cubin_usual.c - whether a relocatable cubin is laid out as compilers lay it out
 *
 * cubin_sound.c looks for references that lead nowhere.  The rules here are about references
 * to the wrong place, which crash nvJitLink as well.  Every file that was looked at keeps them,
 * of every compiler from 11.7 to 13.5; docs/reference/linking.md says how many files these are.  A later
 * compiler need not keep them.
 */
#include "cubin_sound.h"

#include <string.h>

#include "../tables/versions.h"

#define NEWEST_COUNTED LC_CUDA(13, 5)

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

/* SHF_EXECINSTR is set for code alone, SHF_NV_MERC for sections of the second set alone. */
static bool are_flags(const lk_elf_section *section, enum lk_section_name name)
{
	return !(section->sh_flags & SHF_EXECINSTR) == (name != LK_NAME_TEXT) &&
	       !(section->sh_flags & SHF_NV_MERC) == (name != LK_NAME_MERC);
}

static const char *check_layout(const lk_elf_section *section, enum lk_section_name name)
{
	if (!section->sh_addralign)
		return "its alignment";
	if (section->sh_offset & (section->sh_addralign - 1) && lk_device_elf_has_bytes(section))
		return "its place";
	if (!are_flags(section, name))
		return "its flags";
	return is_whole(section) ? NULL : "the size of its entries";
}

/* ---- the second set ---- */

/* Every function of the second set has a number of registers. */
static const char *check_registers(const struct lk_device_elf *elf, uint64_t registers)
{
	uint64_t functions = 0;

	for (uint64_t i = elf->first[LK_NAME_MERC]; i && i < elf->section_count; i++)
		functions += lk_device_elf_section(elf, i)->sh_type == SHT_NV_MERC_TEXT;
	return functions == registers ? NULL :
		"has damaged attributes: not one number of registers for each function";
}

static const char *check_merc_symbols(const struct lk_device_elf *elf,
				      const struct lk_symbol_table *table)
{
	for (uint64_t i = 1; i < table->count; i++) {
		const uint64_t section = table->at[i].st_shndx;

		if (section >= elf->section_count && section < SHN_LORESERVE)
			return lk_device_elf_damage(elf, "symbol", i, ".nv.merc.symtab",
						    "its section");
	}
	return NULL;
}

/* Finds the symbols of both sets; those of the second need lk_bytes_free(). */
static const char *find_symbols(const struct lk_device_elf *elf, struct lk_bytes *bytes,
				struct lk_symbol_table tables[LK_CUBIN_SETS])
{
	const char *why = NULL;

	tables[LK_CUBIN_PLAIN] = (struct lk_symbol_table){
		lk_device_elf_symbol(elf, 0), elf->symbol_count, elf->symbol_table };
	for (uint64_t i = elf->first[LK_NAME_MERC]; !why && i && i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);

		if (section->sh_type != SHT_NV_MERC_SYMTAB)
			continue;
		why = lk_bytes_get(bytes, elf->part, section->sh_offset, section->sh_size,
				   "symbols", elf->arena);
		tables[LK_CUBIN_MERC] = (struct lk_symbol_table){
			(const lk_elf_symbol *)bytes->at, section->sh_size / sizeof(Elf64_Sym), i };
		break;
	}
	return why;
}

/* ---- all of it ---- */

/*
 * ABI 7: the second byte says that addresses have 64 bits, how textures are used, and that the
 * architecture has a suffix; the next is the virtual architecture, and the highest 0.
 * ABI 8: the lowest byte is 4 before sm_100, and from then on has the bit 2; the architecture is
 * next.
 */
static bool are_flags_of_abi(uint32_t flags, int abi)
{
	enum { USUAL = 5, SUFFIX = 8, BEFORE_SM_100 = 4, FROM_SM_100_ON = 2 };

	if (abi == 7)
		return (flags >> 8 & 0xff & ~SUFFIX) == USUAL && (flags >> 16 & 0xff) &&
		       !(flags >> 24);
	if (abi != 8)
		return true;
	return (flags >> 8 & 0xffff) < 100 ? (flags & 0xff) == BEFORE_SM_100 :
					     (flags & FROM_SM_100_ON) != 0;
}

static const char *check_usual_sections(const struct lk_device_elf *elf,
					const struct lk_symbol_table tables[LK_CUBIN_SETS])
{
	uint64_t registers = 0;

	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);
		enum lk_cubin_contents contents = LK_CUBIN_ANYTHING;
		const char *why = check_layout(section, elf->named[i]);

		if (!why)
			why = lk_cubin_section(elf, tables, i, &contents);
		if (why)
			return lk_device_elf_damage(elf, "header, section", i,
						    lk_device_elf_name(elf, section), why);
		if (contents != LK_CUBIN_ANYTHING)
			why = lk_cubin_contents(elf, &tables[LK_CUBIN_MERC], section, contents,
						&registers);
		if (why)
			return why;
	}
	return tables[LK_CUBIN_MERC].section ? check_registers(elf, registers) : NULL;
}

const char *lk_cubin_usual(const struct lk_device_elf *elf, int abi, int toolkit)
{
	const lk_elf_section *first = lk_device_elf_section(elf, 0);
	struct lk_symbol_table tables[LK_CUBIN_SETS] = { { NULL, 0, 0 } };
	struct lk_bytes merc = { .at = NULL };
	const char *why;

	if (toolkit > NEWEST_COUNTED)
		return NULL;
	if (!are_flags_of_abi(elf->header.e_flags, abi))
		return "has a damaged ELF header: its flags";
	if (first->sh_type != SHT_NULL || first->sh_flags)
		return "has a damaged header of section 0";
	if (elf->strings_size && elf->strings.at[0])
		return "has damaged names of symbols";
	why = find_symbols(elf, &merc, tables);
	if (!why)
		why = check_merc_symbols(elf, &tables[LK_CUBIN_MERC]);
	if (!why)
		why = check_usual_sections(elf, tables);
	if (!why)
		why = lk_cubin_places(elf);
	lk_bytes_free(&merc);
	return why;
}
