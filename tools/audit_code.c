/* SPDX-License-Identifier: MIT */
/* audit_code.c - which GPUs the device code in a file serves */
#include "audit_code.h"

#include <string.h>

#include "../link/tables/versions.h"
#include "json.h"

/* As nvJitLink 12.9 links cubins of one architecture for another, drivers load them: within
 * a major, and not between desktop and Tegra. */
#define AS_LOADED LC_CUDA(12, 9)

bool code_wish_read(struct code_wish *wish, const char *list)
{
	wish->any = true;
	while (*list) {
		size_t length = strcspn(list, ",");
		char word[LK_ARCH_TEXT] = "";

		if (wish->target_count == CODE_TARGETS || !length || length >= sizeof(word))
			return false;
		memcpy(word, list, length);
		if (!lk_arch_parse(word, &wish->targets[wish->target_count]) ||
		    wish->targets[wish->target_count++].virtual)
			return false;
		list += length;
		if (*list == ',' && !*++list)
			return false;
	}
	return wish->target_count;
}

/* ---- reading ---- */

static bool is_loadable(const struct lazycuda_entry *entry)
{
	if (entry->section && !strcmp(entry->section, LK_RELOCATABLE_SECTION))
		return false;
	return entry->kind != LAZYCUDA_KIND_CUBIN || entry->flags & LAZYCUDA_ENTRY_LINKED ||
	       !(entry->flags & LAZYCUDA_ENTRY_RELOCATABLE);
}

static bool is_alike(const struct code_group *one, const struct code_group *other)
{
	return one->kind == other->kind && one->arch.sm == other->arch.sm &&
	       one->arch.suffix == other->arch.suffix && one->toolkit == other->toolkit &&
	       one->isa == other->isa && one->loadable == other->loadable;
}

static int toolkit_of(const struct lazycuda_entry *entry)
{
	switch (entry->kind) {
	case LAZYCUDA_KIND_CUBIN:
		return lk_cuda_of_cubin(entry);
	case LAZYCUDA_KIND_PTX:
		return lk_cuda_of_isa(entry->isa);
	default:
		return entry->toolkit;
	}
}

static void add_entry(struct lc_arena *arena, struct code *code,
		      const struct lazycuda_entry *entry)
{
	const struct code_group now = {
		.kind = entry->kind,
		.arch = { entry->arch, entry->suffix, entry->kind == LAZYCUDA_KIND_PTX },
		.toolkit = toolkit_of(entry),
		.isa = entry->isa, .driver = lk_driver_for(entry), .count = 1,
		.loadable = is_loadable(entry),
	};
	struct code_group *group;

	for (size_t i = 0; i < code->group_count; i++) {
		if (!is_alike(&code->groups[i], &now))
			continue;
		code->groups[i].count++;
		return;
	}
	group = lc_grow(arena, &code->groups, &code->group_count, sizeof(*group));
	if (group)
		*group = now;
}

static bool is_judged_code(const struct lazycuda_entry *entry)
{
	return entry->kind == LAZYCUDA_KIND_CUBIN || entry->kind == LAZYCUDA_KIND_PTX ||
	       entry->kind == LAZYCUDA_KIND_LTOIR;
}

/* Counts the fatbins that hold LTO-IR and something else; entries of one follow each other. */
static size_t count_mixed(const struct lazycuda_inspection *inspection)
{
	bool ltoir = false, other = false;
	size_t mixed = 0;

	for (size_t i = 0; i < inspection->entry_count; i++) {
		const struct lazycuda_entry *entry = inspection->entries[i];

		/* The first entry of a fatbin may be of a kind that does not count. */
		if (i && inspection->entries[i - 1]->fatbin != entry->fatbin)
			ltoir = other = false;
		if (entry->fatbin < 0 || !is_judged_code(entry) || (ltoir && other))
			continue;
		ltoir |= entry->kind == LAZYCUDA_KIND_LTOIR;
		other |= entry->kind != LAZYCUDA_KIND_LTOIR;
		mixed += ltoir && other;
	}
	return mixed;
}

void code_read(struct lc_arena *arena, const void *bytes, size_t size, struct code *code)
{
	struct lazycuda_inspection *inspection =
		lazycuda_inspect(bytes, size, NULL, LAZYCUDA_INSPECT_PAYLOADS);

	*code = (struct code){ .error = NULL };
	if (!inspection) {
		arena->failed = true;
		return;
	}
	for (size_t i = 0; i < inspection->entry_count; i++)
		if (is_judged_code(inspection->entries[i]))
			add_entry(arena, code, inspection->entries[i]);
	code->mixed = count_mixed(inspection);
	if (inspection->error)
		code->error = lc_format(arena, "%s", inspection->error);
	lazycuda_inspection_free(inspection);
}

/* ---- judging ---- */

