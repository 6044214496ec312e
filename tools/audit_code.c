/* SPDX-License-Identifier: MIT */
/* audit_code.c - which GPUs the device code in a file serves */
#include "audit_code.h"

#include <string.h>

#include "../stubs/base/cuda_version.h"
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

static bool is_alike(const struct code_group *group, const struct lazycuda_entry *entry,
		     bool loadable)
{
	return group->kind == entry->kind && group->arch.sm == entry->arch &&
	       group->arch.suffix == entry->suffix && group->loadable == loadable;
}

static void add_entry(struct lc_arena *arena, struct code *code,
		      const struct lazycuda_entry *entry)
{
	bool loadable = !entry->section || strcmp(entry->section, LK_RELOCATABLE_SECTION);
	struct code_group *group;

	for (size_t i = 0; i < code->group_count; i++) {
		if (!is_alike(&code->groups[i], entry, loadable))
			continue;
		code->groups[i].count++;
		return;
	}
	group = lc_grow(arena, &code->groups, &code->group_count, sizeof(*group));
	if (group)
		*group = (struct code_group){
			entry->kind, { entry->arch, entry->suffix, entry->kind == LAZYCUDA_KIND_PTX },
			1, loadable,
		};
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
	struct lazycuda_inspection *inspection = lazycuda_inspect(bytes, size, NULL, 0);

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

enum code_service code_serves(const struct code *code, const struct lk_arch *target)
{
	enum code_service best = BY_NOTHING;

	for (size_t i = 0; i < code->group_count; i++) {
		const struct code_group *group = &code->groups[i];

		if (service_of(group) < best && group->arch.sm &&
		    lk_arch_fits(group->kind, &group->arch, target, AS_LOADED))
			best = service_of(group);
	}
	return best;
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

const char *code_text(struct lc_arena *arena, const struct code *code)
{
	const char *text = "";
	char arch[LK_ARCH_TEXT];

	for (size_t i = 0; i < code->group_count; i++) {
		const struct code_group *group = &code->groups[i];

		text = lc_format(arena, "%s%s%zu %s%s of %s", text, *text ? ", " : "", group->count,
				 group->loadable ? "" : "relocatable ", plural(group),
				 group->arch.sm ? lk_arch_text(&group->arch, arch) :
						  "an architecture that is not known");
	}
	return text;
}

const char *code_advice(struct lc_arena *arena, const struct lk_arch *target,
			enum code_service service)
{
	struct lk_arch compute = { target->sm, target->suffix, true };
	char sm[LK_ARCH_TEXT], from[LK_ARCH_TEXT];
	const char *add = lc_format(arena, "compile with -gencode arch=%s,code=%s",
				    lk_arch_text(&compute, from), lk_arch_text(target, sm));

	switch (service) {
	case BY_CUBIN:
		return "a cubin";
	case BY_PTX:
		return lc_format(arena, "PTX, which a driver that is as new compiles first; for a"
				 " cubin %s", add);
	case BY_RELOCATABLE:
		return lc_format(arena, "relocatable code, which is loaded once it is linked: with"
				 " `nvcc -dlink -arch=%s`, or `lazycuda link --arch %s`",
				 lk_arch_text(target, sm), sm);
	case BY_LTOIR:
		return lc_format(arena, "LTO-IR alone, which no driver loads: link it with nvJitLink"
				 " (`lazycuda link --lto --arch %s`), or %s",
				 lk_arch_text(target, sm), add);
	default:
		return lc_format(arena, "nothing: %s", add);
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

static void json_group(const struct code_group *group)
{
	char arch[LK_ARCH_TEXT];

	json_open(NULL, '{');
	json_text("kind", lazycuda_kind_name(group->kind));
	json_text("arch", group->arch.sm ? lk_arch_text(&group->arch, arch) : NULL);
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
		json_group(&code->groups[i]);
	json_close(']');
	json_size("beside_ltoir", code->mixed);
	json_open("targets", '{');
	for (size_t i = 0; code->group_count && i < wish->target_count; i++) {
		enum code_service service = code_serves(code, &wish->targets[i]);

		json_open(lk_arch_text(&wish->targets[i], arch), '{');
		json_text("by", code_service_name(service));
		json_text("advice", code_advice(arena, &wish->targets[i], service));
		json_close('}');
	}
	json_close('}');
	json_close('}');
}
