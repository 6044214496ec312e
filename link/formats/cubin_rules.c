/* SPDX-License-Identifier: MIT */
/*
 * cubin_rules.c - the invariants of a relocatable cubin, without which nvJitLink crashes
 *
 * lk_cubin_sound() looks for references that lead nowhere.  Each of these defects has crashed a
 * real nvJitLink, and most crash all versions: an index of a symbol or section that does not
 * exist, a relocation of unknown type or past the end of its section, attributes that run past
 * the end of theirs.
 *
 * lk_cubin_usual() looks for references to the wrong place, which crash it as well.  Every file
 * that was looked at keeps these rules, of every compiler from 11.7 to 13.5;
 * docs/reference/linking.md says how many files these are.  A later compiler need not keep them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "elf_device.h"
#include "../tables/versions.h"

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

/* From sm_100 on, a cubin has a second set of code and all that belongs to it, in sections
 * whose names begin with .nv.merc or .nv.capmerc. */
enum lk_cubin_set { LK_CUBIN_PLAIN, LK_CUBIN_MERC, LK_CUBIN_SETS };

static bool is_constant(uint32_t type)
{
	return type >= SHT_NV_CONSTANT && type < SHT_NV_CONSTANT + LK_CONSTANT_BANKS;
}

/* The symbols of a set. */
struct lk_symbol_table {
	const lk_elf_symbol *at;
	uint64_t count;
	uint64_t section;	/* index; 0: there is none */
};

