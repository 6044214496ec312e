/* SPDX-License-Identifier: MIT */
/* choose.c - whether a linker, of this version, takes an entry for this target; and which of a
 * container it takes */
#include "choose.h"

#include "../../stubs/base/count.h"
#include "../formats/formats.h"
#include "../formats/inspection.h"
#include "../tables/text.h"
#include "../tables/versions.h"

/* NVVM IR 2.0: no nvJitLink reads what is older. */
#define LTOIR_OLDEST LC_CUDA(12, 0)

struct lk_linker lk_linker(enum lazycuda_backend backend, int version,
			   const struct lk_arch *target, unsigned flags, bool strict)
{
	struct lk_linker linker = { .backend = backend, .version = version, .target = *target,
				    .flags = flags, .strict = strict };

	if (version <= 0)
		linker.version = LAZYCUDA_VERSION_UNKNOWN;
	else
		linker.isa = lk_isa_of_cuda(version);
	return linker;
}

/* ---- in words ---- */

const char *lk_version(struct lc_arena *arena, int version)
{
	char text[LK_VERSION_TEXT];

	return LK_CONCAT(arena, lk_version_text(version, text));
}

const char *lk_arch(struct lc_arena *arena, int sm, char suffix)
{
	const struct lk_arch arch = { sm, suffix, false };
	char text[LK_ARCH_TEXT];

	return LK_CONCAT(arena, lk_arch_text(&arch, text));
}

const char *lk_linker_text(struct lc_arena *arena, const struct lk_linker *linker)
{
	static const char *const names[] = {
		[LAZYCUDA_BACKEND_NVJITLINK] = "nvJitLink", [LAZYCUDA_BACKEND_DRIVER] = "the driver",
		[LAZYCUDA_BACKEND_NVRTC] = "nvrtc", [LAZYCUDA_BACKEND_TILEIRAS] = "tileiras",
	};
	const bool driver = linker->backend == LAZYCUDA_BACKEND_DRIVER;

	if (linker->version <= 0)
		return LK_CONCAT(arena, names[linker->backend], " of unknown version");
	return LK_CONCAT(arena, names[linker->backend], driver ? " (CUDA " : " ",
			 lk_version(arena, linker->version), driver ? ")" : "");
}

/* ---- the version ---- */

const char *lk_or_later(struct lc_arena *arena, enum lazycuda_backend backend, int version)
{
	return LK_CONCAT(arena, backend == LAZYCUDA_BACKEND_DRIVER ? "a driver for CUDA " : "nvJitLink ",
			 lk_version(arena, version), " or later");
}

bool lk_entry_toolkits(const struct lazycuda_entry *entry, int *oldest, int *newest)
{
	bool ltoir = entry->kind == LAZYCUDA_KIND_LTOIR;
	int toolkit = entry->toolkit;

	if (entry->kind == LAZYCUDA_KIND_PTX)
		toolkit = lk_cuda_of_isa(entry->isa);
	else if (!toolkit && ltoir)
		toolkit = lk_cuda_of_ltoir(entry->container, entry->ir);
	*oldest = *newest = toolkit;
	if (!toolkit && ltoir && entry->container)
		lk_cuda_range_of_container(entry->container, oldest, newest);
	return *oldest;
}

/* Returns true if a version is no later than the linker's, or if that is unknown. */
static bool reaches(const struct lk_linker *linker, int version)
{
	return linker->version < 0 || version <= linker->version;
}

static enum lazycuda_code ptx_version(const struct lk_linker *linker,
				      const struct lazycuda_entry *entry, bool *doubt)
{
	if (!entry->isa)
		*doubt = true;
	return linker->isa && entry->isa > linker->isa ? LAZYCUDA_CODE_PTX_TOO_NEW :
							 LAZYCUDA_CODE_OK;
}

