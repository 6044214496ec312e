/* SPDX-License-Identifier: MIT */
/* objection.c - which entry of a container is taken, and why another is not, in words */
#include "choose.h"

#include <string.h>

#include "../tables/text.h"
#include "../tables/versions.h"

/* ---- what is taken ---- */

#define PHRASE_ROOM 512		/* longer texts are cut */
#define LISTED 16		/* entries named of one container */

struct phrase {
	size_t length;
	char bytes[PHRASE_ROOM];	/* not zeroed */
};

static void add(struct phrase *text, const char *word)
{
	size_t length = strlen(word), room = PHRASE_ROOM - 1 - text->length;

	if (length > room)
		length = room;
	memcpy(text->bytes + text->length, word, length);
	text->length += length;
}

static void add_arch(struct phrase *text, int sm, char suffix)
{
	const struct lk_arch arch = { .sm = sm, .suffix = suffix };
	char name[LK_ARCH_TEXT];

	add(text, lk_arch_text(&arch, name));
}

static const char *short_name(enum lazycuda_kind kind)
{
	return kind == LAZYCUDA_KIND_LTOIR ? "lto" : lazycuda_kind_name(kind);
}

static void add_entry(struct phrase *text, const struct lazycuda_entry *entry)
{
	add(text, short_name(entry->kind));
	if (entry->arch > 0) {
		add(text, " ");
		add_arch(text, entry->arch, entry->suffix);
	}
}

static void add_group(struct phrase *text, const struct lk_group *group)
{
	add(text, "{");
	for (size_t i = 0; i < group->count && i < LISTED; i++) {
		add(text, i ? ", " : "");
		add_entry(text, group->entries[i]);
	}
	add(text, group->count > LISTED ? ", ...}" : "}");
}

static const char *finish(struct lc_arena *arena, const struct phrase *text)
{
	const char *copy = lc_copy(arena, text->bytes, text->length);

	return copy ? copy : "";
}

static const char *group_text(struct lc_arena *arena, const struct lk_group *group)
{
	struct phrase text;

	text.length = 0;
	add_group(&text, group);
	return finish(arena, &text);
}

const char *lk_member_name(struct lc_arena *arena, const char *file, const char *member)
{
	return member ? lc_printable(arena, LK_CONCAT(arena, file, "(", member, ")")) : file;
}

/* Returns true if an entry is preferable to the one that was taken. */
static bool comes_before(const struct lazycuda_entry *entry, const struct lazycuda_entry *taken,
			 bool lto)
{
	if (entry->kind == LAZYCUDA_KIND_LTOIR && !lto)
		return false;
	if (entry->kind != taken->kind)
		return entry->kind == LAZYCUDA_KIND_LTOIR ||
		       (entry->kind == LAZYCUDA_KIND_CUBIN && taken->kind == LAZYCUDA_KIND_PTX);
	return entry->arch > taken->arch;
}

/* Adds " (not ptx sm_90: PTX_TOO_NEW)" for the first preferable entry that was passed
 * over for another reason than its architecture. */
static void add_passed_over(struct phrase *text, const struct lk_linker *linker,
			    const struct lk_group *group, const struct lazycuda_entry *taken,
			    bool lto)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct lazycuda_entry *entry = group->entries[i];
		enum lazycuda_code code;

		if (!comes_before(entry, taken, lto))
			continue;
		code = lk_accept(linker, entry).code;
		if (code == LAZYCUDA_CODE_OK || code == LAZYCUDA_CODE_ARCH_MISMATCH)
			continue;
		add(text, " (not ");
		add_entry(text, entry);
		add(text, ": ");
		add(text, lazycuda_code_name(code));
		add(text, ")");
		return;
	}
}

const char *lk_choice_reason(struct lc_arena *arena, const struct lk_linker *linker,
			     const struct lk_group *group, const struct lk_choice *choice,
			     bool lto)
{
	const struct lazycuda_entry *taken = choice->entry;
	const struct lk_arch *target = &linker->target;
	struct phrase text;

	if (taken->fatbin < 0)
		return "the only code in it";
	text.length = 0;
	add_entry(&text, taken);
	add(&text, " of ");
	add_group(&text, group);
	add(&text, ": ");
	if (group->count == 1) {
		add(&text, "the only one");
	} else {
		bool exact = taken->arch == target->sm && taken->suffix == target->suffix;

		add(&text, exact ? "just for " : "the highest not above ");
		add_arch(&text, target->sm, target->suffix);
	}
	add_passed_over(&text, linker, group, taken, lto);
	return finish(arena, &text);
}

