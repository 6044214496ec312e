/* SPDX-License-Identifier: MIT */
/* cubin.c - what a cubin records about itself: toolkit, architecture, ABI, symbols */
#include <string.h>

#include "elf_device.h"
#include "symbols.h"
#include "../tables/versions.h"

/* EI_OSABI of the two ABIs. */
enum { OSABI_7 = 0x33, OSABI_8 = 0x41 };

/* Fields of e_flags. */
enum {
	ABI_7_SPECIFIC = 0x800,		/* sm_90a */
	ABI_8_KIND = 0xff,
	ABI_8_KIND_SPECIFIC = 0x0a	/* sm_100a by 12.8 and 12.9; 13 says so in .nv.compat */
};

/* Versions are written as 10 * major + minor.  A value below the first version that used
 * these fields is something else. */
static int toolkit_of(uint32_t version)
{
	return version >= 50 && version < 1000 ?
	       LC_CUDA((int)version / 10, (int)version % 10) : LAZYCUDA_VERSION_NONE;
}

/* ---- notes and attributes of ABI 8 ---- */

/* Returns the bytes of the first section with that name, or an empty part. */
static struct lk_part part_named(const struct lk_device_elf *elf, enum lk_section_name name)
{
	const lk_elf_section *section = lk_device_elf_section(elf, elf->first[name]);

	return elf->first[name] ? lk_part_of(elf->part, section->sh_offset, section->sh_size) :
				  lk_part_of(elf->part, 0, 0);
}

/* Returns a word of the description of a section's first note, or 0 if there is none.
 * Only 16 bits are read: some writers count no more than these in n_descsz. */
static unsigned note_word(const struct lk_device_elf *elf, enum lk_section_name name, uint32_t at)
{
	struct lk_part part = part_named(elf, name);
	uint16_t word = 0;
	uint64_t begin;
	Elf64_Nhdr note;

	if (lk_device_elf_section(elf, elf->first[name])->sh_type != SHT_NOTE)
		return 0;
	if (!lk_part_read(&part, 0, &note, sizeof(note)) || note.n_descsz < at + sizeof(word))
		return 0;
	begin = sizeof(note) + (((uint64_t)note.n_namesz + 3) & ~(uint64_t)3);
	return lk_part_read(&part, begin + at, &word, sizeof(word)) ? word : 0;
}

static int read_toolkit(const struct lk_device_elf *elf)
{
	unsigned version = note_word(elf, LK_NAME_CUINFO, 4);	/* from 13.0 on */

	if (!version)
		version = note_word(elf, LK_NAME_TKINFO, 0);		/* 12.8 and 12.9 */
	return toolkit_of(version);
}

/*
 * Returns true if .nv.compat has the tag for code that runs on this architecture
 * alone.  A record is a format, a tag, and a value of that format.
 */
static bool is_specific(const struct lk_device_elf *elf)
{
	enum { TAG_SPECIFIC = 9, MOST_BYTES = 4096 };
	struct { uint8_t format, tag; uint16_t value; } record;
	struct lk_part part = part_named(elf, LK_NAME_COMPAT);
	uint64_t at = 0;

	while (at < MOST_BYTES && lk_part_read(&part, at, &record, sizeof(record))) {
		if (record.tag == TAG_SPECIFIC)
			return record.value & 0xff;
		at += sizeof(record) + (record.format == LK_FORMAT_SIZED ? record.value : 0);
	}
	return false;
}

/* ---- the header ---- */

static void read_abi_7(const struct lk_device_elf *elf, struct lazycuda_entry *entry)
{
	uint32_t flags = elf->header.e_flags;

	entry->abi = 7;
	entry->arch = flags & 0xff;
	entry->suffix = flags & ABI_7_SPECIFIC ? 'a' : 0;
	entry->toolkit = toolkit_of(elf->header.e_version);
}

static void read_abi_8(const struct lk_device_elf *elf, struct lazycuda_entry *entry)
{
	uint32_t flags = elf->header.e_flags;

	entry->abi = 8;
	entry->arch = flags >> 8 & 0xffff;
	entry->suffix = (flags & ABI_8_KIND) == ABI_8_KIND_SPECIFIC || is_specific(elf) ? 'a' : 0;
	entry->toolkit = read_toolkit(elf);
}

/* An unknown ABI or ELF type is not damage: the cubin may be sound, but is of no use here. */
static void read_abi(const struct lk_device_elf *elf, struct lazycuda_entry *entry)
{
	unsigned osabi = elf->header.e_ident[EI_OSABI];
	unsigned version = elf->header.e_ident[EI_ABIVERSION];

	if (osabi == OSABI_7 && version == 7)
		read_abi_7(elf, entry);
	else if (osabi == OSABI_8 && version == 8)
		read_abi_8(elf, entry);
	else
		entry->error = lc_format(elf->arena, "is a cubin of ABI %u (OS/ABI 0x%x), of which"
					 " nothing is known", version, osabi);
	if (elf->header.e_type == ET_REL)
		entry->flags |= LAZYCUDA_ENTRY_RELOCATABLE;
	else if (elf->header.e_type == ET_EXEC)
		entry->flags |= LAZYCUDA_ENTRY_LINKED;
	else if (!entry->error)
		entry->error = lc_format(elf->arena, "is a cubin of ELF type %u, neither"
					 " relocatable nor linked", elf->header.e_type);
}