static enum lazycuda_code cubin_version(const struct lk_linker *linker,
					const struct lazycuda_entry *entry, bool *doubt)
{
	if (!entry->toolkit)
		*doubt = true;
	if (entry->abi && entry->abi < LK_ABI_OLDEST)
		return LAZYCUDA_CODE_UNSUPPORTED_KIND;
	/* 12.5 to 12.9 take cubins of 13 and spoil them, or crash. */
	if (entry->abi > LK_ABI_NEWEST || !reaches(linker, lk_cuda_of_cubin(entry)))
		return LAZYCUDA_CODE_CUBIN_TOO_NEW;
	return LAZYCUDA_CODE_OK;
}

static enum lazycuda_code ltoir_version(const struct lk_linker *linker,
					const struct lazycuda_entry *entry, bool *doubt)
{
	bool across = linker->flags & LAZYCUDA_LINK_LTO_ACROSS_MAJORS;
	int oldest, newest;

	if (linker->backend == LAZYCUDA_BACKEND_DRIVER)
		return LAZYCUDA_CODE_LTOIR_ON_DRIVER;
	if (entry->level == LK_LEVEL_OPTIX)
		return LAZYCUDA_CODE_UNSUPPORTED_KIND;
	if (!lk_entry_toolkits(entry, &oldest, &newest)) {
		*doubt = true;
		return LAZYCUDA_CODE_OK;
	}
	if (newest < LTOIR_OLDEST)
		return LAZYCUDA_CODE_LTOIR_CROSS_MAJOR;
	if (linker->version < 0)
		return LAZYCUDA_CODE_OK;
	if (lk_linker_reads(entry->kind, oldest, linker->version, across) == LK_TOO_NEW)
		return LAZYCUDA_CODE_LTOIR_TOO_NEW;
	switch (lk_linker_reads(entry->kind, newest, linker->version, across)) {
	case LK_CROSS_MAJOR:
		return LAZYCUDA_CODE_LTOIR_CROSS_MAJOR;
	case LK_TOO_NEW:
		*doubt = true;
		break;
	case LK_READS:
		break;
	}
	return LAZYCUDA_CODE_OK;
}

static enum lazycuda_code version(const struct lk_linker *linker,
				  const struct lazycuda_entry *entry, bool *doubt)
{
	switch (entry->kind) {
	case LAZYCUDA_KIND_PTX:
		return ptx_version(linker, entry, doubt);
	case LAZYCUDA_KIND_CUBIN:
		return cubin_version(linker, entry, doubt);
	case LAZYCUDA_KIND_LTOIR:
		return ltoir_version(linker, entry, doubt);
	default:
		return LAZYCUDA_CODE_UNSUPPORTED_KIND;
	}
}

/* ---- the rest ---- */

/* Only relocatable cubins are linked: nvJitLink from 12.6 on silently drops any
 * other, and earlier ones refuse it. */
static enum lazycuda_code linkable(const struct lazycuda_entry *entry, bool *doubt)
{
	if (entry->kind != LAZYCUDA_KIND_CUBIN || entry->flags & LAZYCUDA_ENTRY_RELOCATABLE)
		return LAZYCUDA_CODE_OK;
	if (entry->flags & LAZYCUDA_ENTRY_UNSEEN && !(entry->flags & LAZYCUDA_ENTRY_LINKED)) {
		*doubt = true;
		return LAZYCUDA_CODE_OK;
	}
	return LAZYCUDA_CODE_LINKED_CUBIN;
}

static enum lazycuda_code arch(const struct lk_linker *linker, const struct lazycuda_entry *entry,
			       bool *doubt)
{
	struct lk_arch code = { entry->arch, entry->suffix, false };

	if (entry->flags & LAZYCUDA_ENTRY_32_BIT && linker->target.sm >= LK_NO_32_BIT)
		return LAZYCUDA_CODE_ARCH_MISMATCH;
	if (!entry->arch) {
		*doubt = true;
		return LAZYCUDA_CODE_OK;
	}
	return lk_arch_fits(entry->kind, &code, &linker->target, linker->version) ?
	       LAZYCUDA_CODE_OK : LAZYCUDA_CODE_ARCH_MISMATCH;
}

/* The form in which an entry is handed over.  nvJitLink may unpack an entry that
 * cannot be unpacked here. */
