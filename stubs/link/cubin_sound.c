/* SPDX-License-Identifier: MIT */
/*
 * cubin_sound.c - whether a relocatable cubin can be linked without harm
 *
 * Each of these was seen to crash a real nvJitLink, most of them all versions:
 * an index of a symbol or a section that there is none of, a relocation of no
 * known type or behind its section, attributes that end behind theirs.
 */
#include "cubin_sound.h"

#include <inttypes.h>
#include <string.h>

#define SHT_NV_INFO (SHT_LOPROC + 0)
#define SHT_NV_RELOCATED_TEXT (SHT_LOPROC + 0x86)	/* of sm_100, beside PROGBITS */
#define SHT_NV_CONSTANT_FIRST (SHT_LOPROC + 0x64)	/* one for each bank */
#define SHT_NV_CONSTANT_LAST (SHT_LOPROC + 0x7b)
#define LARGEST_ALIGNMENT 65536

/* Relocations are numbered below this, those of sm_100 and later with a bit above. */
#define RELOCATION_TYPES 256
#define RELOCATION_FLAG 0x10000

enum { FORMAT_FIRST = 1, FORMAT_SIZED = 4 };

/* In no relocatable cubin of ABI 8 that a compiler made; nvJitLink 13.0 crashes on it. */
#define ABI_8_FLAG_OF_NONE 0x01000000

struct sound {
	const struct lc_device_elf *elf;
	struct lc_bytes symbols;
	uint64_t symbol_count, symbol_table, strings_size;
};

static Elf64_Sym symbol_of(const struct sound *sound, uint64_t index)
{
	Elf64_Sym symbol;

	memcpy(&symbol, sound->symbols.at + index * sizeof(symbol), sizeof(symbol));
	return symbol;
}

static const char *name_of(const struct sound *sound, uint64_t index)
{
	return lc_device_elf_section(sound->elf, index).name;
}

/* ---- headers of sections ---- */

enum family { OTHER, INFO, CONSTANT, CODE };

static enum family family_of(const char *name)
{
	static const struct {
		const char *prefix;
		size_t length;
		enum family family;
	} prefixes[] = {
		{ ".nv.info", 8, INFO }, { ".nv.constant", 12, CONSTANT },
		{ ".text.", 6, CODE }, { ".debug_", 7, CODE },
	};

