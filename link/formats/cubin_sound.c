/* SPDX-License-Identifier: MIT */
/*
 * cubin_sound.c - whether a relocatable cubin can be linked without harm
 *
 * Each of these defects has crashed a real nvJitLink, and most crash all versions:
 * an index of a symbol or section that does not exist, a relocation of unknown type
 * or past the end of its section, attributes that run past the end of theirs.
 */
#include "cubin_sound.h"

#include <inttypes.h>
#include <string.h>

#define LARGEST_ALIGNMENT 65536

/*
 * In ABI 8 the highest byte of e_flags is the index of a section: .note.nv.cuinfo, or
 * .note.nv.cuver in files of 12.8 and 12.9.  Of its 256 values nvJitLink 13.0 to 13.4 crash
 * on all but the indexes of notes and 255; 12.9 and 13.5 do not look at it.
 */
#define ABI_8_NO_NOTE 255

/* ---- headers of sections ---- */

static bool is_of_its_type(enum lk_section_name name, uint32_t type)
{
	switch (name) {
	case LK_NAME_INFO:
		return type == SHT_NV_INFO;
	case LK_NAME_CONSTANT:
		return lk_is_constant(type);
	case LK_NAME_TEXT:
	case LK_NAME_DEBUG:
	case LK_NAME_DEBUG_INFO:
		return type == SHT_PROGBITS || type == SHT_NV_COMPAT;
	default:
		return type != SHT_NV_INFO;
	}
}

static bool is_entry_size(const lk_elf_section *section)
{
	switch (section->sh_type) {
	case SHT_SYMTAB:	return section->sh_entsize == sizeof(Elf64_Sym);
	case SHT_REL:		return section->sh_entsize == sizeof(Elf64_Rel);
	case SHT_RELA:		return section->sh_entsize == sizeof(Elf64_Rela);
	default:		return true;
	}
}

static bool is_relocation(const lk_elf_section *section)
{
	return section->sh_type == SHT_REL || section->sh_type == SHT_RELA;
}

/* sh_info is not a section index in a symbol table, where it is a number of symbols, or in code,
 * where it holds registers and a symbol. */
static bool leads_to_a_section(const lk_elf_section *section)
{
	switch (section->sh_type) {
	case SHT_SYMTAB:
	case SHT_NV_MERC_SYMTAB:
	case SHT_NV_MERC_TEXT:
		return false;
	default:
		return is_relocation(section) || !(section->sh_flags & SHF_EXECINSTR);
	}
}

static const char *check_shdr(const struct lk_device_elf *elf, const lk_elf_section *section,
			      enum lk_section_name name)
{
	const uint64_t alignment = section->sh_addralign;

	if (!is_of_its_type(name, section->sh_type))
		return "its type";
	if (alignment & (alignment - 1) || alignment > LARGEST_ALIGNMENT)
		return "its alignment";
	if (section->sh_link >= elf->section_count ||
	    (section->sh_info >= elf->section_count && leads_to_a_section(section)))
		return "its link";
	if (is_relocation(section) && section->sh_link != elf->symbol_table)
		return "its symbols";
	return is_entry_size(section) ? NULL : "the size of its entries";
}

/* ---- symbols ---- */

static bool is_nothing(const lk_elf_symbol *symbol)
{
	return !(symbol->st_name | symbol->st_info | symbol->st_other | symbol->st_shndx |
		 symbol->st_value | symbol->st_size);
}

static const char *check_symbol(const struct lk_device_elf *elf, const lk_elf_symbol *symbol)
{
	const uint64_t section = symbol->st_shndx;
	uint64_t room;

	if (is_nothing(symbol))
		return "nothing in it";
	if (section >= elf->section_count)
		return section == SHN_ABS || section == SHN_COMMON ? NULL : "its section";
	if (!section || !lk_symbol_is_function(symbol))
		return NULL;
	room = lk_device_elf_section(elf, section)->sh_size;
	return symbol->st_value <= room && symbol->st_size <= room - symbol->st_value ? NULL :
		"its place";
}

/* ---- all of it ---- */

static const char *check_relocations(const struct lk_device_elf *elf,
				     const lk_elf_section *section, const unsigned char *at,
				     const char *name)
{
	const uint64_t room = lk_device_elf_section(elf, section->sh_info)->sh_size;
	const size_t entry = (size_t)section->sh_entsize;

	for (uint64_t i = 0; i < section->sh_size; i += entry) {
		/* A RELA entry begins with the fields of a REL entry. */
		const char *why = lk_cubin_relocation((const lk_elf_relocation *)(at + i),
						      elf->symbol_count, room);

		if (why)
			return lk_device_elf_damage(elf, "relocation", i / entry, name, why);
	}
	return NULL;
}

/* Checks the contents of a section of relocations or attributes. */
static const char *check_bytes(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	const struct lk_symbol_table table = {
		lk_device_elf_symbol(elf, 0), elf->symbol_count, elf->symbol_table };
	const char *name = lk_device_elf_name(elf, section);
	uint64_t registers = 0;
	struct lk_bytes bytes;
	const char *why = lk_bytes_get(&bytes, elf->part, section->sh_offset, section->sh_size,
				       name, elf->arena);

	if (!why && is_relocation(section))
		why = check_relocations(elf, section, bytes.at, name);
	else if (!why)
		why = lk_cubin_attributes(elf, &table, section, bytes.at, name, &registers);
	lk_bytes_free(&bytes);
	return why;
}

static const char *check_sections(const struct lk_device_elf *elf)
{
	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);
		const char *why = check_shdr(elf, section, elf->named[i]);

		if (why)
			return lk_device_elf_damage(elf, "header, section", i,
						    lk_device_elf_name(elf, section), why);
		if (is_relocation(section) || section->sh_type == SHT_NV_INFO)
			why = check_bytes(elf, section);
		if (why)
			return why;
	}
	return NULL;
}

static const char *check_symbols(const struct lk_device_elf *elf)
{
	for (uint64_t i = 1; i < elf->symbol_count; i++) {
		const char *why = check_symbol(elf, lk_device_elf_symbol(elf, i));

		if (why)
			return lk_device_elf_damage(elf, "symbol", i, ".symtab", why);
	}
	return NULL;
}

static bool leads_to_a_note(const struct lk_device_elf *elf)
{
	const uint32_t index = elf->header.e_flags >> 24;

	return index == ABI_8_NO_NOTE ||
	       (index < elf->section_count &&
		lk_device_elf_section(elf, index)->sh_type == SHT_NOTE);
}

const char *lk_cubin_sound(const struct lk_device_elf *elf, int abi)
{
	const char *why;

	if (abi == 8 && !leads_to_a_note(elf))
		return "has a damaged ELF header: its flags";
	if (!elf->symbol_table)
		return "has no symbols";
	why = check_symbols(elf);
	return why ? why : check_sections(elf);
}
