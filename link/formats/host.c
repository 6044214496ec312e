/* SPDX-License-Identifier: MIT */
/* host.c - the device code in host objects, libraries and executables */
#include <inttypes.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "elf_device.h"
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

static const struct section_kind *kind_of(const struct host *host, const char *name)
{
	if (host->part->source->host_lto && !strncmp(name, ".gnu.lto_", 9))
		*host->part->source->host_lto = true;
	for (size_t i = 0; i < LC_COUNT(section_kinds); i++)
		if (!strcmp(name, section_kinds[i].name))
			return &section_kinds[i];
	return NULL;
}

static const char *read_section(struct host *host, const lk_elf_section *section)
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
		return lc_format(host->walk->arena, "ends before its section %s does (0x%" PRIx64 " + 0x%"
				 PRIx64 ")", name, section->sh_offset, section->sh_size);
	if (section->sh_size > host->left)
		return "has sections that overlap";
	host->left -= section->sh_size;
	part = lk_part_of(host->part, section->sh_offset, section->sh_size);
	return host->kind->read(&part, &inside);
}

/* Counts the names of source files among the symbols, which are local ones: up to two. */
static unsigned count_files(struct host *host, const lk_elf_section *table)
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
static bool is_of_one_source(struct host *host, const struct lk_device_elf *elf)
{
	for (uint64_t i = 0; elf->header.e_type == ET_REL && i < elf->section_count; i++)
		if (lk_device_elf_section(elf, i)->sh_type == SHT_SYMTAB)
			return count_files(host, lk_device_elf_section(elf, i)) == 1;
	return false;
}

const char *lk_host_read(const struct lk_part *part, const struct lk_walk *walk)
{
	struct host host = { .part = part, .walk = walk, .left = part->length };
	struct lk_device_elf elf;
	const char *wrong = lk_elf_load(&elf, part, walk->arena);

	if (wrong)
		return wrong;
	host.of_one_source = is_of_one_source(&host, &elf);
	for (uint64_t i = 0; !wrong && i < elf.section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(&elf, i);

		host.kind = section->sh_name >= elf.names_size ? NULL :
			    kind_of(&host, lk_device_elf_name(&elf, section));
		if (host.kind)
			wrong = read_section(&host, section);
	}
	lk_device_elf_close(&elf);
	return wrong;
}