static bool is_function(const lk_elf_symbol *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

/* Relocation types are less than this; those of sm_100 and later add the flag. */
#define LK_RELOCATION_TYPES 256
#define LK_RELOCATION_FLAG 0x10000

/* `symbols` is their number, `room` the size of the section that the relocation applies to.
 * Returns NULL, or what is wrong. */
static const char *check_relocation(const lk_elf_relocation *relocation,
				    uint64_t symbols, uint64_t room)
{
	const uint64_t type = ELF64_R_TYPE(relocation->r_info);

	if (ELF64_R_SYM(relocation->r_info) >= symbols)
		return "its symbol";
	if ((type & ~(uint64_t)LK_RELOCATION_FLAG) >= LK_RELOCATION_TYPES)
		return "its type";
	return relocation->r_offset < room ? NULL : "its place";
}

/* What is in a section. */
enum lk_cubin_contents {
	LK_CUBIN_ANYTHING,
	LK_CUBIN_PAIRS,			/* of a call graph, or of prototypes */
	LK_CUBIN_ATTRIBUTES,
	LK_CUBIN_RELOCATIONS,
	LK_CUBIN_UNITS,			/* of DWARF */
};

/* ---- attributes of functions ---- */

static bool is_symbol(const struct lk_symbol_table *table, uint64_t index)
{
	return index && index < table->count;
}

static bool is_function_here(const struct lk_symbol_table *table, uint64_t index)
{
	return is_symbol(table, index) && is_function(table->at + index) &&
	       table->at[index].st_shndx;
}

#define REGISTER_COUNT 0x2f		/* the number that a function needs */

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
	[REGISTER_COUNT] = { FUNCTION, 8 },
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

static bool are_symbols(const struct lk_symbol_table *table, const unsigned char *at,
			unsigned size)
{
	for (unsigned i = 0; i + 4 <= size; i += 4)
		if (!is_symbol(table, word_at(at + i)))
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

static bool is_value(const struct lk_symbol_table *table, enum first_word first,
		     const unsigned char *at, unsigned size, struct parameters *parameters)
{
	switch (first) {
	case FUNCTION:
		return is_function_here(table, word_at(at));
	case SYMBOL:
		return is_symbol(table, word_at(at));
	case SYMBOLS:
		return are_symbols(table, at, size);
	case PARAMETER:
		return is_parameter(at, parameters);
	default:
		return true;
	}
}

/*
 * An attribute is a format, a number, and 16 bits: the value itself or, for format
 * SIZED, the number of value bytes that follow.  A cubin has more attributes than
 * anything else.  *registers grows by the numbers of registers among them.  Returns NULL, or what
 * is wrong with attribute *count.
 */
static const char *check_values(const struct lk_symbol_table *table, const unsigned char *at,
				uint64_t left, uint64_t *count, uint64_t *registers)
{
	struct parameters parameters = { 0, 0 };

	for (*count = 0; left; ++*count) {
		const uint32_t head = left >= 4 ? word_at(at) : 0;
		const unsigned format = head & 0xff, number = head >> 8 & 0xff, size = head >> 16;

		if (format < LK_FORMAT_FIRST || format > LK_FORMAT_SIZED)
			return "its format";
		at += 4;
		left -= 4;
		if (format != LK_FORMAT_SIZED)
			continue;
		if (size > left)
			return "its size";
		if (size < attributes[number].least ||
		    !is_value(table, attributes[number].first, at, size, &parameters))
			return "its value";
		*registers += number == REGISTER_COUNT;
		at += size;
		left -= size;
	}
	return !parameters.count || parameters.largest < parameters.count ? NULL :
		"a parameter's number";
}

/* ---- call graphs and prototypes ---- */

/* Returns the number of symbols in the table to which sh_link leads. */
static uint64_t symbols_of_table(const struct lk_device_elf *elf, const lk_elf_section *section)
{
	return lk_device_elf_section(elf, section->sh_link)->sh_size / sizeof(Elf64_Sym);
}

static bool is_call_graph(uint32_t type)
{
	return type == SHT_NV_CALLGRAPH || type == SHT_NV_MERC_CALLGRAPH;
}

/*
 * A pair is the symbol of a function, and the symbol of one that it calls or the place of its
 * prototype among the names.  A call graph begins with pairs of 0 and of -1 to -4.
 */
static bool is_pair(const struct lk_device_elf *elf, const uint32_t pair[2], uint64_t symbols,
		    bool call)
{
	if (call && !pair[0])
		return pair[1] >= (uint32_t)-4 || pair[1] < symbols;
	return pair[0] < symbols && (pair[1] < symbols || pair[1] < elf->strings_size);
}

static const char *check_pairs(const struct lk_device_elf *elf, const lk_elf_section *section,
			       const unsigned char *at, const char *name)
{
	const uint64_t symbols = symbols_of_table(elf, section);
	const bool call = is_call_graph(section->sh_type);
	uint32_t pair[2];

	for (uint64_t i = 0; i + sizeof(pair) <= section->sh_size; i += sizeof(pair)) {
		memcpy(pair, at + i, sizeof(pair));
		if (!is_pair(elf, pair, symbols, call))
			return lk_device_elf_damage(elf, "pair", i / sizeof(pair), name,
						    "its symbols");
	}
	return NULL;
}

/* ---- relocations ---- */

/* Places of relocations of code of the second set are not those in the section. */
static const char *check_relocations(const struct lk_device_elf *elf,
				     const struct lk_symbol_table *table,
				     const lk_elf_section *section, const unsigned char *at,
				     const char *name)
{
	const lk_elf_section *to = lk_device_elf_section(elf, section->sh_info);
	const bool anywhere = section->sh_type == SHT_NV_MERC_RELA && to->sh_type == SHT_NV_MERC_TEXT;
	const size_t entry = section->sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);

	for (uint64_t i = 0; i < section->sh_size; i += entry) {
		/* A RELA entry begins with the fields of a REL entry. */
		const char *why = check_relocation((const lk_elf_relocation *)(at + i), table->count,
						   anywhere ? UINT64_MAX : to->sh_size);

		if (why)
			return lk_device_elf_damage(elf, "relocation", i / entry, name, why);
	}
	return NULL;
}

/* ---- DWARF ---- */

/* Each unit begins with its length, of 32 bits or, behind -1, of 64. */
static const char *check_units(const struct lk_device_elf *elf, const lk_elf_section *section,
			       const unsigned char *at, const char *name)
{
	uint64_t left = section->sh_size, length;
	uint32_t word;

	for (uint64_t i = 0; left; i++) {
		size_t head = sizeof(word);

		if (left < sizeof(word) + sizeof(length))
			return lk_device_elf_damage(elf, "unit", i, name, "its length");
		memcpy(&word, at, sizeof(word));
		length = word;
		if (word == UINT32_MAX) {
			memcpy(&length, at + sizeof(word), sizeof(length));
			head += sizeof(length);
		}
		if (length > left - head)
			return lk_device_elf_damage(elf, "unit", i, name, "its length");
		at += head + length;
		left -= head + length;
	}
	return NULL;
}

/* ---- what is in a section ---- */

/* `table` has the symbols of the section's set, *registers grows by the numbers of registers in its
 * attributes.  Returns NULL, or what is wrong. */
static const char *cubin_contents(const struct lk_device_elf *elf,
				  const struct lk_symbol_table *table,
				  const lk_elf_section *section, enum lk_cubin_contents contents,
				  uint64_t *registers)
{
	const char *name = lk_device_elf_name(elf, section);
	struct lk_bytes bytes;
	uint64_t count;
	const char *why = lk_bytes_get(&bytes, elf->part, section->sh_offset, section->sh_size,
				       name, elf->arena);

	if (!why) {
		switch (contents) {
		case LK_CUBIN_PAIRS:
			why = check_pairs(elf, section, bytes.at, name);
			break;
		case LK_CUBIN_ATTRIBUTES:
			why = check_values(table, bytes.at, section->sh_size, &count, registers);
			if (why)
				why = lk_device_elf_damage(elf, "attribute", count, name, why);
			break;
		case LK_CUBIN_RELOCATIONS:
			why = check_relocations(elf, table, section, bytes.at, name);
			break;
		case LK_CUBIN_UNITS:
			why = check_units(elf, section, bytes.at, name);
			break;
		case LK_CUBIN_ANYTHING:
			break;
		}
	}
	lk_bytes_free(&bytes);
	return why;
}

/* ---- headers of sections, by their names ---- */

/* What sh_link leads to. */
enum leads { TO_NOTHING, TO_SYMBOLS, TO_NAMES, TO_NOTE };
/* What sh_info holds.  CODE: the section of the function that the name ends in; OWN: the same,
 * or 0; UNREAD: a number of symbols, which nobody follows. */
enum holds { HOLDS_ZERO, HOLDS_UNREAD, HOLDS_FUNCTION, HOLDS_CODE, HOLDS_OWN, HOLDS_COMPAT };

#define SHT_NV_INITIALISED (SHT_LOPROC + 0x08)
#define SHT_NV_MERC_USER (SHT_LOPROC + 0x7c)
#define SHT_NV_MERC_OPTIMIZER (SHT_LOPROC + 0x84)

/*
 * The names are without what tells the set; one that ends in a dot or a line is the beginning of
 * names.  Without a type, the set has no such section.
 */
struct usual_header {
	const char *name;
	uint32_t types[LK_CUBIN_SETS][2];
	uint8_t link;		/* enum leads */
	uint8_t info;		/* enum holds */
	uint8_t contents;	/* enum lk_cubin_contents; attributes only of the second set */
};

#define TYPES(plain, merc) .types = { { plain }, { merc } }
#define UNITS(section) \
	{ .name = section, TYPES(SHT_PROGBITS, SHT_PROGBITS), .contents = LK_CUBIN_UNITS }

static const struct usual_header usual_headers[] = {
	{ .name = ".text.", TYPES(SHT_PROGBITS, SHT_NV_MERC_TEXT),
	  .link = TO_SYMBOLS, .info = HOLDS_FUNCTION },
	{ .name = ".nv.info.", TYPES(SHT_NV_INFO, SHT_NV_MERC_INFO),
	  .link = TO_SYMBOLS, .info = HOLDS_CODE, .contents = LK_CUBIN_ATTRIBUTES },
	{ .name = ".nv.info", TYPES(SHT_NV_INFO, SHT_NV_MERC_INFO),
	  .link = TO_SYMBOLS, .contents = LK_CUBIN_ATTRIBUTES },
	{ .name = ".nv.shared.", .types = { { SHT_NV_SHARED, SHT_NV_RESERVED },
					   { SHT_NV_RESERVED, SHT_NV_MERC_RESERVED } },
	  .info = HOLDS_OWN },
	{ .name = ".nv.global", TYPES(SHT_NV_GLOBAL, 0) },
	{ .name = ".nv.global.init", TYPES(SHT_NV_INITIALISED, SHT_NV_INITIALISED) },
	{ .name = ".nv.constant.user", TYPES(0, SHT_NV_MERC_USER) },
	{ .name = ".nv.constant.optimizer.", TYPES(0, SHT_NV_MERC_OPTIMIZER),
	  .info = HOLDS_CODE },
	{ .name = ".nv.callgraph", TYPES(SHT_NV_CALLGRAPH, SHT_NV_MERC_CALLGRAPH),
	  .link = TO_SYMBOLS, .contents = LK_CUBIN_PAIRS },
	{ .name = ".nv.prototype", TYPES(SHT_NV_PROTOTYPE, SHT_NV_MERC_PROTOTYPE),
	  .link = TO_SYMBOLS, .contents = LK_CUBIN_PAIRS },
	{ .name = ".nv.compat", TYPES(SHT_NV_COMPAT, 0) },
	UNITS(".debug_frame"), UNITS(".debug_info"), UNITS(".debug_line"), UNITS(".debug_pubnames"),
	UNITS(".debug_pubtypes"), UNITS(".nv_debug_line_sass"),
	{ .name = ".debug_", TYPES(SHT_PROGBITS, SHT_PROGBITS) },
	{ .name = ".nv_debug_", TYPES(SHT_PROGBITS, SHT_PROGBITS) },
	{ .name = ".symtab", TYPES(SHT_SYMTAB, SHT_NV_MERC_SYMTAB),
	  .link = TO_NAMES, .info = HOLDS_UNREAD },
	{ .name = ".strtab", TYPES(SHT_STRTAB, 0) },
	{ .name = ".shstrtab", TYPES(SHT_STRTAB, 0) },
	{ .name = ".note.nv.tkinfo", TYPES(SHT_NOTE, 0) },
	{ .name = ".note.nv.cuinfo", TYPES(SHT_NOTE, 0), .link = TO_NOTE, .info = HOLDS_COMPAT },
	{ .name = ".note.nv.cuver", TYPES(SHT_NOTE, 0), .link = TO_NOTE, .info = HOLDS_COMPAT },
};

/* Returns the rest of a name after the words, or NULL if the name does not begin with them.  Most
 * differ within a few letters, so that a call of strncmp() would cost more. */
static const char *behind(const char *words, const char *name)
{
	while (*words)
		if (*words++ != *name++)
			return NULL;
	return name;
}

/* By the number of the bank. */
#define CONSTANT_NAME ".nv.constant"

struct parsed_name {
	unsigned set;		/* enum lk_cubin_set */
	uint32_t relocations;	/* their type, or 0 for what is none */
	const char *rest;	/* behind what tells these */
	const char *of;		/* a function, or NULL */
};

static const struct usual_header *find_row(struct parsed_name *name)
{
	for (size_t i = 0; i < LC_COUNT(usual_headers); i++) {
		const char *left = behind(usual_headers[i].name, name->rest);
		const char last = left ? left[-1] : 0;

		if (left && (last == '.' || last == '_' || !*left)) {
			name->of = last == '.' ? left : NULL;
			return &usual_headers[i];
		}
	}
	return NULL;
}

/* Returns the type of constants, which holds the number of the bank, or 0 for another name. */
static uint32_t constants_of(struct parsed_name *name)
{
	const char *left = name->rest + sizeof(CONSTANT_NAME) - 1;
	unsigned bank = 0;

	if (*left < '0' || *left > '9')
		return 0;
	for (; bank < LK_CONSTANT_BANKS && *left >= '0' && *left <= '9'; left++)
		bank = 10 * bank + (*left - '0');
	if (*left && *left != '.')
		return 0;
	name->of = *left ? left + 1 : NULL;
	return SHT_NV_CONSTANT + bank;
}

/* Takes ".rel" or ".rela" off a name. */
static void take_relocations(struct parsed_name *name)
{
	const char *rest = behind(".rel", name->rest);
	const bool addend = rest && *rest == 'a';

	if (!rest || rest[addend] != '.')
		return;
	name->relocations = name->set == LK_CUBIN_MERC ? SHT_NV_MERC_RELA :
			    addend ? SHT_RELA : SHT_REL;
	name->rest = rest + addend;
}

static struct parsed_name parse_name(const struct lk_device_elf *elf, uint64_t index)
{
	const char *text = lk_device_elf_name(elf, lk_device_elf_section(elf, index)), *rest;
	struct parsed_name name = { LK_CUBIN_PLAIN, 0, text, NULL };

	if (elf->named[index] == LK_NAME_MERC) {
		rest = behind(".nv.capmerc", text);
		name.set = LK_CUBIN_MERC;
		name.rest = rest ? rest : behind(".nv.merc", text);
	}
	if (elf->named[index] == LK_NAME_MERC || elf->named[index] == LK_NAME_RELOCATIONS)
		take_relocations(&name);
	return name;
}

static bool is_called(const struct lk_device_elf *elf, uint64_t index, const char *start,
		      const char *rest)
{
	const lk_elf_section *section = lk_device_elf_section(elf, index);
	const char *left = behind(start, lk_device_elf_name(elf, section));

	return left && !strcmp(left, rest);
}

/* Whether a section is the code of a function. */
static bool is_code_of(const struct lk_device_elf *elf, uint64_t index, unsigned set,
		       const char *function)
{
	return is_called(elf, index, set == LK_CUBIN_MERC ? ".nv.capmerc.text." : ".text.", function);
}

static bool is_link(const struct lk_device_elf *elf, const struct lk_symbol_table *table,
		    const lk_elf_section *section, enum leads link)
{
	switch (link) {
	case TO_SYMBOLS:
		return section->sh_link == table->section;
	case TO_NAMES:
		return is_called(elf, section->sh_link, ".strtab", "");
	case TO_NOTE:
		return elf->named[section->sh_link] == LK_NAME_TKINFO;
	default:
		return !section->sh_link;
	}
}

/* Its highest byte is a number of registers. */
static bool is_function_in(uint32_t info, const struct lk_symbol_table *table, uint64_t index)
{
	const uint32_t number = info & 0xffffff;

	return number < table->count && is_function(table->at + number) &&
	       table->at[number].st_shndx == index;
}

static bool is_info(const struct lk_device_elf *elf, const struct lk_symbol_table *table,
		    uint64_t index, const struct parsed_name *name, enum holds info)
{
	const uint32_t held = lk_device_elf_section(elf, index)->sh_info;

	if (info == HOLDS_UNREAD)
		return true;
	if (info == HOLDS_FUNCTION)
		return is_function_in(held, table, index);
	if (!held)
		return info != HOLDS_CODE;
	if (held >= elf->section_count || info == HOLDS_ZERO)
		return false;
	if (info == HOLDS_COMPAT)
		return elf->named[held] == LK_NAME_COMPAT;
	return is_code_of(elf, held, name->set, name->of);
}

/* Returns true for types of which all sections have names that are known. */
static bool is_of_known_names(uint32_t type)
{
	switch (type) {
	case SHT_SYMTAB:
	case SHT_STRTAB:
	case SHT_REL:
	case SHT_RELA:
	case SHT_NV_CALLGRAPH:
	case SHT_NV_PROTOTYPE:
	case SHT_NV_GLOBAL:
	case SHT_NV_INITIALISED:
	case SHT_NV_MERC_RELA:
	case SHT_NV_MERC_INFO:
	case SHT_NV_MERC_SYMTAB:
	case SHT_NV_MERC_CALLGRAPH:
	case SHT_NV_MERC_PROTOTYPE:
		return true;
	default:
		return is_constant(type);
	}
}

/* Relocations are called after the section that they apply to, which is of the same set. */
static const char *check_relocation_header(const struct lk_device_elf *elf,
					   const struct lk_symbol_table *table,
					   const lk_elf_section *section,
					   const struct parsed_name *name)
{
	struct parsed_name to;

	if (section->sh_type != name->relocations)
		return "its type";
	if (section->sh_link != table->section || section->sh_info >= elf->section_count)
		return "its link";
	to = parse_name(elf, section->sh_info);
	return to.set == name->set && !to.relocations && !strcmp(to.rest, name->rest) ? NULL :
		"its link";
}

static const char *check_row(const struct lk_device_elf *elf,
			     const struct lk_symbol_table *table, uint64_t index,
			     const struct parsed_name *name, const struct usual_header *row)
{
	const lk_elf_section *section = lk_device_elf_section(elf, index);
	const uint32_t *types = row->types[name->set];

	if (!section->sh_type || (section->sh_type != types[0] && section->sh_type != types[1]))
		return "its type";
	return is_link(elf, table, section, row->link) &&
	       is_info(elf, table, index, name, row->info) ? NULL : "its link";
}

/* As check_row(); there are most of these. */
static const char *check_constants(const struct lk_device_elf *elf, uint64_t index,
				   struct parsed_name *name)
{
	const lk_elf_section *section = lk_device_elf_section(elf, index);
	const uint32_t type = constants_of(name);

	if (!type)
		return is_of_known_names(section->sh_type) ? "its name" : NULL;
	if (section->sh_type != type)
		return "its type";
	if (section->sh_link)
		return "its link";
	return is_info(elf, NULL, index, name, name->of ? HOLDS_CODE : HOLDS_ZERO) ? NULL :
		"its link";
}

/*
 * Checks the header of a section by its name: its type, and what it leads to.  Returns NULL, or
 * what is wrong with it; NULL for names of which nothing is known.  *contents becomes what else
 * has to be checked.
 */
static const char *cubin_section(const struct lk_device_elf *elf,
				 const struct lk_symbol_table tables[LK_CUBIN_SETS], uint64_t index,
				 enum lk_cubin_contents *contents)
{
	const lk_elf_section *section = lk_device_elf_section(elf, index);
	struct parsed_name name = parse_name(elf, index);
	const struct lk_symbol_table *table = &tables[name.set];
	const struct usual_header *row;

	if (name.relocations) {
		*contents = name.set == LK_CUBIN_MERC ? LK_CUBIN_RELOCATIONS : LK_CUBIN_ANYTHING;
		return check_relocation_header(elf, table, section, &name);
	}
	if (elf->named[index] == LK_NAME_CONSTANT)
		return check_constants(elf, index, &name);
	row = find_row(&name);
	if (!row)
		return is_of_known_names(section->sh_type) ? "its name" : NULL;
	if (name.set == LK_CUBIN_MERC || row->contents != LK_CUBIN_ATTRIBUTES)
		*contents = row->contents;
	return check_row(elf, table, index, &name, row);
}

/* ---- where sections lie ---- */

struct occupied {
	uint64_t start, end;
	uint64_t section;	/* 0: the ELF header, or the section headers */
};

static int compare(const void *one, const void *other)
{
	const struct occupied *a = one, *b = other;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->section < b->section ? -1 : a->section > b->section;
}

static bool is_of_second_set(const struct lk_device_elf *elf, const struct occupied *place)
{
	return elf->named[place->section] == LK_NAME_MERC;
}

static bool is_twin(const struct lk_device_elf *elf, const struct occupied *one,
		    const struct occupied *other)
{
	return one->start == other->start && one->end == other->end &&
	       is_of_second_set(elf, one) != is_of_second_set(elf, other);
}

static const char *check_place(const struct lk_device_elf *elf, const struct occupied *before,
			       const struct occupied *place)
{
	const lk_elf_section *section = lk_device_elf_section(elf, place->section);

	if (place->start < before->end)
		return is_twin(elf, before, place) ? NULL : "its bytes are those of another";
	return place->start - before->end < section->sh_addralign ||
	       section->sh_type == SHT_NV_MERC_SYMTAB || !is_of_second_set(elf, before) ||
	       !is_of_second_set(elf, place) ? NULL : "its place";
}

static size_t collect(const struct lk_device_elf *elf, struct occupied *places)
{
	const uint64_t headers = elf->header.e_shoff;
	size_t count = 0;

	places[count++] = (struct occupied){ 0, sizeof(Elf64_Ehdr), 0 };
	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);

		if (section->sh_size && lk_device_elf_has_bytes(section))
			places[count++] = (struct occupied){
				section->sh_offset, section->sh_offset + section->sh_size, i };
	}
	places[count++] = (struct occupied){ headers, headers + elf->section_count *
							sizeof(Elf64_Shdr), 0 };
	return count;
}