/* ---- what is not ---- */

/* An entry that cannot be taken, and what the refusal says of it. */
struct objection {
	struct lc_arena *arena;
	const struct lk_linker *linker;
	const struct lazycuda_entry *entry;
	enum lazycuda_code code;
	const char *have, *need, *why;
	const char *said;	/* of have, where why goes on with it as a sentence; else NULL */
};

/* "PTX 9.0", "a linked cubin", "LTO-IR" */
static const char *kind_text(struct lc_arena *arena, const struct lazycuda_entry *entry)
{
	switch (entry->kind) {
	case LAZYCUDA_KIND_PTX:
		return entry->isa ? lc_format(arena, "PTX %d.%d", entry->isa / 10,
					      entry->isa % 10) : "PTX";
	case LAZYCUDA_KIND_CUBIN:
		return entry->flags & LAZYCUDA_ENTRY_LINKED ? "a linked cubin" : "a cubin";
	case LAZYCUDA_KIND_LTOIR:
		return entry->flags & LAZYCUDA_ENTRY_OBFUSCATED ? "obfuscated LTO-IR" : "LTO-IR";
	case LAZYCUDA_KIND_UNKNOWN:
		return "code of an unknown kind";
	default:
		return lazycuda_kind_name(entry->kind);
	}
}

static const char *toolkit_text(struct lc_arena *arena, const struct lazycuda_entry *entry)
{
	int oldest, newest;

	if (!lk_entry_toolkits(entry, &oldest, &newest))
		return "of an unknown CUDA";
	if (oldest == newest)
		return lc_format(arena, "of CUDA %s", lk_version(arena, oldest));
	return lc_format(arena, "of CUDA %s to %s", lk_version(arena, oldest),
			 lk_version(arena, newest));
}

const char *lk_entry_text(struct lc_arena *arena, const struct lazycuda_entry *entry)
{
	return lc_format(arena, "%s %s for %s", kind_text(arena, entry),
			 toolkit_text(arena, entry),
			 entry->arch ? lk_arch(arena, entry->arch, entry->suffix) :
				       "an unknown GPU");
}

/* ---- one code each ---- */

static void say_too_new(struct objection *o)
{
	int oldest, newest;

	if (!lk_entry_toolkits(o->entry, &oldest, &newest) || oldest <= o->linker->version)
		/* A cubin without its toolkit was judged by its ABI version. */
		newest = o->entry->arch >= 100 && LC_CUDA_MAJOR(o->linker->version) < 13 &&
			 o->linker->version < LC_CUDA(12, 8) ? LC_CUDA(12, 8) : LC_CUDA(13, 0);
	o->need = lk_or_later(o->arena, o->linker->backend, newest);
	o->said = lc_format(o->arena, "%s %s", kind_text(o->arena, o->entry),
			    toolkit_text(o->arena, o->entry));
	o->why = lc_format(o->arena, "is newer than %s; take %s, or code made by CUDA %s or earlier",
			   lk_linker_text(o->arena, o->linker), o->need, lk_version(o->arena, o->linker->version));
}

static void say_cross_major(struct objection *o)
{
	int oldest, newest;

	lk_entry_toolkits(o->entry, &oldest, &newest);
	if (LC_CUDA_MAJOR(newest) < 12) {
		o->need = "LTO-IR made by CUDA 12.0 or later";
		o->why = "no nvJitLink reads LTO-IR of CUDA 11; make it again with CUDA 12 or"
			 " later, or pass PTX";
		return;
	}
	o->need = lc_format(o->arena, "LTO-IR made by CUDA %d", LC_CUDA_MAJOR(o->linker->version));
	o->why = lc_format(o->arena, "LTO-IR is promised to link within a major only, and this is"
			   " %s; make it again, or allow LTO across majors", lk_linker_text(o->arena, o->linker));
}

/* The target that takes code with a suffix; NULL if that is for another GPU. */
static const char *same_gpu(struct lc_arena *arena, const struct lazycuda_entry *entry,
			    const struct lk_arch *target)
{
	if (!entry->suffix || entry->arch != target->sm)
		return NULL;
	return lc_format(arena, "--arch %s, which is for the same GPU, or --arch " LK_FROM_INPUTS
			 ":sm_%d, which chooses it where the inputs need it",
			 lk_arch(arena, entry->arch, entry->suffix), target->sm);
}

