/* SPDX-License-Identifier: MIT */
/* elf_device.c - an ELF file: its header, sections and symbols; of one for the device, all are checked */
#include "elf_device.h"

#include <inttypes.h>
#include <string.h>

#include "../../stubs/base/count.h"

/* ---- the header ---- */

static bool holds_table(uint64_t offset, uint64_t count, size_t entry, const struct lk_part *part)
{
	return count <= UINT64_MAX / entry && lk_part_has(part, offset, count * entry);
}

static const char *read_header(struct lk_device_elf *elf)
{
	Elf64_Ehdr *header = &elf->header;

	if (!lk_part_read(elf->part, 0, header, sizeof(*header)))
		return "ends inside its ELF header";
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return "is not an ELF file";
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return "is not an ELF file of 64 bits, little-endian";
	if (!header->e_shoff)
		return "has no section headers, by which code is found";
	return header->e_shentsize == sizeof(Elf64_Shdr) ? NULL :
		"has a damaged ELF header: its section headers are of another size";
}

/* ---- sections ---- */

/* A count or index too large for the ELF header is in the first section header. */
static const char *count_sections(struct lk_device_elf *elf, uint64_t *names)
{
	Elf64_Shdr first;

	elf->section_count = elf->header.e_shnum;
	*names = elf->header.e_shstrndx;
	if (elf->section_count && *names != SHN_XINDEX)
		return NULL;
	if (!lk_part_read(elf->part, elf->header.e_shoff, &first, sizeof(first)))
		return "ends before its section headers";
	if (!elf->section_count)
		elf->section_count = first.sh_size;
	if (*names == SHN_XINDEX)
		*names = first.sh_link;
	return NULL;
}

bool lk_device_elf_has_bytes(const lk_elf_section *section)
{
	switch (section->sh_type) {
	case SHT_NULL:
	case SHT_NOBITS:
	case SHT_NV_GLOBAL:
	case SHT_NV_LOCAL:
	case SHT_NV_SHARED:
	case SHT_NV_RESERVED:
	case SHT_NV_MERC_RESERVED:
		return false;
	default:
		return true;
	}
}

uint64_t lk_device_elf_entry(const lk_elf_section *section)
{
	switch (section->sh_type) {
	case SHT_SYMTAB:	return sizeof(Elf64_Sym);
	case SHT_REL:		return sizeof(Elf64_Rel);
	case SHT_RELA:		return sizeof(Elf64_Rela);
	default:		return 0;
	}
}

/* Returns NULL, or the field of the section header that is damaged. */
static const char *check_section(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	const uint64_t entry = lk_device_elf_entry(section);

	if (section->sh_name >= elf->names_size)
		return "its name";
	if (!lk_part_has(elf->part, section->sh_offset, section->sh_size) &&
	    lk_device_elf_has_bytes(section))
		return "its bytes";
	if (entry && section->sh_size % entry)
		return "its size";
	if (section->sh_type == SHT_SYMTAB &&
	    (section->sh_link >= elf->section_count ||
	     lk_device_elf_section(elf, section->sh_link)->sh_type != SHT_STRTAB))
		return "its link";
	return NULL;
}

static const struct { const char *beginning; enum lk_section_name name; bool whole; } names[] = {
	{ ".text.", LK_NAME_TEXT, false },
	{ ".nv.info", LK_NAME_INFO, false },
	{ ".nv.constant", LK_NAME_CONSTANT, false },
	{ ".rela.", LK_NAME_RELOCATIONS, false },
	{ ".rel.", LK_NAME_RELOCATIONS, false },
	{ ".nv.merc.", LK_NAME_MERC, false },
	{ ".nv.capmerc.", LK_NAME_MERC, false },
	{ ".debug_info", LK_NAME_DEBUG_INFO, true },
	{ ".debug_", LK_NAME_DEBUG, false },
	{ ".nv.compat", LK_NAME_COMPAT, true },
	{ ".note.nv.cuinfo", LK_NAME_CUINFO, true },
	{ ".note.nv.tkinfo", LK_NAME_TKINFO, true },
};

/* Most differ within a few letters, so that a call of strncmp() would cost more. */
static enum lk_section_name name_of(const char *name)
{
	for (size_t i = 0; i < LC_COUNT(names); i++) {
		const char *word = names[i].beginning, *at = name;

		for (; *word && *word == *at; word++)
			at++;
		if (!*word && (!names[i].whole || !*at))
			return names[i].name;
	}
	return LK_NAME_OTHER;
}

/* Checks each header, and records the sections that are
 * asked for later. */
static const char *walk_sections(struct lk_device_elf *elf)
{
	elf->named = lc_alloc(elf->arena, elf->section_count);
	if (!elf->named)
		return "has more sections than memory could hold";
	for (uint64_t i = 0; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);
		const char *what = check_section(elf, section);
		enum lk_section_name name;

		if (what)
			return lc_format(elf->arena, "has a damaged header of section %" PRIu64
					 " (0x%" PRIx64 "): %s", i,
					 elf->header.e_shoff + i * sizeof(*section), what);
		name = name_of(lk_device_elf_name(elf, section));
		elf->named[i] = name;
		if (!elf->first[name])
			elf->first[name] = i;
		if (section->sh_type == SHT_SYMTAB && !elf->symbol_table)
			elf->symbol_table = i;
	}
	return NULL;
}