static enum code_service service_of(const struct code_group *group)
{
	switch (group->kind) {
	case LAZYCUDA_KIND_CUBIN:
		return group->loadable ? BY_CUBIN : BY_RELOCATABLE;
	case LAZYCUDA_KIND_PTX:
		return group->loadable ? BY_PTX : BY_RELOCATABLE;
	default:
		return BY_LTOIR;
	}
}

/* Whether the driver that was asked about is known to load it. */
static bool is_loaded(const struct code_group *group, const struct code_wish *wish)
{
	return !wish->driver || (group->driver && group->driver <= wish->driver);
}

/* False for a GPU that came later than the driver, which then loads nothing for it. */
static bool is_known(const struct code_wish *wish, const struct lk_arch *target)
{
	return !wish->driver || lk_arch_since(target, LK_DRIVER) <= wish->driver;
}

struct code_answer code_serves(const struct code *code, const struct code_wish *wish,
			       const struct lk_arch *target)
{
	struct code_answer answer = { .service = BY_NOTHING };

	if (!is_known(wish, target))
		return answer;
	for (size_t i = 0; i < code->group_count; i++) {
		const struct code_group *group = &code->groups[i];
		enum code_service service = service_of(group);

		if (!group->arch.sm || !lk_arch_fits(group->kind, &group->arch, target, AS_LOADED))
			continue;
		if (service <= BY_PTX && !is_loaded(group, wish)) {
			if (!answer.not_loaded || service < service_of(answer.not_loaded))
				answer.not_loaded = group;
		} else if (service < answer.service) {
			answer.service = service;
			answer.group = group;
		}
	}
	return answer;
}

/* ---- words ---- */

const char *code_service_name(enum code_service service)
{
	static const char *const names[] = { "cubin", "ptx", "relocatable", "ltoir", NULL };

	return names[service];
}

static const char *plural(const struct code_group *group)
{
	switch (group->kind) {
	case LAZYCUDA_KIND_CUBIN:
		return group->count == 1 ? "cubin" : "cubins";
	case LAZYCUDA_KIND_PTX:
		return "PTX";
	default:
		return "LTO-IR";
	}
}

/* "PTX 8.8", or "cubin of CUDA 12.9" */
static const char *made_text(struct lc_arena *arena, const struct code_group *group,
			     const char *noun)
{
	char version[LK_VERSION_TEXT];

	if (group->isa)
		return lc_format(arena, "%s %d.%d", noun, group->isa / 10, group->isa % 10);
	if (!group->toolkit)
		return noun;
	return lc_format(arena, "%s of CUDA %s", noun, lk_version_text(group->toolkit, version));
}

const char *code_text(struct lc_arena *arena, const struct code *code)
{
	const char *text = "";
	char arch[LK_ARCH_TEXT], version[LK_VERSION_TEXT];

	for (size_t i = 0; i < code->group_count; i++) {
		const struct code_group *group = &code->groups[i];

		text = lc_format(arena, "%s%s%zu %s%s for %s", text, *text ? ", " : "", group->count,
				 group->loadable ? "" : "relocatable ",
				 made_text(arena, group, plural(group)),
				 group->arch.sm ? lk_arch_text(&group->arch, arch) :
						  "an architecture that is not known");
		if (group->driver && group->loadable)
			text = lc_format(arena, "%s (driver %s or later)", text,
					 lk_version_text(group->driver, version));
	}
	return text;
}

/* "nvcc 12.8": the oldest that compiles for the target, of those whose cubins the driver loads;
 * NULL if there is none. */
static const char *nvcc_for(struct lc_arena *arena, const struct code_wish *wish,
			    const struct lk_arch *target)
{
	int since = lk_arch_since(target, LK_NVRTC), until = lk_arch_until(target, LK_NVRTC);
	int major = LC_CUDA(LC_CUDA_MAJOR(wish->driver), 0);
	char version[LK_VERSION_TEXT];

	if (since < major)
		since = major;
	if (LC_CUDA_MAJOR(since) > LC_CUDA_MAJOR(wish->driver) || (until && since > until))
		return NULL;
	return lc_format(arena, "nvcc %s", lk_version_text(since, version));
}

static const char *not_loaded_text(struct lc_arena *arena, const struct code_wish *wish,
				   const struct lk_arch *target, const struct code_group *group)
{
	char driver[LK_VERSION_TEXT], needed[LK_VERSION_TEXT];
	const char *nvcc = nvcc_for(arena, wish, target), *text, *what = made_text(arena, group,
		group->kind == LAZYCUDA_KIND_PTX ? "PTX" : "a cubin");

	lk_version_text(wish->driver, driver);
	if (!group->driver)
		return lc_format(arena, "%s of a version that is not known, so whether a driver of CUDA"
				 " %s takes it is not known (`lazycuda inspect` says why)", what, driver);
	text = lc_format(arena, "%s, which a driver of CUDA %s does not take: take one of CUDA %s or"
			 " later", what, driver, lk_version_text(group->driver, needed));
	return !nvcc ? text : lc_format(arena, "%s, or compile with the oldest nvcc that has the"
					" architectures you need, for this one %s", text, nvcc);
}