static enum lazycuda_code form(const struct lk_linker *linker, const struct lazycuda_entry *entry,
			       enum lazycuda_form *form)
{
	bool obfuscated = entry->flags & LAZYCUDA_ENTRY_OBFUSCATED;

	*form = entry->flags & LAZYCUDA_ENTRY_NOT_ASCII ? LAZYCUDA_FORM_UNPACKED :
							 LAZYCUDA_FORM_AS_IS;
	if (!(entry->flags & (LK_PACKED | LAZYCUDA_ENTRY_OBFUSCATED)))
		return LAZYCUDA_CODE_OK;
	*form = LAZYCUDA_FORM_UNPACKED;
	if (!obfuscated && !(entry->flags & LAZYCUDA_ENTRY_UNSEEN))
		return LAZYCUDA_CODE_OK;
	*form = LAZYCUDA_FORM_FATBIN;
	if (linker->backend == LAZYCUDA_BACKEND_DRIVER)
		return LAZYCUDA_CODE_CANNOT_UNPACK;
	if (reaches(linker, LK_NVJITLINK_ZSTD))
		return LAZYCUDA_CODE_OK;
	if (obfuscated)
		return LAZYCUDA_CODE_NVJITLINK_TOO_OLD;
	return entry->flags & LAZYCUDA_ENTRY_ZSTD ? LAZYCUDA_CODE_CANNOT_UNPACK : LAZYCUDA_CODE_OK;
}

struct lk_acceptance lk_accept(const struct lk_linker *linker,
			       const struct lazycuda_entry *entry)
{
	struct lk_acceptance is = { .code = LAZYCUDA_CODE_BAD_INPUT };

	if (entry->flags & LAZYCUDA_ENTRY_OVER_LIMIT)
		is.code = LAZYCUDA_CODE_UNPACK_LIMIT;
	if (entry->error)
		return is;
	is.code = version(linker, entry, &is.doubt);
	if (!is.code)
		is.code = linkable(entry, &is.doubt);
	if (!is.code)
		is.code = arch(linker, entry, &is.doubt);
	if (!is.code)
		is.code = form(linker, entry, &is.form);
	if (!is.code && is.doubt && linker->strict)
		is.code = LAZYCUDA_CODE_INSUFFICIENT_METADATA;
	return is;
}

/* ---- which entry of a container ---- */

/* Most preferred first. */
static const struct preference {
	enum lazycuda_kind kind;
	bool doubt;
} preferences[] = {
	{ LAZYCUDA_KIND_LTOIR, false },
	{ LAZYCUDA_KIND_LTOIR, true },
	{ LAZYCUDA_KIND_CUBIN, false },
	{ LAZYCUDA_KIND_PTX, false },
	{ LAZYCUDA_KIND_CUBIN, true },
	{ LAZYCUDA_KIND_PTX, true },
};

struct lk_group lk_group_at(const struct lazycuda_inspection *inspection, size_t first)
{
	int fatbin = inspection->entries[first]->fatbin;
	size_t end = first + 1;

	while (fatbin >= 0 && end < inspection->entry_count &&
	       inspection->entries[end]->fatbin == fatbin)
		end++;
	return (struct lk_group){ inspection->entries + first, first, end - first };
}

static size_t rank_of(enum lazycuda_kind kind, bool doubt)
{
	for (size_t i = 0; i < LC_COUNT(preferences); i++)
		if (preferences[i].kind == kind && preferences[i].doubt == doubt)
			return i;
	return LC_COUNT(preferences);
}

/* To a target 90a, an entry for 90a is closer than one for 90f, which is closer than
 * one for 90. */
static int closeness(const struct lazycuda_entry *entry)
{
	return 4 * entry->arch + (entry->suffix == 'a' ? 2 : entry->suffix == 'f' ? 1 : 0);
}

/* Bitcode of an offload binary, which libnvvm may compile.  In an archive it may be the host's. */
static bool is_ir(const struct lazycuda_entry *entry)
{
	return entry->kind == LAZYCUDA_KIND_BITCODE && !entry->error && entry->fatbin >= 0;
}