	for (size_t i = 0; *name && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (name[1] == prefixes[i].prefix[1] &&
		    !strncmp(name, prefixes[i].prefix, prefixes[i].length))
			return prefixes[i].family;
	return OTHER;
}

static bool is_of_its_type(const char *name, uint32_t type)
{
	switch (family_of(name)) {
	case INFO:
		return type == SHT_NV_INFO;
	case CONSTANT:
		return type >= SHT_NV_CONSTANT_FIRST && type <= SHT_NV_CONSTANT_LAST;
	case CODE:
		return type == SHT_PROGBITS || type == SHT_NV_RELOCATED_TEXT;
	default:
		return type != SHT_NV_INFO;
	}
}

static bool is_entry_size(const Elf64_Shdr *header)
{
	switch (header->sh_type) {
	case SHT_SYMTAB:	return header->sh_entsize == sizeof(Elf64_Sym);
	case SHT_REL:		return header->sh_entsize == sizeof(Elf64_Rel);
	case SHT_RELA:		return header->sh_entsize == sizeof(Elf64_Rela);
	default:		return true;
	}
}

static bool is_relocation(const Elf64_Shdr *header)
{
	return header->sh_type == SHT_REL || header->sh_type == SHT_RELA;
}

/* What else sh_info is: a number of symbols; of code, registers and a symbol. */
static bool leads_to_a_section(const Elf64_Shdr *header)
{
	return header->sh_type != SHT_SYMTAB && !(header->sh_flags & SHF_EXECINSTR);
}

static const char *check_header(const struct sound *sound, uint64_t index)
{
	Elf64_Shdr header = lc_device_elf_header(sound->elf, index);
	uint64_t count = sound->elf->section_count;

	if (!is_of_its_type(name_of(sound, index), header.sh_type))
		return "its type";
	if (header.sh_addralign & (header.sh_addralign - 1) ||
	    header.sh_addralign > LARGEST_ALIGNMENT)
		return "its alignment";
	if (header.sh_link >= count || (leads_to_a_section(&header) && header.sh_info >= count))
		return "its link";
	if (is_relocation(&header) && header.sh_link != sound->symbol_table)
		return "its symbols";
	return is_entry_size(&header) ? NULL : "the size of its entries";
}

/* ---- symbols ---- */

static const char *check_symbol(const struct sound *sound, uint64_t index)
{
	Elf64_Sym symbol = symbol_of(sound, index), nothing = { 0 };
	uint64_t section = symbol.st_shndx;

	if (!memcmp(&symbol, &nothing, sizeof(symbol)))
		return "nothing in it";
	if (symbol.st_name >= sound->strings_size)
		return "its name";
	if (section >= sound->elf->section_count)
		return section == SHN_ABS || section == SHN_COMMON ? NULL : "its section";
	if (section && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
		uint64_t room = lc_device_elf_header(sound->elf, section).sh_size;

		if (symbol.st_value > room || symbol.st_size > room - symbol.st_value)
			return "its place";
	}
	return NULL;
}

static bool is_symbol(const struct sound *sound, uint64_t index)
{
	return index && index < sound->symbol_count;
}

static bool is_function_here(const struct sound *sound, uint64_t index)
{
	Elf64_Sym symbol;

	if (!is_symbol(sound, index))
		return false;
	symbol = symbol_of(sound, index);
	return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx;
}

/* ---- relocations ---- */

static const char *check_relocation(const struct sound *sound, const Elf64_Shdr *section,
				    const unsigned char *at)
{
	Elf64_Shdr target = lc_device_elf_header(sound->elf, section->sh_info);
	Elf64_Rel relocation;	/* what RELA begins with */
	uint64_t type;

	memcpy(&relocation, at, sizeof(relocation));
	type = ELF64_R_TYPE(relocation.r_info);
	if (ELF64_R_SYM(relocation.r_info) >= sound->symbol_count)
		return "its symbol";
	if ((type & ~(uint64_t)RELOCATION_FLAG) >= RELOCATION_TYPES)
		return "its type";
	return relocation.r_offset < target.sh_size ? NULL : "its place";
}

/* ---- attributes ---- */

/* The first word of an attribute's value, by its number. */
enum first_word { ANYTHING, FUNCTION, SYMBOL, SYMBOLS, PARAMETER };

static const struct {
	uint8_t first;		/* enum first_word */
	uint8_t least;		/* bytes */
} attributes[256] = {
	[0x0a] = { SYMBOL, 8 },		/* the bank of parameters */
	[0x0f] = { SYMBOLS, 0 },	/* externals */
	[0x11] = { FUNCTION, 8 },	/* size of the frame */
	[0x12] = { FUNCTION, 8 },	/* least size of the stack */
	[0x17] = { PARAMETER, 12 },
	[0x23] = { FUNCTION, 8 },	/* largest size of the stack */
	[0x2f] = { FUNCTION, 8 },	/* number of registers */
};

static uint32_t word_at(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static bool is_value(const struct sound *sound, enum first_word first, const unsigned char *at,
		     uint16_t size)
{
	switch (first) {
	case FUNCTION:
		return is_function_here(sound, word_at(at));
	case SYMBOL:
		return is_symbol(sound, word_at(at));
	case SYMBOLS:
		for (uint16_t i = 0; i + 4 <= size; i += 4)
			if (!is_symbol(sound, word_at(at + i)))
				return false;
		return size % 4 == 0;
	case PARAMETER:
		return word_at(at) == 0;
	default:
		return true;
	}
}

static const char *check_attribute(const struct sound *sound, const unsigned char *at,
				   uint64_t left, uint64_t *length)
{
	uint16_t size;

	*length = 4;
	if (left < 4 || at[0] < FORMAT_FIRST || at[0] > FORMAT_SIZED)
		return "its format";
	if (at[0] != FORMAT_SIZED)
		return NULL;
	memcpy(&size, at + 2, sizeof(size));
	if (size > left - 4)
		return "its size";
	*length += size;
	if (size < attributes[at[1]].least ||
	    !is_value(sound, attributes[at[1]].first, at + 4, size))
		return "its value";
	return NULL;
}

/* Parameters are numbered from 0 without a gap. */
static bool are_parameters(const unsigned char *at, uint64_t size)
{
	uint64_t count = 0, largest = 0, length;

	for (uint64_t i = 0; i < size; i += length) {
		uint16_t bytes = 0, ordinal;

		if (at[i] == FORMAT_SIZED)
			memcpy(&bytes, at + i + 2, sizeof(bytes));
		length = 4 + bytes;
		if (at[i] != FORMAT_SIZED || at[i + 1] != 0x17)
			continue;
		memcpy(&ordinal, at + i + 8, sizeof(ordinal));
		largest = ordinal > largest ? ordinal : largest;
		count++;
	}
	return !count || largest < count;
}

/* ---- all of it ---- */

static const char *damaged(const struct sound *sound, const char *what, uint64_t index,
			   const char *section, const char *why)
{
	return lc_format(sound->elf->arena, "has a damaged %s %" PRIu64 " of %s: %s", what, index,
			 lc_printable(sound->elf->arena, section), why);
}

static const char *check_relocations(const struct sound *sound, const Elf64_Shdr *header,
				     const unsigned char *at, const char *name)
{
	for (uint64_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
		const char *why = check_relocation(sound, header, at + i * header->sh_entsize);

		if (why)
			return damaged(sound, "relocation", i, name, why);
	}
	return NULL;
}

static const char *check_attributes(const struct sound *sound, const Elf64_Shdr *header,
				    const unsigned char *at, const char *name)
{
	uint64_t length, count = 0;

	for (uint64_t i = 0; i < header->sh_size; i += length, count++) {
		const char *why = check_attribute(sound, at + i, header->sh_size - i, &length);

		if (why)
			return damaged(sound, "attribute", count, name, why);
	}
	return are_parameters(at, header->sh_size) ? NULL :
		damaged(sound, "attribute", count, name, "a parameter's number");
}

static const char *check_section(const struct sound *sound, uint64_t index)
{
	const struct lc_device_elf *elf = sound->elf;
	Elf64_Shdr header = lc_device_elf_header(sound->elf, index);
	const char *name = name_of(sound, index), *why = check_header(sound, index);
	struct lc_bytes bytes = { 0 };

	if (why)
		return damaged(sound, "header, section", index, name, why);
	if (!is_relocation(&header) && header.sh_type != SHT_NV_INFO)
		return NULL;
	why = lc_bytes_get(&bytes, elf->part, header.sh_offset, header.sh_size, name, elf->arena);
	if (!why)
		why = is_relocation(&header) ?
			check_relocations(sound, &header, bytes.at, name) :
			check_attributes(sound, &header, bytes.at, name);
	lc_bytes_free(&bytes);
	return why;
}

static const char *open_symbols(struct sound *sound)
{
	const struct lc_device_elf *elf = sound->elf;
	struct lc_section table;

	sound->symbol_table = lc_device_elf_symbol_table(elf);
	if (!sound->symbol_table)
		return "has no symbols";
	table = lc_device_elf_section(elf, sound->symbol_table);
	sound->symbol_count = table.size / sizeof(Elf64_Sym);
	sound->strings_size = lc_device_elf_section(elf, table.link).size;
	return lc_bytes_get(&sound->symbols, elf->part, table.offset, table.size, "symbols",
			    elf->arena);
}

const char *lc_cubin_sound(const struct lc_device_elf *elf)
{
	struct sound sound = { .elf = elf };
	const char *why;

	if (elf->header.e_ident[EI_ABIVERSION] == 8 && elf->header.e_flags & ABI_8_FLAG_OF_NONE)
		return "has a damaged ELF header: its flags";
	why = open_symbols(&sound);
	for (uint64_t i = 1; !why && i < sound.symbol_count; i++) {
		why = check_symbol(&sound, i);
		if (why)
			why = damaged(&sound, "symbol", i, ".symtab", why);
	}
	for (uint64_t i = 1; !why && i < elf->section_count; i++)
		why = check_section(&sound, i);
	lc_bytes_free(&sound.symbols);
	return why;
}