/* NULL, or that the driver does not know the GPU, whatever is in the file. */
static const char *unknown_to_driver(struct lc_arena *arena, const struct code_wish *wish,
				     const struct lk_arch *target)
{
	int since = lk_arch_since(target, LK_DRIVER);
	char driver[LK_VERSION_TEXT], needed[LK_VERSION_TEXT], sm[LK_ARCH_TEXT];

	if (is_known(wish, target))
		return NULL;
	return lc_format(arena, "nothing: a driver of CUDA %s does not know %s; take one of CUDA %s or"
			 " later", lk_version_text(wish->driver, driver), lk_arch_text(target, sm),
			 lk_version_text(since, needed));
}

static const char *from_driver(struct lc_arena *arena, const struct code_group *group)
{
	char version[LK_VERSION_TEXT];

	return !group->driver ? "a driver that is as new" :
		lc_format(arena, "a driver of CUDA %s or later", lk_version_text(group->driver, version));
}

const char *code_advice(struct lc_arena *arena, const struct code_wish *wish,
			const struct lk_arch *target, const struct code_answer *answer)
{
	struct lk_arch compute = { target->sm, target->suffix, true };
	char sm[LK_ARCH_TEXT], from[LK_ARCH_TEXT];
	const char *add = lc_format(arena, "compile with -gencode arch=%s,code=%s",
				    lk_arch_text(&compute, from), lk_arch_text(target, sm));
	const char *unknown = unknown_to_driver(arena, wish, target);

	if (unknown)
		return unknown;
	if (answer->service > BY_PTX && answer->not_loaded)
		return not_loaded_text(arena, wish, target, answer->not_loaded);
	switch (answer->service) {
	case BY_CUBIN:
		return !answer->group->driver ? "a cubin" :
			lc_format(arena, "%s, for %s", made_text(arena, answer->group, "a cubin"),
				  from_driver(arena, answer->group));
	case BY_PTX:
		return lc_format(arena, "%s, which %s compiles first; for a cubin %s",
				 made_text(arena, answer->group, "PTX"),
				 from_driver(arena, answer->group), add);
	case BY_RELOCATABLE:
		return lc_format(arena, "relocatable code, which is loaded once it is linked: with"
				 " `nvcc -dlink -arch=%s`, or `lazycuda link --arch %s`",
				 lk_arch_text(target, sm), sm);
	case BY_LTOIR:
		return lc_format(arena, "LTO-IR alone, which no driver loads: link it with nvJitLink"
				 " (`lazycuda link --lto --arch %s`), or %s",
				 lk_arch_text(target, sm), add);
	default:
		return lc_format(arena, "nothing: %s; PTX of the newest architecture beside the cubins"
				 " serves later GPUs, too", add);
	}
}

const char *code_mixed_text(struct lc_arena *arena, const struct code *code)
{
	return lc_format(arena, "%zu of its fatbins hold%s LTO-IR beside other code: hand no driver"
			 " those together with the LTO-IR, which it does not link; take the PTX or"
			 " cubin out, or link with nvJitLink (`lazycuda plan` says which entry)",
			 code->mixed, code->mixed == 1 ? "s" : "");
}

/* ---- JSON ---- */

static void json_group(struct lc_arena *arena, const struct code_group *group)
{
	char arch[LK_ARCH_TEXT], version[LK_VERSION_TEXT];

	json_open(NULL, '{');
	json_text("kind", lazycuda_kind_name(group->kind));
	json_text("arch", group->arch.sm ? lk_arch_text(&group->arch, arch) : NULL);
	json_text("toolkit", group->toolkit ? lk_version_text(group->toolkit, version) : NULL);
	json_text("isa", group->isa ? lc_format(arena, "%d.%d", group->isa / 10, group->isa % 10) :
				      NULL);
	json_text("driver", group->driver && group->loadable ?
		  lk_version_text(group->driver, version) : NULL);
	json_size("count", group->count);
	json_boolean("loadable", group->loadable);
	json_close('}');
}

void code_json(struct lc_arena *arena, const struct code *code, const struct code_wish *wish)
{
	char arch[LK_ARCH_TEXT];

	json_open("device_code", '{');
	json_text("error", code->error);
	json_open("entries", '[');
	for (size_t i = 0; i < code->group_count; i++)
		json_group(arena, &code->groups[i]);
	json_close(']');
	json_size("beside_ltoir", code->mixed);
	json_open("targets", '{');
	for (size_t i = 0; code->group_count && i < wish->target_count; i++) {
		struct code_answer answer = code_serves(code, wish, &wish->targets[i]);

		json_open(lk_arch_text(&wish->targets[i], arch), '{');
		json_text("by", code_service_name(answer.service));
		json_text("advice", code_advice(arena, wish, &wish->targets[i], &answer));
		json_close('}');
	}
	json_close('}');
	json_close('}');
}
