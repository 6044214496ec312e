/* SPDX-License-Identifier: MIT */
/* host.c - the device code in host objects, libraries and executables */
#include <elf.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "formats.h"
#include "../tables/arch.h"

/* Code that is to be linked with that of other objects, and code that is final. */
static const struct section_kind {
	const char *name;
	unsigned flags;
	lk_container_reader *read;
} section_kinds[] = {
	{ LK_RELOCATABLE_SECTION, LAZYCUDA_ENTRY_RELOCATABLE, lk_fatbin_read },
	{ ".nv_fatbin", 0, lk_fatbin_read },
	{ ".llvm.offloading", 0, lk_offload_read },	/* of clang's newer driver */
};

#define LONGEST_SECTION 24	/* with its NUL */

struct host {
	const struct lk_part *part;
	const struct lk_walk *walk;
	const struct section_kind *kind;	/* of the section that is being read */
	uint64_t left;		/* bytes that may still be read: a sound file has no overlaps */
	bool of_one_source;	/* it is an object that a compiler wrote, and no linker */
};

static void take_section(struct lazycuda_entry *entry, void *data)
{
	struct host *host = data;

	entry->section = host->kind->name;
	entry->flags |= host->kind->flags;
	if (host->of_one_source && entry->flags & LK_IMAGE)
		entry->flags |= LK_ONE_SOURCE;
	host->walk->each(entry, host->walk->data);
}

struct sections {
	Elf64_Off offset;	/* of the section headers */
	uint64_t count;
	Elf64_Shdr names;
};

static const char *read_table(const struct host *host, const Elf64_Ehdr *header,
			      struct sections *sections)
{
	unsigned long long place = header->e_shoff;
	uint64_t names = header->e_shstrndx;
	Elf64_Shdr first;

	if (header->e_shentsize != sizeof(Elf64_Shdr))
		return "has section headers of impossible size";
	if (!lk_part_read(host->part, header->e_shoff, &first, sizeof(first)))
		return lc_format(host->walk->arena, "ends before its section headers (0x%llx)", place);
	sections->offset = header->e_shoff;
	/* Numbers too large for the ELF header are in the first section header. */
	sections->count = header->e_shnum ? header->e_shnum : first.sh_size;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (sections->count > (host->part->length - header->e_shoff) / sizeof(Elf64_Shdr))
		return lc_format(host->walk->arena, "ends inside its section headers (0x%llx)", place);
	if (names >= sections->count ||
	    !lk_part_read(host->part, header->e_shoff + names * sizeof(Elf64_Shdr),
			  &sections->names, sizeof(sections->names)))
		return "has no names for its sections";
	if (sections->names.sh_type != SHT_STRTAB)
		return "has no names for its sections";
	if (!lk_part_has(host->part, sections->names.sh_offset, sections->names.sh_size))
		return lc_format(host->walk->arena, "ends before the names of its sections do (0x%llx + "
				 "0x%llx)", (unsigned long long)sections->names.sh_offset,
				 (unsigned long long)sections->names.sh_size);
	return NULL;
}

static bool read_section_header(const struct host *host, const struct sections *sections, uint64_t index,
				Elf64_Shdr *section)
{
	return lk_part_read(host->part, sections->offset + index * sizeof(*section), section,
			    sizeof(*section));
}

static const struct section_kind *kind_of(const struct host *host,
					  const struct sections *sections, uint64_t name)
{
	char text[LONGEST_SECTION] = "";
	uint64_t left;

	if (name >= sections->names.sh_size)
		return NULL;
	left = sections->names.sh_size - name;
	if (!lk_part_read(host->part, sections->names.sh_offset + name, text,
			  left < sizeof(text) ? (size_t)left : sizeof(text)))
		return NULL;
	if (host->part->source->host_lto && !strncmp(text, ".gnu.lto_", 9))
		*host->part->source->host_lto = true;
	for (size_t i = 0; i < LC_COUNT(section_kinds); i++)
		if (!strncmp(text, section_kinds[i].name, sizeof(text)))
			return &section_kinds[i];
	return NULL;
}

