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

#define SHT_NV_INFO (SHT_LOPROC + 0)
#define SHT_NV_COMPAT (SHT_LOPROC + 0x86)		/* .nv.compat */
#define SHT_NV_CONSTANT_FIRST (SHT_LOPROC + 0x64)	/* one type for each bank */
#define SHT_NV_CONSTANT_LAST (SHT_LOPROC + 0x7b)
#define LARGEST_ALIGNMENT 65536

/* Relocation types are less than this; those of sm_100 and later add the flag. */
#define RELOCATION_TYPES 256
#define RELOCATION_FLAG 0x10000

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
		return type >= SHT_NV_CONSTANT_FIRST && type <= SHT_NV_CONSTANT_LAST;
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

static bool is_function(const lk_elf_symbol *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

static const char *check_symbol(const struct lk_device_elf *elf, const lk_elf_symbol *symbol)
{
	const uint64_t section = symbol->st_shndx;
	uint64_t room;

	if (is_nothing(symbol))
		return "nothing in it";
	if (section >= elf->section_count)
		return section == SHN_ABS || section == SHN_COMMON ? NULL : "its section";
	if (!section || !is_function(symbol))
		return NULL;
	room = lk_device_elf_section(elf, section)->sh_size;
	return symbol->st_value <= room && symbol->st_size <= room - symbol->st_value ? NULL :
		"its place";
}

static bool is_symbol(const struct lk_device_elf *elf, uint64_t index)
{
	return index && index < elf->symbol_count;
}

static bool is_function_here(const struct lk_device_elf *elf, uint64_t index)
{
	const lk_elf_symbol *symbol;

	if (!is_symbol(elf, index))
		return false;
	symbol = lk_device_elf_symbol(elf, index);
	return is_function(symbol) && symbol->st_shndx;
}

/* ---- relocations ---- */

/* `room` is the size of the section to which the relocation applies. */
static const char *check_relocation(const struct lk_device_elf *elf,
				    const lk_elf_relocation *relocation, uint64_t room)
{
	const uint64_t type = ELF64_R_TYPE(relocation->r_info);

	if (ELF64_R_SYM(relocation->r_info) >= elf->symbol_count)
		return "its symbol";
	if ((type & ~(uint64_t)RELOCATION_FLAG) >= RELOCATION_TYPES)
		return "its type";
	return relocation->r_offset < room ? NULL : "its place";
}

/* ---- attributes ---- */

/* What the first word of an attribute's value holds, by attribute number. */
enum first_word { ANYTHING, FUNCTION, SYMBOL, SYMBOLS, PARAMETER };

static const struct {
	uint8_t first;		/* enum first_word */
	uint8_t least;		/* bytes */
} attributes[256] = {
	[0x0a] = { SYMBOL, 8 },		/* constant bank of the parameters */
	[0x0f] = { SYMBOLS, 0 },	/* externals */
	[0x11] = { FUNCTION, 8 },	/* size of the frame */
	[0x12] = { FUNCTION, 8 },	/* least size of the stack */
	[0x17] = { PARAMETER, 12 },
	[0x23] = { SYMBOL, 8 },		/* largest size of the stack; __UFT_CANONICAL has one
					   in what nvJitLink 13.5 makes with -r */
	[0x2f] = { FUNCTION, 8 },	/* number of registers */
};

static uint32_t word_at(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Parameters have to be numbered from 0 without a gap. */
struct parameters {
	unsigned count, largest;
};

static bool are_symbols(const struct lk_device_elf *elf, const unsigned char *at, unsigned size)
{
	for (unsigned i = 0; i + 4 <= size; i += 4)
		if (!is_symbol(elf, word_at(at + i)))
			return false;
	return size % 4 == 0;
}

static bool is_parameter(const unsigned char *at, struct parameters *parameters)
{
	unsigned ordinal = word_at(at + 4) & 0xffff;

	parameters->count++;
	if (ordinal > parameters->largest)
		parameters->largest = ordinal;
	return word_at(at) == 0;
}

static bool is_value(const struct lk_device_elf *elf, enum first_word first,
		     const unsigned char *at, unsigned size, struct parameters *parameters)
{
	switch (first) {
	case FUNCTION:
		return is_function_here(elf, word_at(at));
	case SYMBOL:
		return is_symbol(elf, word_at(at));
	case SYMBOLS:
		return are_symbols(elf, at, size);
	case PARAMETER:
		return is_parameter(at, parameters);
	default:
		return true;
	}
}

static bool is_sound_value(const struct lk_device_elf *elf, unsigned number,
			   const unsigned char *at, unsigned size, struct parameters *parameters)
{
	return size >= attributes[number].least &&
	       (attributes[number].first == ANYTHING ||
		is_value(elf, attributes[number].first, at, size, parameters));
}

/*
 * An attribute is a format, a number, and 16 bits: the value itself or, for format
 * SIZED, the number of value bytes that follow.  A cubin has more attributes than
 * anything else.  Returns NULL, or what is wrong with attribute *count.
 */
static const char *check_values(const struct lk_device_elf *elf, const unsigned char *at,
				uint64_t left, uint64_t *count)
{
	struct parameters parameters = { 0, 0 };

	for (*count = 0; left; ++*count) {
		const uint32_t head = left >= 4 ? word_at(at) : 0;
		const unsigned format = head & 0xff, size = head >> 16;

		if (format < LK_FORMAT_FIRST || format > LK_FORMAT_SIZED)
			return "its format";
		at += 4;
		left -= 4;
		if (format != LK_FORMAT_SIZED)
			continue;
		if (size > left)
			return "its size";
		if (!is_sound_value(elf, head >> 8 & 0xff, at, size, &parameters))
			return "its value";
		at += size;
		left -= size;
	}
	return !parameters.count || parameters.largest < parameters.count ? NULL :
		"a parameter's number";
}

/* ---- all of it ---- */

const char *lk_cubin_damage(const struct lk_device_elf *elf, const char *what, uint64_t index,
			    const char *section, const char *why)
{
	return lc_format(elf->arena, "has a damaged %s %" PRIu64 " of %s: %s", what, index,
			 lc_printable(elf->arena, section), why);
}

static const char *check_relocations(const struct lk_device_elf *elf,
				     const lk_elf_section *section, const unsigned char *at,
				     const char *name)
{
	const uint64_t room = lk_device_elf_section(elf, section->sh_info)->sh_size;
	const size_t entry = (size_t)section->sh_entsize;

	for (uint64_t i = 0; i < section->sh_size; i += entry) {
		/* A RELA entry begins with the fields of a REL entry. */
		const char *why = check_relocation(elf, (const lk_elf_relocation *)(at + i), room);

		if (why)
			return lk_cubin_damage(elf, "relocation", i / entry, name, why);
	}
	return NULL;
}

static const char *check_attributes(const struct lk_device_elf *elf,
				    const lk_elf_section *section, const unsigned char *at,
				    const char *name)
{
	uint64_t count;
	const char *why = check_values(elf, at, section->sh_size, &count);

	return why ? lk_cubin_damage(elf, "attribute", count, name, why) : NULL;
}

/* Checks the contents of a section of relocations or attributes. */
static const char *check_bytes(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	const char *name = lk_device_elf_name(elf, section);
	struct lk_bytes bytes;
	const char *why = lk_bytes_get(&bytes, elf->part, section->sh_offset, section->sh_size,
				       name, elf->arena);

	if (!why)
		why = is_relocation(section) ? check_relocations(elf, section, bytes.at, name) :
					       check_attributes(elf, section, bytes.at, name);
	lk_bytes_free(&bytes);
	return why;
}

static const char *check_sections(const struct lk_device_elf *elf)
{
	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);
		const char *why = check_shdr(elf, section, elf->named[i]);

		if (why)
			return lk_cubin_damage(elf, "header, section", i,
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
			return lk_cubin_damage(elf, "symbol", i, ".symtab", why);
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