static void say_arch(struct objection *o)
{
	const struct lk_arch *target = &o->linker->target;
	const char *arch = lk_arch(o->arena, target->sm, target->suffix);
	const char *other = same_gpu(o->arena, o->entry, target);

	if (o->entry->flags & LAZYCUDA_ENTRY_32_BIT && target->sm >= LK_NO_32_BIT) {
		o->need = "PTX with .address_size 64";
		o->why = "its addresses have 32 bits, which from sm_90 on no GPU has; take PTX with"
			 " .address_size 64";
		return;
	}
	o->need = lc_format(o->arena, o->entry->kind == LAZYCUDA_KIND_CUBIN ?
			    "a cubin for %s, or PTX" : o->entry->suffix ?
			    "code for %s, or for an earlier one without a suffix" :
			    "code for %s or an earlier one", arch);
	o->said = lc_format(o->arena, "%s for %s", kind_text(o->arena, o->entry),
			    lk_arch(o->arena, o->entry->arch, o->entry->suffix));
	o->why = lc_format(o->arena, "does not link for %s; take %s", arch, other ? other : o->need);
}

static void say_unsupported(struct objection *o)
{
	o->need = "PTX, a relocatable cubin or LTO-IR";
	if (o->entry->kind == LAZYCUDA_KIND_CUBIN)
		o->why = lc_format(o->arena, "its ELF ABI, version %d, is one of CUDA 10 and"
				   " earlier; make it again", o->entry->abi);
	else if (o->entry->kind == LAZYCUDA_KIND_LTOIR)
		o->why = "it is for OptiX, not for linking";
	else if (o->entry->kind == LAZYCUDA_KIND_LLVMIR)
		o->why = "LLVM IR in an archive is not compiled; take it out of the archive, and"
			 " link it beside that";
	else if (o->entry->kind == LAZYCUDA_KIND_BITCODE)
		o->why = "bitcode in an archive may be the host's, and is not compiled; take it"
			 " out of the archive, and link it beside that, as a file or in an"
			 " offload binary";
	else
		o->why = "no linker here takes it";
}

static void say_packed(struct objection *o)
{
	bool zstd = o->entry->flags & LAZYCUDA_ENTRY_ZSTD;
	const char *library = zstd ? "libzstd.so.1" : "liblz4.so.1";

	if (o->linker->backend == LAZYCUDA_BACKEND_DRIVER) {
		o->need = library;
		o->why = lc_format(o->arena, "it is compressed and cannot be unpacked here; install"
				   " %s", library);
		return;
	}
	o->need = lc_format(o->arena, "%s, or nvJitLink 12.4 or later", library);
	o->why = lc_format(o->arena, "it is compressed, and cannot be unpacked here or by %s;"
			   " install %s", lk_linker_text(o->arena, o->linker), library);
}

static void say_unsure(struct objection *o)
{
	if (o->entry->flags & LAZYCUDA_ENTRY_UNSEEN) {
		o->need = o->entry->flags & LAZYCUDA_ENTRY_ZSTD ? "libzstd.so.1" : "liblz4.so.1";
		o->why = lc_format(o->arena, "it is compressed, so that its version is not known,"
				   " and the policy is strict; install %s", o->need);
		return;
	}
	o->need = "code whose version and architecture are known";
	o->why = lc_format(o->arena, "what it shows does not tell whether %s reads it, and the"
			   " policy is strict", lk_linker_text(o->arena, o->linker));
}