/* What it is compiled to goes to the targets that PTX of its architecture goes to. */
static bool ir_fits(const struct lk_linker *linker, const struct lazycuda_entry *entry)
{
	const struct lk_arch arch = { entry->arch, entry->suffix, true };

	return !entry->arch ||
	       lk_arch_fits(LAZYCUDA_KIND_PTX, &arch, &linker->target, linker->version);
}

static enum lazycuda_code objection(const struct lk_linker *linker,
				    const struct lazycuda_entry *entry)
{
	if (is_ir(entry))
		return ir_fits(linker, entry) ? LAZYCUDA_CODE_OK : LAZYCUDA_CODE_ARCH_MISMATCH;
	return lk_accept(linker, entry).code;
}

/* Notes why no entry of a group can be taken: the code that all entries share, or
 * NO_USABLE_ENTRY if they differ. */
static void note_objections(const struct lk_linker *linker,
			    const struct lk_group *group, struct lk_choice *choice)
{
	for (size_t i = 0; i < group->count; i++) {
		enum lazycuda_code code = objection(linker, group->entries[i]);

		if (!code)
			continue;
		if (choice->code && choice->code != code) {
			choice->code = LAZYCUDA_CODE_NO_USABLE_ENTRY;
			choice->offender = NULL;
			return;
		}
		choice->code = code;
		/* Of the target's own GPU the message knows more to say. */
		if (!choice->offender || choice->offender->arch != linker->target.sm)
			choice->offender = group->entries[i];
	}
	if (!choice->code)
		choice->code = LAZYCUDA_CODE_NO_USABLE_ENTRY;
}

struct lk_choice lk_choose(const struct lk_linker *linker,
			   const struct lk_group *group, bool lto)
{
	struct lk_choice choice = { .entry = NULL };
	size_t best = LC_COUNT(preferences);

	for (size_t i = 0; i < group->count; i++) {
		const struct lazycuda_entry *entry = group->entries[i];
		struct lk_acceptance is;
		size_t rank;

		if (entry->kind == LAZYCUDA_KIND_LTOIR && !lto)
			continue;
		is = lk_accept(linker, entry);
		rank = rank_of(entry->kind, is.doubt);
		if (is.code || rank > best ||
		    (choice.entry && rank == best && closeness(entry) < closeness(choice.entry)))
			continue;
		best = rank;
		choice.entry = entry;
		choice.form = is.form;
		choice.doubt = is.doubt;
	}
	if (!choice.entry)
		note_objections(linker, group, &choice);
	return choice;
}

static bool fits(const struct lk_linker *linker, const struct lazycuda_entry *entry)
{
	struct lk_arch arch = { entry->arch, entry->suffix, false };

	return !entry->error && lk_arch_fits(entry->kind, &arch, &linker->target, linker->version);
}

const struct lazycuda_entry *lk_choose_ir(const struct lk_linker *linker, const struct lk_group *group)
{
	const struct lazycuda_entry *best = NULL;

	for (size_t i = 0; i < group->count; i++) {
		const struct lazycuda_entry *entry = group->entries[i];

		if (is_ir(entry) && ir_fits(linker, entry) &&
		    (!best || closeness(entry) >= closeness(best)))
			best = entry;
	}
	return best;
}

bool lk_group_is_ltoir(const struct lk_linker *linker, const struct lk_group *group)
{
	bool ltoir = false;

	for (size_t i = 0; i < group->count; i++) {
		const struct lazycuda_entry *entry = group->entries[i];

		if (entry->kind == LAZYCUDA_KIND_LTOIR)
			ltoir |= fits(linker, entry);
		else if (entry->kind == LAZYCUDA_KIND_PTX && fits(linker, entry))
			return false;
		else if (entry->kind == LAZYCUDA_KIND_CUBIN && fits(linker, entry) &&
			 !(entry->flags & LAZYCUDA_ENTRY_LINKED))
			return false;
	}
	return ltoir;
}