static const char *read_names(struct lk_device_elf *elf, uint64_t index)
{
	const lk_elf_section *names;
	const char *why;

	if (index >= elf->section_count)
		return "has a damaged ELF header: it leads to no names of sections";
	names = lk_device_elf_section(elf, index);
	if (names->sh_type != SHT_STRTAB || !names->sh_size)
		return "has damaged names of sections";
	why = lk_bytes_get(&elf->names, elf->part, names->sh_offset, names->sh_size,
			   "names of sections", elf->arena);
	if (why)
		return why;
	elf->names_size = names->sh_size;
	/* With a NUL at the end, every offset into the table is a string. */
	return elf->names.at[names->sh_size - 1] ? "has damaged names of sections" : NULL;
}

static const char *load_sections(struct lk_device_elf *elf)
{
	uint64_t names;
	const char *why = count_sections(elf, &names);

	if (why)
		return why;
	if (!holds_table(elf->header.e_shoff, elf->section_count, sizeof(Elf64_Shdr), elf->part))
		return lc_format(elf->arena, "ends at 0x%" PRIx64 ", inside or before its section"
				 " headers (0x%" PRIx64 ")", elf->part->length,
				 elf->header.e_shoff);
	why = lk_bytes_get(&elf->sections, elf->part, elf->header.e_shoff,
			   elf->section_count * sizeof(Elf64_Shdr), "section headers", elf->arena);
	return why ? why : read_names(elf, names);
}

/* ---- segments ---- */

static const char *check_segments(struct lk_device_elf *elf)
{
	const Elf64_Ehdr *header = &elf->header;

	if (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr))
		return "has a damaged ELF header: its segments are of another size";
	if (!holds_table(header->e_phoff, header->e_phnum, sizeof(Elf64_Phdr), elf->part))
		return lc_format(elf->arena, "ends at 0x%" PRIx64 ", inside or before its program"
				 " headers (0x%" PRIx64 ")", elf->part->length, header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t offset = header->e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		if (!lk_part_read(elf->part, offset, &segment, sizeof(segment)) ||
		    !lk_part_has(elf->part, segment.p_offset, segment.p_filesz))
			return lc_format(elf->arena, "has a damaged header of segment %u (0x%"
					 PRIx64 "): its bytes", i, offset);
	}
	return NULL;
}

/* ---- all of it ---- */

const char *lk_elf_load(struct lk_device_elf *elf, const struct lk_part *part, struct lc_arena *arena)
{
	const char *why;

	*elf = (struct lk_device_elf){ .part = part, .arena = arena };
	why = read_header(elf);
	if (!why)
		why = load_sections(elf);
	if (why)
		lk_device_elf_close(elf);
	return why;
}

const char *lk_device_elf_open(struct lk_device_elf *elf, const struct lk_part *part,
			       struct lc_arena *arena)
{
	const char *why = lk_elf_load(elf, part, arena);

	if (why)
		return why;
	why = elf->header.e_machine == LK_EM_CUDA ? walk_sections(elf) :
		"is an ELF file for another processor";
	if (!why)
		why = check_segments(elf);
	if (why)
		lk_device_elf_close(elf);
	return why;
}

void lk_device_elf_close(struct lk_device_elf *elf)
{
	lk_bytes_free(&elf->sections);
	lk_bytes_free(&elf->names);
	lk_bytes_free(&elf->symbols);
	lk_bytes_free(&elf->strings);
}

const char *lk_device_elf_damage(const struct lk_device_elf *elf, const char *what,
				 uint64_t index, const char *section, const char *why)
{
	return lc_format(elf->arena, "has a damaged %s %" PRIu64 " of %s: %s", what, index,
			 lc_printable(elf->arena, section), why);
}

/* ---- symbols ---- */

static const char *check_names(const struct lk_device_elf *elf)
{
	const lk_elf_symbol *symbol = lk_device_elf_symbol(elf, 0);

	if (elf->strings_size && elf->strings.at[elf->strings_size - 1])
		return "has damaged names of symbols";
	for (uint64_t i = 1; i < elf->symbol_count; i++)
		if (symbol[i].st_name >= elf->strings_size)
			return lc_format(elf->arena, "has a damaged symbol %" PRIu64 ": its name",
					 i);
	return NULL;
}

const char *lk_device_elf_load_symbols(struct lk_device_elf *elf)
{
	const lk_elf_section *table = lk_device_elf_section(elf, elf->symbol_table), *strings;
	const char *why;

	if (!elf->symbol_table || elf->symbols.at)
		return NULL;
	strings = lk_device_elf_section(elf, table->sh_link);
	why = lk_bytes_get(&elf->symbols, elf->part, table->sh_offset, table->sh_size, "symbols",
			   elf->arena);
	if (!why)
		why = lk_bytes_get(&elf->strings, elf->part, strings->sh_offset, strings->sh_size,
				   "names of symbols", elf->arena);
	if (why)
		return why;
	elf->symbol_count = table->sh_size / sizeof(Elf64_Sym);
	elf->strings_size = strings->sh_size;
	return check_names(elf);
}