/* Before sm_100 they nearly always are. */
static bool are_sorted(const struct occupied *places, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare(&places[i - 1], &places[i]) > 0)
			return false;
	return true;
}

/* Checks that no two sections overlap.  Returns NULL, or which does. */
static const char *cubin_places(const struct lk_device_elf *elf)
{
	struct occupied *places = lc_alloc(elf->arena, (elf->section_count + 1) * sizeof(*places));
	size_t count;

	if (!places)
		return "has more sections than memory could hold";
	count = collect(elf, places);
	if (!are_sorted(places, count))
		qsort(places, count, sizeof(*places), compare);
	for (size_t i = 1; i < count; i++) {
		const uint64_t index = places[i].section;
		const lk_elf_section *section = lk_device_elf_section(elf, index);
		const char *why = check_place(elf, &places[i - 1], &places[i]);

		if (why)
			return lk_device_elf_damage(elf, "header, section", index,
						    lk_device_elf_name(elf, section), why);
	}
	return NULL;
}

/* ---- references that lead nowhere ---- */

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
		return is_constant(type);
	case LK_NAME_TEXT:
	case LK_NAME_DEBUG:
	case LK_NAME_DEBUG_INFO:
		return type == SHT_PROGBITS || type == SHT_NV_COMPAT;
	default:
		return type != SHT_NV_INFO;
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
	const uint64_t alignment = section->sh_addralign, entry = lk_device_elf_entry(section);

	if (!is_of_its_type(name, section->sh_type))
		return "its type";
	if (alignment & (alignment - 1) || alignment > LARGEST_ALIGNMENT)
		return "its alignment";
	if (section->sh_link >= elf->section_count ||
	    (section->sh_info >= elf->section_count && leads_to_a_section(section)))
		return "its link";
	if (is_relocation(section) && section->sh_link != elf->symbol_table)
		return "its symbols";
	return !entry || section->sh_entsize == entry ? NULL : "the size of its entries";
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
	if (!section || !is_function(symbol))
		return NULL;
	room = lk_device_elf_section(elf, section)->sh_size;
	return symbol->st_value <= room && symbol->st_size <= room - symbol->st_value ? NULL :
		"its place";
}

