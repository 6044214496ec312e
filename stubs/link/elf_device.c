/* SPDX-License-Identifier: MIT */
/* elf_device.c - an ELF file for the device: its header, sections and symbols */
#include "elf_device.h"

#include <inttypes.h>
#include <string.h>

#include "containers.h"

/* ---- the header ---- */

static bool is_table(uint64_t offset, uint64_t count, size_t entry, const struct lc_part *part)
{
	return count <= UINT64_MAX / entry && lc_part_has(part, offset, count * entry);
}

static const char *read_header(struct lc_device_elf *elf)
{
	Elf64_Ehdr *header = &elf->header;

	if (!lc_part_read(elf->part, 0, header, sizeof(*header)))
		return "ends inside its ELF header";
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return "is not an ELF file";
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return "is not an ELF file of 64 bits, little-endian";
	if (header->e_machine != LC_EM_CUDA)
		return "is an ELF file for another processor";
	if (!header->e_shoff || header->e_shentsize != sizeof(Elf64_Shdr))
		return "has a damaged ELF header: it leads to no section headers";
	if (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr))
		return "has a damaged ELF header: its segments are of another size";
	return NULL;
}

/* ---- sections ---- */

Elf64_Shdr lc_device_elf_header(const struct lc_device_elf *elf, uint64_t index)
{
	Elf64_Shdr header;

	memcpy(&header, elf->sections.at + index * sizeof(header), sizeof(header));
	return header;
}

/* Where there are too many, the first section says how many there are. */
static const char *count_sections(struct lc_device_elf *elf, uint64_t *names)
{
	Elf64_Shdr first;

	elf->section_count = elf->header.e_shnum;
	*names = elf->header.e_shstrndx;
	if (elf->section_count && *names != SHN_XINDEX)
		return NULL;
	if (!lc_part_read(elf->part, elf->header.e_shoff, &first, sizeof(first)))
		return "ends before its section headers";
	if (!elf->section_count)
		elf->section_count = first.sh_size;
	if (*names == SHN_XINDEX)
		*names = first.sh_link;
	return NULL;
}

/* Sections of memory that nothing is put into take no room in the file, and may
 * be larger than it. */
static bool has_bytes(uint32_t type)
{
	switch (type) {
	case SHT_NULL:
	case SHT_NOBITS:
	case SHT_LOPROC + 0x07:		/* .nv.global */
	case SHT_LOPROC + 0x09:		/* .nv.local */
	case SHT_LOPROC + 0x0a:		/* .nv.shared */
	case SHT_LOPROC + 0x15:		/* .nv.shared.reserved */
	case SHT_LOPROC + 0x7d:		/* .nv.merc.nv.shared.reserved */
		return false;
	default:
		return true;
	}
}

static size_t entry_size(uint32_t type)
{
	switch (type) {
	case SHT_SYMTAB:	return sizeof(Elf64_Sym);
	case SHT_REL:		return sizeof(Elf64_Rel);
	case SHT_RELA:		return sizeof(Elf64_Rela);
	default:		return 1;
	}
}

static const char *check_section(const struct lc_device_elf *elf, uint64_t index)
{
	Elf64_Shdr header = lc_device_elf_header(elf, index);
	const char *what = NULL;

	if (header.sh_name >= elf->names_size)
		what = "its name";
	else if (has_bytes(header.sh_type) &&
		 !lc_part_has(elf->part, header.sh_offset, header.sh_size))
		what = "its bytes";
	else if (header.sh_size % entry_size(header.sh_type))
		what = "its size";
	else if (header.sh_type == SHT_SYMTAB &&
		 (header.sh_link >= elf->section_count ||
		  lc_device_elf_header(elf, header.sh_link).sh_type != SHT_STRTAB))
		what = "its link";
	if (!what)
		return NULL;
	return lc_format(elf->arena, "has a damaged header of section %" PRIu64 " (0x%" PRIx64
			 "): %s", index, elf->header.e_shoff + index * sizeof(header), what);
}

static const char *read_names(struct lc_device_elf *elf, uint64_t index)
{
	Elf64_Shdr header;
	const char *why;

	if (index >= elf->section_count)
		return "has a damaged ELF header: it leads to no names of sections";
	header = lc_device_elf_header(elf, index);
	if (header.sh_type != SHT_STRTAB || !header.sh_size)
		return "has damaged names of sections";
	why = lc_bytes_get(&elf->names, elf->part, header.sh_offset, header.sh_size,
			   "names of sections", elf->arena);
	if (why)
		return why;
	elf->names_size = header.sh_size;
	/* Then every offset into it is a string. */
	return elf->names.at[header.sh_size - 1] ? "has damaged names of sections" : NULL;
}

static const char *read_sections(struct lc_device_elf *elf)
{
	uint64_t names;
	const char *why = count_sections(elf, &names);

	if (why)
		return why;
	if (!is_table(elf->header.e_shoff, elf->section_count, sizeof(Elf64_Shdr), elf->part))
		return lc_format(elf->arena, "ends at 0x%" PRIx64 ", inside or before its section"
				 " headers (0x%" PRIx64 ")", elf->part->length,
				 elf->header.e_shoff);
	why = lc_bytes_get(&elf->sections, elf->part, elf->header.e_shoff,
			   elf->section_count * sizeof(Elf64_Shdr), "section headers", elf->arena);
	if (!why)
		why = read_names(elf, names);
	for (uint64_t i = 0; !why && i < elf->section_count; i++)
		why = check_section(elf, i);
	return why;
}

/* ---- segments ---- */

