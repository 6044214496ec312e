/* SPDX-License-Identifier: MIT */
/*
 * cubin_sections.c - what the name of a section in a relocatable cubin says of its header
 *
 * A section is of the first set or, from sm_100 on, of the second, in which names begin with
 * .nv.merc or .nv.capmerc.  Each set has symbols and code of its own.
 */
#include "cubin_sound.h"

#include <string.h>

#include "../../stubs/base/count.h"

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

#define CODE_NAME ".text."
#define INFO_NAME ".nv.info"

static const struct usual_header usual_headers[] = {
	/* find_row() knows the place of these two. */
	{ .name = CODE_NAME, TYPES(SHT_PROGBITS, SHT_NV_MERC_TEXT),
	  .link = TO_SYMBOLS, .info = HOLDS_FUNCTION },
	{ .name = INFO_NAME ".", TYPES(SHT_NV_INFO, SHT_NV_MERC_INFO),
	  .link = TO_SYMBOLS, .info = HOLDS_CODE, .contents = LK_CUBIN_ATTRIBUTES },
	{ .name = INFO_NAME, TYPES(SHT_NV_INFO, SHT_NV_MERC_INFO),
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
	{ .name = ".debug_frame", TYPES(SHT_PROGBITS, SHT_PROGBITS), .contents = LK_CUBIN_UNITS },
	{ .name = ".debug_info", TYPES(SHT_PROGBITS, SHT_PROGBITS), .contents = LK_CUBIN_UNITS },
	{ .name = ".debug_line", TYPES(SHT_PROGBITS, SHT_PROGBITS), .contents = LK_CUBIN_UNITS },
	{ .name = ".debug_pubnames", TYPES(SHT_PROGBITS, SHT_PROGBITS),
	  .contents = LK_CUBIN_UNITS },
	{ .name = ".debug_pubtypes", TYPES(SHT_PROGBITS, SHT_PROGBITS),
	  .contents = LK_CUBIN_UNITS },
	{ .name = ".nv_debug_line_sass", TYPES(SHT_PROGBITS, SHT_PROGBITS),
	  .contents = LK_CUBIN_UNITS },
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

/* Most sections are of code or of attributes, whose names have been compared already. */
static const struct usual_header *find_row(struct parsed_name *name, enum lk_section_name known)
{
	if (known == LK_NAME_TEXT) {
		name->of = name->rest + sizeof(CODE_NAME) - 1;
		return &usual_headers[0];
	}
	if (known == LK_NAME_INFO && name->rest[sizeof(INFO_NAME) - 1] == '.') {
		name->of = name->rest + sizeof(INFO_NAME);
		return &usual_headers[1];
	}
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
	const lk_elf_section *section = lk_device_elf_section(elf, index);

	if (set == LK_CUBIN_MERC)
		return is_called(elf, index, ".nv.capmerc" CODE_NAME, function);
	return elf->named[index] == LK_NAME_TEXT &&
	       !strcmp(lk_device_elf_name(elf, section) + sizeof(CODE_NAME) - 1, function);
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

	return number < table->count && lk_symbol_is_function(table->at + number) &&
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
		return lk_is_constant(type);
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

const char *lk_cubin_section(const struct lk_device_elf *elf,
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
	row = find_row(&name, elf->named[index]);
	if (!row)
		return is_of_known_names(section->sh_type) ? "its name" : NULL;
	if (name.set == LK_CUBIN_MERC || row->contents != LK_CUBIN_ATTRIBUTES)
		*contents = row->contents;
	return check_row(elf, table, index, &name, row);
}