static struct lk_symbol_table plain_symbols(const struct lk_device_elf *elf)
{
	return (struct lk_symbol_table){ lk_device_elf_symbol(elf, 0), elf->symbol_count,
					 elf->symbol_table };
}

static const char *check_sections(const struct lk_device_elf *elf)
{
	const struct lk_symbol_table table = plain_symbols(elf);
	uint64_t registers = 0;

	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);
		const char *why = check_shdr(elf, section, elf->named[i]);

		if (why)
			return lk_device_elf_damage(elf, "header, section", i,
						    lk_device_elf_name(elf, section), why);
		if (is_relocation(section) || section->sh_type == SHT_NV_INFO)
			why = cubin_contents(elf, &table, section, is_relocation(section) ?
					     LK_CUBIN_RELOCATIONS : LK_CUBIN_ATTRIBUTES, &registers);
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

/* ---- references to the wrong place ---- */

#define NEWEST_COUNTED LC_CUDA(13, 5)

#define SHF_NV_MERC 0x10000000

/* ---- headers of sections ---- */

/* Tables of the second set, and those of pairs: lk_cubin_sound() looks at the others. */
static bool is_whole(const lk_elf_section *section)
{
	uint64_t size = 8;

	switch (section->sh_type) {
	case SHT_NV_MERC_SYMTAB:
		size = sizeof(Elf64_Sym);
		break;
	case SHT_NV_MERC_RELA:
		size = sizeof(Elf64_Rela);
		break;
	case SHT_NV_CALLGRAPH:
	case SHT_NV_PROTOTYPE:
	case SHT_NV_MERC_CALLGRAPH:
	case SHT_NV_MERC_PROTOTYPE:
		break;
	default:
		return true;
	}
	return section->sh_entsize == size && section->sh_size % size == 0;
}

