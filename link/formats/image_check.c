/* SPDX-License-Identifier: MIT */
/*
 * image_check.c - checks that an image is what the caller asked for
 *
 * nvJitLink reports success where it failed: it drops input that it cannot link, and hands out
 * a copy, with half of a header, of input that it does not understand.
 */
#include <string.h>

#include "../tables/arch.h"
#include "elf_device.h"
#include "symbols.h"

struct wanted {
	enum lazycuda_output output;
	struct lk_arch arch;
	const char *const *symbols;
	size_t symbol_count;
};

/* ---- for every kind ---- */

static const char *arch_text(struct lc_arena *arena, int sm, char suffix)
{
	const struct lk_arch arch = { .sm = sm, .suffix = suffix };
	char text[LK_ARCH_TEXT];

	return lc_format(arena, "%s", lk_arch_text(&arch, text));
}

static const char *check_wanted(const struct lazycuda_entry *entry, const struct wanted *wanted,
				struct lc_arena *arena)
{
	struct lk_symbols lacking = { .arena = arena };

	for (size_t i = 0; i < wanted->symbol_count; i++)
		lk_names_add(&lacking, wanted->symbols[i]);
	for (size_t i = 0; wanted->symbol_count && i < entry->symbol_count; i++) {
		struct lazycuda_symbol *symbol = !entry->symbols[i].defined ? NULL :
			lk_names_find(&lacking, entry->symbols[i].name);

		if (symbol)
			symbol->defined = 1;
	}
	for (size_t i = 0; i < lacking.count; i++)
		if (!lacking.list[i].defined)
			return lc_format(arena, "does not define %s",
					 lc_printable(arena, lacking.list[i].name));
	return NULL;
}

/* ---- PTX and LTO-IR, which are compiled for the device later ---- */

static const char *check_later_arch(const struct lazycuda_entry *entry,
				    const struct wanted *wanted, struct lc_arena *arena)
{
	bool fits = entry->arch <= wanted->arch.sm &&
		    (!entry->suffix || entry->suffix == wanted->arch.suffix);

	return fits ? NULL : lc_format(arena, "is for %s",
				       arch_text(arena, entry->arch, entry->suffix));
}

static const char *check_ptx(const struct lk_part *part, const struct wanted *wanted,
			     struct lc_arena *arena)
{
	struct lazycuda_entry entry = { .kind = LAZYCUDA_KIND_UNKNOWN };
	const char *why = lk_ptx_read(part, arena, &entry, true);

	for (size_t i = 0; !why; i++) {
		if (i == entry.symbol_count)
			return "has no code in it: PTX has what kernels use; take a relocatable cubin or LTO-IR"
			       " for code of a later link";
		if (entry.symbols[i].defined)
			break;
	}
	if (!why)
		why = check_later_arch(&entry, wanted, arena);
	return why ? why : check_wanted(&entry, wanted, arena);
}

/* The symbols of LTO-IR are not visible from outside. */
static const char *check_ltoir(const struct lk_part *part, const struct wanted *wanted,
			       struct lc_arena *arena)
{
	struct lazycuda_entry entry = { .kind = LAZYCUDA_KIND_UNKNOWN };
	const char *why = lk_ltoir_read(part, &entry);

	if (!why && entry.kind != LAZYCUDA_KIND_LTOIR)
		why = "is not LTO-IR";
	return why ? why : check_later_arch(&entry, wanted, arena);
}

/* ---- cubins ---- */

/* In ABI 7, e_flags names the architecture that the PTX was for.  It always has one. */
static const char *check_flags(const struct lk_device_elf *elf, const struct lazycuda_entry *entry,
			       const struct wanted *wanted)
{
	bool relocatable = wanted->output == LAZYCUDA_OUTPUT_RELOCATABLE;

	if (entry->abi == 7 && !(elf->header.e_flags >> 16 & 0xff))
		return "is malformed: it names no virtual architecture";
	if (relocatable && !(entry->flags & LAZYCUDA_ENTRY_RELOCATABLE))
		return "is not relocatable";
	if (!relocatable && !(entry->flags & LAZYCUDA_ENTRY_LINKED))
		return "is not linked";
	return NULL;
}

/* A cubin for a family architecture (sm_100f) does not record the suffix. */
static const char *check_cubin_arch(const struct lazycuda_entry *entry,
				    const struct wanted *wanted, struct lc_arena *arena)
{
	char visible = wanted->arch.suffix == 'a' ? 'a' : 0;

	if (entry->arch == wanted->arch.sm && entry->suffix == visible)
		return NULL;
	return lc_format(arena, "is for %s", arch_text(arena, entry->arch, entry->suffix));
}

/*
 * Functions may stay undefined.  vprintf, malloc, cudaGraphLaunch and many more come
 * from the driver, and the set differs between versions.  The linkers refuse
 * undefined functions that the driver does not have.
 */
static bool is_lacking(const struct lk_device_symbol *symbol)
{
	return !symbol->defined && !symbol->function && !symbol->shared && !symbol->texture;
}

