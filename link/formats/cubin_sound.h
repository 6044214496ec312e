/* SPDX-License-Identifier: MIT */
/* cubin_sound.h - whether a relocatable cubin can be linked without harm */
#ifndef LINK_CUBIN_SOUND_H
#define LINK_CUBIN_SOUND_H

#include "elf_device.h"

#define SHT_NV_INFO (SHT_LOPROC + 0)
#define SHT_NV_CALLGRAPH (SHT_LOPROC + 1)
#define SHT_NV_PROTOTYPE (SHT_LOPROC + 2)
#define SHT_NV_COMPAT (SHT_LOPROC + 0x86)
/* one for each bank of constants */
#define SHT_NV_CONSTANT (SHT_LOPROC + 0x64)
#define LK_CONSTANT_BANKS 24
/* of the second set */
#define SHT_NV_MERC_TEXT (SHT_LOPROC + 0x16)
#define SHT_NV_MERC_RELA (SHT_LOPROC + 0x82)
#define SHT_NV_MERC_INFO (SHT_LOPROC + 0x83)
#define SHT_NV_MERC_SYMTAB (SHT_LOPROC + 0x85)
#define SHT_NV_MERC_CALLGRAPH (SHT_LOPROC + 0x8a)
#define SHT_NV_MERC_PROTOTYPE (SHT_LOPROC + 0x8b)

/* Formats of the records in .nv.info and .nv.compat.  After a SIZED one, as many bytes
 * follow as its value says. */
enum { LK_FORMAT_FIRST = 1, LK_FORMAT_SIZED = 4 };

/* From sm_100 on, a cubin has a second set of code and all that belongs to it, in sections
 * whose names begin with .nv.merc or .nv.capmerc. */
enum lk_cubin_set { LK_CUBIN_PLAIN, LK_CUBIN_MERC, LK_CUBIN_SETS };

static inline bool lk_is_constant(uint32_t type)
{
	return type >= SHT_NV_CONSTANT && type < SHT_NV_CONSTANT + LK_CONSTANT_BANKS;
}

/* The symbols of a set. */
struct lk_symbol_table {
	const lk_elf_symbol *at;
	uint64_t count;
	uint64_t section;	/* index; 0: there is none */
};

static inline bool lk_symbol_is_function(const lk_elf_symbol *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

/* Relocation types are less than this; those of sm_100 and later add the flag. */
#define LK_RELOCATION_TYPES 256
#define LK_RELOCATION_FLAG 0x10000

/* `symbols` is their number, `room` the size of the section that the relocation applies to.
 * Returns NULL, or what is wrong. */
static inline const char *lk_cubin_relocation(const lk_elf_relocation *relocation,
					      uint64_t symbols, uint64_t room)
{
	const uint64_t type = ELF64_R_TYPE(relocation->r_info);

	if (ELF64_R_SYM(relocation->r_info) >= symbols)
		return "its symbol";
	if ((type & ~(uint64_t)LK_RELOCATION_FLAG) >= LK_RELOCATION_TYPES)
		return "its type";
	return relocation->r_offset < room ? NULL : "its place";
}

/*
 * Checks the attributes in a section called `name`, of which `at` are the bytes; the symbols
 * that they name are in `table`.  *registers grows by the numbers of registers among them.
 * Returns NULL, or what is wrong.
 */
const char *lk_cubin_attributes(const struct lk_device_elf *elf,
				const struct lk_symbol_table *table,
				const lk_elf_section *section, const unsigned char *at,
				const char *name, uint64_t *registers);

/*
 * Checks that the references between the sections of a relocatable cubin hold.
 * Returns NULL, or what is wrong as a phrase.  No version of nvJitLink checks them,
 * and a wrong one crashes it.  The symbols have to be loaded; `abi` is 7, 8 or, of a
 * cubin of which nothing is known, 0.
 */
const char *lk_cubin_sound(const struct lk_device_elf *elf, int abi);

/*
 * Checks that a cubin that is sound is also laid out as every compiler of its toolkit lays
 * it out.  Returns NULL, or what is wrong; NULL for a toolkit that is newer than those that
 * were looked at.
 */
const char *lk_cubin_usual(const struct lk_device_elf *elf, int abi, int toolkit);

/* What is in a section, besides what lk_cubin_sound() checks. */
enum lk_cubin_contents {
	LK_CUBIN_ANYTHING,
	LK_CUBIN_PAIRS,			/* of a call graph, or of prototypes */
	LK_CUBIN_ATTRIBUTES,		/* of the second set; so are the next */
	LK_CUBIN_RELOCATIONS,
	LK_CUBIN_UNITS,			/* of DWARF, of either set */
};

/*
 * Checks the header of a section by its name: its type, and what it leads to.  Returns NULL, or
 * what is wrong with it; NULL for names of which nothing is known.  *contents becomes what else
 * has to be checked.
 */
const char *lk_cubin_section(const struct lk_device_elf *elf,
			     const struct lk_symbol_table tables[LK_CUBIN_SETS], uint64_t index,
			     enum lk_cubin_contents *contents);

/*
 * Checks what lk_cubin_section() says is in a section.  `table` has the symbols of the second set,
 * *registers grows by the numbers of registers in its attributes.  Returns NULL, or what is wrong.
 */
const char *lk_cubin_contents(const struct lk_device_elf *elf,
			      const struct lk_symbol_table *table,
			      const lk_elf_section *section, enum lk_cubin_contents contents,
			      uint64_t *registers);

/* Checks that no two sections overlap.  Returns NULL, or which does. */
const char *lk_cubin_places(const struct lk_device_elf *elf);

#endif