/* SHF_EXECINSTR is set for code alone, SHF_NV_MERC for sections of the second set alone. */
static bool are_flags(const lk_elf_section *section, enum lk_section_name name)
{
	return !(section->sh_flags & SHF_EXECINSTR) == (name != LK_NAME_TEXT) &&
	       !(section->sh_flags & SHF_NV_MERC) == (name != LK_NAME_MERC);
}

static const char *check_layout(const lk_elf_section *section, enum lk_section_name name)
{
	if (!section->sh_addralign)
		return "its alignment";
	if (section->sh_offset & (section->sh_addralign - 1) && lk_device_elf_has_bytes(section))
		return "its place";
	if (!are_flags(section, name))
		return "its flags";
	return is_whole(section) ? NULL : "the size of its entries";
}

/* ---- the second set ---- */

/* Every function of the second set has a number of registers. */
static const char *check_registers(const struct lk_device_elf *elf, uint64_t registers)
{
	uint64_t functions = 0;

	for (uint64_t i = elf->first[LK_NAME_MERC]; i && i < elf->section_count; i++)
		functions += lk_device_elf_section(elf, i)->sh_type == SHT_NV_MERC_TEXT;
	return functions == registers ? NULL :
		"has damaged attributes: not one number of registers for each function";
}

static const char *check_merc_symbols(const struct lk_device_elf *elf,
				      const struct lk_symbol_table *table)
{
	for (uint64_t i = 1; i < table->count; i++) {
		const uint64_t section = table->at[i].st_shndx;

		if (section >= elf->section_count && section < SHN_LORESERVE)
			return lk_device_elf_damage(elf, "symbol", i, ".nv.merc.symtab",
						    "its section");
	}
	return NULL;
}