static const char *read_section(struct host *host, const Elf64_Shdr *section)
{
	const char *name = host->kind->name;
	const struct lk_walk inside = { host->walk->arena, host->walk->count, take_section, host };
	struct lk_part part;

	/* A file of split debug information has the section headers without the contents. */
	if (section->sh_type == SHT_NOBITS)
		return NULL;
	if (section->sh_flags & SHF_COMPRESSED)
		return lc_format(host->walk->arena, "has a compressed section %s, which is not supported",
				 name);
	if (!lk_part_has(host->part, section->sh_offset, section->sh_size))
		return lc_format(host->walk->arena, "ends before its section %s does (0x%llx + 0x%llx)",
				 name, (unsigned long long)section->sh_offset,
				 (unsigned long long)section->sh_size);
	if (section->sh_size > host->left)
		return "has sections that overlap";
	host->left -= section->sh_size;
	part = lk_part_of(host->part, section->sh_offset, section->sh_size);
	return host->kind->read(&part, &inside);
}

static const char *read_sections(struct host *host, const struct sections *sections)
{
	const char *wrong = NULL;
	Elf64_Shdr section;

	for (uint64_t i = 0; !wrong && i < sections->count; i++) {
		if (!read_section_header(host, sections, i, &section))
			return "cannot be read";
		host->kind = kind_of(host, sections, section.sh_name);
		if (host->kind)
			wrong = read_section(host, &section);
	}
	return wrong;
}

/* ---- how many sources an object was compiled of ---- */

/* Counts the names of source files among the symbols, which are local ones: up to two. */
static unsigned count_files(struct host *host, const Elf64_Shdr *table)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym);
	unsigned files = 0;
	Elf64_Sym symbol;

	if (count > table->sh_info)
		count = table->sh_info;
	if (count * sizeof(symbol) > host->left)
		return 0;
	host->left -= count * sizeof(symbol);
	for (uint64_t i = 0; i < count && files < 2; i++) {
		if (!lk_part_read(host->part, table->sh_offset + i * sizeof(symbol), &symbol,
				  sizeof(symbol)))
			return 0;
		files += ELF64_ST_TYPE(symbol.st_info) == STT_FILE;
	}
	return files;
}

/* A compiler writes one name of a source file into an object, ld -r copies the names of all, and
 * strip removes them. */
static bool is_of_one_source(struct host *host, const struct sections *sections)
{
	Elf64_Shdr section;

	for (uint64_t i = 0; i < sections->count; i++)
		if (read_section_header(host, sections, i, &section) && section.sh_type == SHT_SYMTAB)
			return count_files(host, &section) == 1;
	return false;
}

static const char *read_by_sections(struct host *host, const Elf64_Ehdr *header)
{
	struct sections sections;
	const char *wrong = read_table(host, header, &sections);

	if (wrong)
		return wrong;
	host->of_one_source = header->e_type == ET_REL && is_of_one_source(host, &sections);
	return read_sections(host, &sections);
}

const char *lk_host_read(const struct lk_part *part, const struct lk_walk *walk)
{
	struct host host = { .part = part, .walk = walk, .left = part->length };
	Elf64_Ehdr header;

	/* A 32-bit ELF header is shorter: read e_ident first. */
	memset(&header, 0, sizeof(header));
	if (!lk_part_read(part, 0, &header, EI_NIDENT))
		return "ends inside its ELF header";
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return "is not an ELF file of 64 bits";
	if (header.e_ident[EI_DATA] != ELFDATA2LSB)
		return "is a big-endian ELF file, for which there is no CUDA";
	if (!lk_part_read(part, 0, &header, sizeof(header)))
		return "ends inside its ELF header";
	if (!header.e_shoff)
		return "has no section headers, by which device code is found";
	return read_by_sections(&host, &header);
}