static const char *check_segments(struct lc_device_elf *elf)
{
	const Elf64_Ehdr *header = &elf->header;

	if (!is_table(header->e_phoff, header->e_phnum, sizeof(Elf64_Phdr), elf->part))
		return lc_format(elf->arena, "ends at 0x%" PRIx64 ", inside or before its program"
				 " headers (0x%" PRIx64 ")", elf->part->length, header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t offset = header->e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		if (!lc_part_read(elf->part, offset, &segment, sizeof(segment)) ||
		    !lc_part_has(elf->part, segment.p_offset, segment.p_filesz))
			return lc_format(elf->arena, "has a damaged header of segment %u (0x%"
					 PRIx64 "): its bytes", i, offset);
	}
	return NULL;
}

/* ---- all of it ---- */

const char *lc_device_elf_open(struct lc_device_elf *elf, const struct lc_part *part,
			       struct lc_arena *arena)
{
	const char *why;

	*elf = (struct lc_device_elf){ .part = part, .arena = arena };
	why = read_header(elf);
	if (!why)
		why = read_sections(elf);
	if (!why)
		why = check_segments(elf);
	if (why)
		lc_device_elf_close(elf);
	return why;
}

void lc_device_elf_close(struct lc_device_elf *elf)
{
	lc_bytes_free(&elf->sections);
	lc_bytes_free(&elf->names);
}

struct lc_section lc_device_elf_section(const struct lc_device_elf *elf, uint64_t index)
{
	Elf64_Shdr header = lc_device_elf_header(elf, index);

	return (struct lc_section){
		.name = (const char *)elf->names.at + header.sh_name, .type = header.sh_type,
		.link = header.sh_link, .offset = header.sh_offset, .size = header.sh_size,
	};
}

bool lc_device_elf_find(const struct lc_device_elf *elf, const char *name,
			struct lc_section *section)
{
	for (uint64_t i = 1; i < elf->section_count; i++) {
		*section = lc_device_elf_section(elf, i);
		if (!strcmp(section->name, name))
			return true;
	}
	return false;
}

uint64_t lc_device_elf_symbol_table(const struct lc_device_elf *elf)
{
	for (uint64_t i = 1; i < elf->section_count; i++)
		if (lc_device_elf_header(elf, i).sh_type == SHT_SYMTAB)
			return i;
	return 0;
}

/* ---- symbols ---- */

/*
 * Names may share bytes, as the end of a longer one; each is read whole.  So
 * that all of them cost no more than a table without sharing would, they may
 * not be longer together than this many times the table, or this many bytes.
 */
#define NAMES_SHARED 16
#define NAMES_SMALL ((uint64_t)1 << 20)

/* Bits of st_other. */
enum { STO_CUDA_ENTRY = 0x10, STO_CUDA_MEMORY = 0xe0, STO_CUDA_SHARED = 0x40 };

struct symbol_walk {
	const struct lc_device_elf *elf;
	struct lc_bytes symbols, strings;
	uint64_t count, strings_size;
};

static const char *walk_symbols(const struct symbol_walk *walk,
				void (*each)(const struct lc_device_symbol *, void *), void *data)
{
	uint64_t names = 0;

	for (uint64_t i = 1; i < walk->count; i++) {
		struct lc_device_symbol symbol;
		Elf64_Sym raw;
		bool weak;

		memcpy(&raw, walk->symbols.at + i * sizeof(raw), sizeof(raw));
		if (raw.st_name >= walk->strings_size)
			return lc_format(walk->elf->arena, "has a damaged symbol %" PRIu64
					 ": its name", i);
		weak = ELF64_ST_BIND(raw.st_info) == STB_WEAK || raw.st_shndx == SHN_COMMON;
		if (!raw.st_name || (!weak && ELF64_ST_BIND(raw.st_info) != STB_GLOBAL))
			continue;
		names += strlen((const char *)walk->strings.at + raw.st_name);
		if (names > NAMES_SMALL && names / NAMES_SHARED > walk->strings_size)
			return "has damaged names of symbols: they overlap";
		symbol = (struct lc_device_symbol){
			.name = (const char *)walk->strings.at + raw.st_name,
			.defined = raw.st_shndx != SHN_UNDEF,
			.weak = weak,
			.kernel = raw.st_other & STO_CUDA_ENTRY,
			.function = ELF64_ST_TYPE(raw.st_info) == STT_FUNC,
			.shared = (raw.st_other & STO_CUDA_MEMORY) == STO_CUDA_SHARED,
			.size = raw.st_size,
		};
		each(&symbol, data);
	}
	return NULL;
}

const char *lc_device_elf_symbols(const struct lc_device_elf *elf,
				  void (*each)(const struct lc_device_symbol *symbol, void *data),
				  void *data)
{
	struct symbol_walk walk = { .elf = elf };
	uint64_t index = lc_device_elf_symbol_table(elf);
	struct lc_section table, strings;
	const char *why;

	if (!index)
		return NULL;
	table = lc_device_elf_section(elf, index);
	strings = lc_device_elf_section(elf, table.link);
	walk.count = table.size / sizeof(Elf64_Sym);
	walk.strings_size = strings.size;
	why = lc_bytes_get(&walk.symbols, elf->part, table.offset, table.size, "symbols",
			   elf->arena);
	if (!why)
		why = lc_bytes_get(&walk.strings, elf->part, strings.offset, strings.size,
				   "names of symbols", elf->arena);
	if (!why && strings.size && walk.strings.at[strings.size - 1])
		why = "has damaged names of symbols";
	if (!why)
		why = walk_symbols(&walk, each, data);
	lc_bytes_free(&walk.symbols);
	lc_bytes_free(&walk.strings);
	return why;
}