/* Finds the symbols of both sets; those of the second need lk_bytes_free(). */
static const char *find_symbols(const struct lk_device_elf *elf, struct lk_bytes *bytes,
				struct lk_symbol_table tables[LK_CUBIN_SETS])
{
	const char *why = NULL;

	tables[LK_CUBIN_PLAIN] = plain_symbols(elf);
	for (uint64_t i = elf->first[LK_NAME_MERC]; !why && i && i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);

		if (section->sh_type != SHT_NV_MERC_SYMTAB)
			continue;
		why = lk_bytes_get(bytes, elf->part, section->sh_offset, section->sh_size,
				   "symbols", elf->arena);
		tables[LK_CUBIN_MERC] = (struct lk_symbol_table){
			(const lk_elf_symbol *)bytes->at, section->sh_size / sizeof(Elf64_Sym), i };
		break;
	}
	return why;
}

/*
 * ABI 7: the second byte says that addresses have 64 bits, how textures are used, and that the
 * architecture has a suffix; the next is the virtual architecture, and the highest 0.
 * ABI 8: the lowest byte is 4 before sm_100, and from then on has the bit 2; the architecture is
 * next.
 */
static bool are_flags_of_abi(uint32_t flags, int abi)
{
	enum { USUAL = 5, SUFFIX = 8, BEFORE_SM_100 = 4, FROM_SM_100_ON = 2 };

	if (abi == 7)
		return (flags >> 8 & 0xff & ~SUFFIX) == USUAL && (flags >> 16 & 0xff) &&
		       !(flags >> 24);
	if (abi != 8)
		return true;
	return (flags >> 8 & 0xffff) < 100 ? (flags & 0xff) == BEFORE_SM_100 :
					     (flags & FROM_SM_100_ON) != 0;
}