/* ---- symbols ---- */

/*
 * Names may share bytes: a name can be the tail of a longer one.  Each is read whole
 * and copied, so the sum of their lengths is limited to this multiple of the string
 * table, however small the table is: a file may hold many cubins.
 */
#define NAMES_SHARED 8

/* Returns true for symbols that matter to other files.  Undefined symbols for a kernel's
 * shared memory do not, nor do undefined ones that tools reserve for themselves:
 * ".nv.reservedSmem.offset0", "__UFT". */
static bool is_of_others(const struct lk_device_symbol *symbol)
{
	return symbol->defined || (!symbol->shared && !symbol->weak && symbol->name[0] != '.');
}

/* Returns the number of symbols after the local ones, which sh_info counts.  If sh_info is
 * wrong, the list gets too much room, or grows later. */
static size_t count_others(const struct lk_device_elf *elf)
{
	const uint64_t locals = lk_device_elf_section(elf, elf->symbol_table)->sh_info;

	return locals < elf->symbol_count ? (size_t)(elf->symbol_count - locals) : 0;
}

/* Linkers keep kernels, variables that others see, and what these need. */
static bool is_root(const lk_elf_symbol *raw, bool seen, const struct lk_device_symbol *symbol)
{
	return raw->st_other & STO_CUDA_ENTRY ||
	       (seen && symbol->defined && !symbol->function && symbol->name[0] != '.');
}

static const char *read_symbols(const struct lk_device_elf *elf, struct lazycuda_entry *entry)
{
	struct lk_symbols symbols = { .arena = elf->arena };
	struct lk_device_symbol symbol;
	uint64_t names = 0;
	bool root = false;

	lk_symbols_expect(&symbols, count_others(elf));
	for (uint64_t i = 1; i < elf->symbol_count; i++) {
		const lk_elf_symbol *raw = lk_device_elf_symbol(elf, i);
		const bool seen = lk_device_elf_sees(elf, raw, &symbol);
		struct lazycuda_symbol like = { .name = NULL };
		size_t length;

		root |= is_root(raw, seen, &symbol);
		if (!seen || !is_of_others(&symbol))
			continue;
		length = strlen(symbol.name);
		names += length;
		if (names / NAMES_SHARED > elf->strings_size)
			return "has damaged names of symbols: they overlap";
		like.defined = symbol.defined || symbol.texture;
		like.weak = symbol.weak || symbol.texture;
		like.kernel = symbol.kernel;
		like.flags = symbol.defined && !symbol.function ? LAZYCUDA_SYMBOL_VARIABLE : 0;
		lk_symbols_add(&symbols, symbol.name, length, &like);
	}
	entry->symbols = symbols.list;
	entry->symbol_count = symbols.count;
	if (!root && entry->flags & LAZYCUDA_ENTRY_RELOCATABLE)
		entry->flags |= LAZYCUDA_ENTRY_NO_ROOT;
	return NULL;
}

const char *lk_cubin_describe(struct lk_device_elf *elf, struct lazycuda_entry *entry,
			      bool symbols)
{
	const char *why = NULL;

	entry->kind = LAZYCUDA_KIND_CUBIN;
	read_abi(elf, entry);
	if (elf->first[LK_NAME_DEBUG_INFO])
		entry->flags |= LAZYCUDA_ENTRY_DEBUG;
	if (!entry->error && !entry->arch)
		why = "names no architecture";
	if (!why && symbols)
		why = lk_device_elf_load_symbols(elf);
	if (!why && symbols)
		why = read_symbols(elf, entry);
	if (why || !symbols || !(entry->flags & LAZYCUDA_ENTRY_RELOCATABLE))
		return why;
	why = lk_cubin_sound(elf, entry->abi);
	return why ? why : lk_cubin_usual(elf, entry->abi, entry->toolkit);
}

const char *lk_cubin_read(const struct lk_part *part, struct lc_arena *arena,
			  struct lazycuda_entry *entry, bool symbols)
{
	struct lk_device_elf elf;
	const char *why = lk_device_elf_open(&elf, part, arena);

	entry->kind = LAZYCUDA_KIND_CUBIN;
	if (why)
		return why;
	why = lk_cubin_describe(&elf, entry, symbols);
	lk_device_elf_close(&elf);
	return why;
}
