/* SPDX-License-Identifier: MIT */
/* elf_device.h - an ELF file: its header, sections and symbols; of one for the device, all are checked */
#ifndef LINK_ELF_DEVICE_H
#define LINK_ELF_DEVICE_H

#include <elf.h>

#include "formats.h"

#define LK_EM_CUDA 190

/* Types of sections; of memory, those of no room in the file. */
#define SHT_NV_GLOBAL (SHT_LOPROC + 0x07)
#define SHT_NV_LOCAL (SHT_LOPROC + 0x09)
#define SHT_NV_SHARED (SHT_LOPROC + 0x0a)
#define SHT_NV_RESERVED (SHT_LOPROC + 0x15)		/* .nv.shared.reserved.* */
#define SHT_NV_MERC_RESERVED (SHT_LOPROC + 0x7d)	/* .nv.merc.nv.shared.reserved.* */

/* As stored in the file, without alignment. */
typedef Elf64_Shdr lk_elf_section __attribute__((aligned(1)));
typedef Elf64_Sym lk_elf_symbol __attribute__((aligned(1)));
typedef Elf64_Rel lk_elf_relocation __attribute__((aligned(1)));

/* The section names that some reader needs. */
enum lk_section_name {
	LK_NAME_OTHER,
	LK_NAME_TEXT,		/* .text.* */
	LK_NAME_DEBUG,		/* .debug_*, except the next */
	LK_NAME_DEBUG_INFO,	/* .debug_info */
	LK_NAME_INFO,		/* .nv.info* */
	LK_NAME_CONSTANT,	/* .nv.constant* */
	LK_NAME_COMPAT,		/* .nv.compat */
	LK_NAME_CUINFO,		/* .note.nv.cuinfo */
	LK_NAME_TKINFO,		/* .note.nv.tkinfo */
	LK_NAME_RELOCATIONS,	/* .rel.*, .rela.* */
	LK_NAME_MERC,		/* .nv.merc.*, .nv.capmerc.* */
	LK_NAMES
};

struct lk_device_elf {
	const struct lk_part *part;
	struct lc_arena *arena;
	Elf64_Ehdr header;
	struct lk_bytes sections, names;
	uint64_t section_count, names_size;
	/* set by lk_device_elf_open() */
	uint8_t *named;			/* lk_section_name of each section */
	uint64_t first[LK_NAMES];	/* the first section of each name; 0: none */
	uint64_t symbol_table;		/* index of the section; 0: none */
	/* set by lk_device_elf_load_symbols() */
	struct lk_bytes symbols, strings;
	uint64_t symbol_count, strings_size;
};

/* A symbol that other files can see. */
struct lk_device_symbol {
	const char *name;	/* valid while the file is open */
	bool defined, weak, kernel, function, shared;
	bool texture;		/* of a texture, sampler or surface reference */
	uint64_t size;
};

/* Reads the section headers and their names of any ELF file.  Returns NULL, or what is wrong; then
 * nothing is open.  A name may lie outside the names. */
const char *lk_elf_load(struct lk_device_elf *elf, const struct lk_part *part, struct lc_arena *arena);

/* Reads a file for the device, of which it checks every header: each section has a name, and its bytes
 * lie inside the part.  Returns NULL, or what is wrong; then nothing is open. */
const char *lk_device_elf_open(struct lk_device_elf *elf, const struct lk_part *part,
			       struct lc_arena *arena);
void lk_device_elf_close(struct lk_device_elf *elf);

/* Section `index`, which has to be less than section_count. */
static inline const lk_elf_section *lk_device_elf_section(const struct lk_device_elf *elf,
							  uint64_t index)
{
	return (const lk_elf_section *)elf->sections.at + index;
}

static inline const char *lk_device_elf_name(const struct lk_device_elf *elf,
					     const lk_elf_section *section)
{
	return (const char *)elf->names.at + section->sh_name;
}

/* Returns false for a section of uninitialised memory.  It takes no room in the file, and may be
 * larger than the file. */
bool lk_device_elf_has_bytes(const lk_elf_section *section);

/* Returns the size of an entry of a symbol table, or of relocations; 0 for other sections. */
uint64_t lk_device_elf_entry(const lk_elf_section *section);

/* "has a damaged symbol 3 of .symtab: its section" */
const char *lk_device_elf_damage(const struct lk_device_elf *elf, const char *what,
				 uint64_t index, const char *section, const char *why)
	__attribute__((cold));

/* Loads the symbols and checks that each has a name.  A file without a symbol table has no
 * symbols; that is not an error. */
const char *lk_device_elf_load_symbols(struct lk_device_elf *elf);

static inline const lk_elf_symbol *lk_device_elf_symbol(const struct lk_device_elf *elf,
							uint64_t index)
{
	return (const lk_elf_symbol *)elf->symbols.at + index;
}

/* Bits of st_other. */
enum { STO_CUDA_ENTRY = 0x10, STO_CUDA_MEMORY = 0xe0, STO_CUDA_SHARED = 0x40 };

/* Types of symbols without an address: the driver binds what a program gives to their names, so
 * they are undefined in images, too.  Linkers merge them by name. */
enum { STT_CUDA_TEXTURE = STT_LOOS, STT_CUDA_SAMPLER, STT_CUDA_SURFACE };

/* Returns false for a symbol that other files cannot see.  Most are such, so this is inline. */
static inline bool lk_device_elf_sees(const struct lk_device_elf *elf, const lk_elf_symbol *raw,
				      struct lk_device_symbol *symbol)
{
	unsigned bind = ELF64_ST_BIND(raw->st_info), type = ELF64_ST_TYPE(raw->st_info);
	bool weak = bind == STB_WEAK || raw->st_shndx == SHN_COMMON;

	if (!raw->st_name || (!weak && bind != STB_GLOBAL))
		return false;
	*symbol = (struct lk_device_symbol){
		.name = (const char *)elf->strings.at + raw->st_name,
		.defined = raw->st_shndx != SHN_UNDEF,
		.weak = weak,
		.kernel = raw->st_other & STO_CUDA_ENTRY,
		.function = type == STT_FUNC,
		.shared = (raw->st_other & STO_CUDA_MEMORY) == STO_CUDA_SHARED,
		.texture = type >= STT_CUDA_TEXTURE && type <= STT_CUDA_SURFACE,
		.size = raw->st_size,
	};
	return true;
}

/* lk_cubin_read() for a file that is open already. */
const char *lk_cubin_describe(struct lk_device_elf *elf, struct lazycuda_entry *entry,
			      bool symbols);

/* ---- cubin_rules.c ---- */

/* Formats of the records in .nv.info and .nv.compat.  After a SIZED one, as many bytes
 * follow as its value says. */
enum { LK_FORMAT_FIRST = 1, LK_FORMAT_SIZED = 4 };

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

#endif