static void say_why(struct objection *o)
{
	switch (o->code) {
	case LAZYCUDA_CODE_PTX_TOO_NEW:
	case LAZYCUDA_CODE_CUBIN_TOO_NEW:
	case LAZYCUDA_CODE_LTOIR_TOO_NEW:
		say_too_new(o);
		break;
	case LAZYCUDA_CODE_LTOIR_CROSS_MAJOR:
		say_cross_major(o);
		break;
	case LAZYCUDA_CODE_ARCH_MISMATCH:
		say_arch(o);
		break;
	case LAZYCUDA_CODE_LTOIR_ON_DRIVER:
		o->need = "nvJitLink";
		o->why = "the driver's linker takes no LTO-IR; install nvJitLink, or pass PTX";
		break;
	case LAZYCUDA_CODE_LINKED_CUBIN:
		o->need = "a relocatable cubin, or PTX";
		o->why = "it is linked already, and the linker would drop it; compile it with"
			 " -rdc=true, or pass PTX";
		break;
	case LAZYCUDA_CODE_CANNOT_UNPACK:
		say_packed(o);
		break;
	case LAZYCUDA_CODE_NVJITLINK_TOO_OLD:
		o->need = "nvJitLink 12.4 or later";
		o->why = lc_format(o->arena, "%s does not read obfuscated LTO-IR; take %s, or a"
				   " fatbin made with --compress-mode=none", lk_linker_text(o->arena, o->linker),
				   o->need);
		break;
	case LAZYCUDA_CODE_INSUFFICIENT_METADATA:
		say_unsure(o);
		break;
	case LAZYCUDA_CODE_UNSUPPORTED_KIND:
		say_unsupported(o);
		break;
	case LAZYCUDA_CODE_UNPACK_LIMIT:
		o->need = "a higher limit";
		o->why = o->entry->error;
		break;
	default:
		o->need = "an entry that is whole";
		o->why = o->entry->error ? o->entry->error : "it cannot be used";
	}
}

/* ---- a group ---- */

/* "PTX 9.0 of CUDA 13.0 for sm_90: PTX_TOO_NEW" */
static const char *one_objection(struct lc_arena *arena, const struct lk_linker *linker,
				 const struct lazycuda_entry *entry)
{
	struct lk_acceptance is = lk_accept(linker, entry);

	return lc_format(arena, "%s: %s", lk_entry_text(arena, entry), is.code ?
			 lazycuda_code_name(is.code) : "only with link-time optimisation");
}

/* That of each, with a comma between: codes, since sentences for all entries would be too long.  Of
 * many alike one text is kept. */
static const char *all_objections(struct lc_arena *arena, const struct lk_linker *linker,
				  const struct lk_group *group)
{
	const char *text = "", *last = NULL;
	size_t same = 0, told = 0, i = 0;

	for (; i < group->count && told <= 8; i++) {
		struct lc_arena scratch = { 0 };
		const char *one = one_objection(&scratch, linker, group->entries[i]);
		const bool again = last && !strcmp(one, last);

		one = again ? last : lc_text(arena, one);
		arena->failed |= scratch.failed;
		lc_arena_free(&scratch);
		if (again) {
			same++;
			continue;
		}
		if (last && same)
			text = lc_format(arena, "%s (%zu times)", text, same + 1);
		text = ++told > 8 ? text : lc_format(arena, "%s%s%s", text, last ? ", " : "", one);
		last = one;
		same = 0;
	}
	if (same)
		text = lc_format(arena, "%s (%zu times)", text, same + 1);
	return told > 8 ? lc_format(arena, "%s, and more", text) : text;
}

/* What would take one of the entries; "" if nothing is known to. */
static const char *advice(struct lc_arena *arena, const struct lk_linker *linker,
			  const struct lk_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct lazycuda_entry *entry = group->entries[i];
		const char *other = lk_accept(linker, entry).code == LAZYCUDA_CODE_ARCH_MISMATCH ?
				    same_gpu(arena, entry, &linker->target) : NULL;

		if (other)
			return lc_format(arena, "; take %s", other);
	}
	return "";
}

void lk_object(struct lc_arena *arena, const struct lk_linker *linker, const char *name,
	       const struct lk_group *group,
	       const struct lk_choice *choice, struct lk_refusal *refusal)
{
	struct objection o = { .arena = arena, .linker = linker, .entry = choice->offender,
			       .code = choice->code };
	const struct lk_arch *target = &linker->target;

	if (!o.entry) {
		refusal->have = group_text(arena, group);
		refusal->need = lc_format(arena, "an entry for %s or earlier that %s takes",
					  lk_arch(arena, target->sm, target->suffix),
					  lk_linker_text(arena, linker));
		refusal->message = lc_format(arena, "%s: none of its entries can be taken by %s for"
					     " %s: %s%s", name, lk_linker_text(arena, linker),
					     lk_arch(arena, target->sm, target->suffix),
					     all_objections(arena, linker, group),
					     advice(arena, linker, group));
		return;
	}
	say_why(&o);
	refusal->have = lk_entry_text(arena, o.entry);
	refusal->need = o.need;
	name = lk_member_name(arena, name, o.entry->member);
	refusal->message = lc_format(arena, o.said ? "%s: %s %s" : "%s: %s: %s", name,
				     o.said ? o.said : refusal->have, o.why);
}