static const char *check_usual_sections(const struct lk_device_elf *elf,
					const struct lk_symbol_table tables[LK_CUBIN_SETS])
{
	uint64_t registers = 0;

	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);
		enum lk_cubin_contents contents = LK_CUBIN_ANYTHING;
		const char *why = check_layout(section, elf->named[i]);

		if (!why)
			why = cubin_section(elf, tables, i, &contents);
		if (why)
			return lk_device_elf_damage(elf, "header, section", i,
						    lk_device_elf_name(elf, section), why);
		if (contents != LK_CUBIN_ANYTHING)
			why = cubin_contents(elf, &tables[LK_CUBIN_MERC], section, contents,
					     &registers);
		if (why)
			return why;
	}
	return tables[LK_CUBIN_MERC].section ? check_registers(elf, registers) : NULL;
}

const char *lk_cubin_usual(const struct lk_device_elf *elf, int abi, int toolkit)
{
	const lk_elf_section *first = lk_device_elf_section(elf, 0);
	struct lk_symbol_table tables[LK_CUBIN_SETS] = { { NULL, 0, 0 } };
	struct lk_bytes merc = { .at = NULL };
	const char *why;

	if (toolkit > NEWEST_COUNTED)
		return NULL;
	if (!are_flags_of_abi(elf->header.e_flags, abi))
		return "has a damaged ELF header: its flags";
	if (first->sh_type != SHT_NULL || first->sh_flags)
		return "has a damaged header of section 0";
	if (elf->strings_size && elf->strings.at[0])
		return "has damaged names of symbols";
	why = find_symbols(elf, &merc, tables);
	if (!why)
		why = check_merc_symbols(elf, &tables[LK_CUBIN_MERC]);
	if (!why)
		why = check_usual_sections(elf, tables);
	if (!why)
		why = cubin_places(elf);
	lk_bytes_free(&merc);
	return why;
}