static bool has_code(const struct lk_device_elf *elf)
{
	for (uint64_t i = elf->first[LK_NAME_TEXT]; i && i < elf->section_count; i++)
		if (elf->named[i] == LK_NAME_TEXT && lk_device_elf_section(elf, i)->sh_size)
			return true;
	return false;
}

static const char *check_contents(const struct lk_device_elf *elf, const struct wanted *wanted)
{
	struct lk_device_symbol symbol;
	const char *lacking = NULL;
	bool any = false;

	for (uint64_t i = 1; i < elf->symbol_count; i++) {
		if (!lk_device_elf_sees(elf, lk_device_elf_symbol(elf, i), &symbol) ||
		    symbol.weak || symbol.name[0] == '.')
			continue;
		any |= symbol.defined && symbol.size;
		if (!lacking && is_lacking(&symbol))
			lacking = symbol.name;
	}
	if (!any && !has_code(elf))
		return "has no code in it";
	if (!lacking || wanted->output != LAZYCUDA_OUTPUT_CUBIN)
		return NULL;
	return lc_format(elf->arena, "needs %s, which is not in it",
			 lc_printable(elf->arena, lacking));
}

static const char *check_cubin(const struct lk_part *part, const struct wanted *wanted,
			       struct lc_arena *arena)
{
	struct lazycuda_entry entry = { .kind = LAZYCUDA_KIND_UNKNOWN };
	struct lk_device_elf elf;
	const char *why = lk_device_elf_open(&elf, part, arena);

	if (why)
		return why;
	why = lk_cubin_describe(&elf, &entry, wanted->symbol_count);
	if (!why)
		why = entry.error;
	if (!why)
		why = check_flags(&elf, &entry, wanted);
	if (!why)
		why = lk_device_elf_load_symbols(&elf);
	if (!why)
		why = check_contents(&elf, wanted);
	lk_device_elf_close(&elf);
	if (!why)
		why = check_cubin_arch(&entry, wanted, arena);
	return why ? why : check_wanted(&entry, wanted, arena);
}

const char *lk_image_check(const void *image, size_t length, enum lazycuda_output output,
			   int arch, char suffix, const char *const *symbols,
			   size_t symbol_count, struct lc_arena *arena)
{
	const struct wanted wanted = { output, { .sm = arch, .suffix = suffix }, symbols,
				       symbol_count };
	struct lk_budget budget = lk_budget_for(length);
	const struct lk_source source = { .bytes = image, .length = length, .budget = &budget };
	const struct lk_part part = { &source, 0, length };

	if (!image || !length)
		return "is empty";
	switch (output) {
	case LAZYCUDA_OUTPUT_PTX:	return check_ptx(&part, &wanted, arena);
	case LAZYCUDA_OUTPUT_LTOIR:	return check_ltoir(&part, &wanted, arena);
	default:			return check_cubin(&part, &wanted, arena);
	}
}

/* ---- names ---- */

static void find_in_cubin(const struct lk_part *part, struct lk_symbols *names)
{
	struct lk_device_elf elf;

	if (lk_device_elf_open(&elf, part, names->arena))
		return;
	if (!lk_device_elf_load_symbols(&elf))
		for (uint64_t i = 1; i < elf.symbol_count; i++) {
			const lk_elf_symbol *raw = lk_device_elf_symbol(&elf, i);
			const char *name = (const char *)elf.strings.at + raw->st_name;
			struct lazycuda_symbol *symbol = raw->st_shndx == SHN_UNDEF ? NULL :
				lk_names_find(names, name);

			if (symbol)
				symbol->defined = 1;
		}
	lk_device_elf_close(&elf);
}

static bool is_in_text(const char *text, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_$";
	const size_t length = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += length)
		if ((at == text || !strchr(letters, at[-1])) &&
		    (!at[length] || !strchr(letters, at[length])))
			return true;
	return false;
}

void lk_image_find(const void *image, size_t length, enum lazycuda_output output,
		   const char *const *names, size_t count, bool *found, struct lc_arena *arena)
{
	struct lk_symbols wanted = { .arena = arena };
	struct lk_budget budget = lk_budget_for(length);
	const struct lk_source source = { .bytes = image, .length = length, .budget = &budget };
	const bool cubin = output == LAZYCUDA_OUTPUT_CUBIN ||
			   output == LAZYCUDA_OUTPUT_RELOCATABLE;

	for (size_t i = 0; cubin && i < count; i++)
		lk_names_add(&wanted, names[i]);
	if (cubin)
		find_in_cubin(&(const struct lk_part){ &source, 0, length }, &wanted);
	for (size_t i = 0; i < count; i++) {
		const struct lazycuda_symbol *symbol = cubin ? lk_names_find(&wanted, names[i]) : NULL;

		found[i] = cubin ? symbol && symbol->defined :
			   output == LAZYCUDA_OUTPUT_LTOIR || is_in_text(image, names[i]);
	}
}
