/* SPDX-License-Identifier: MIT */
/* compile.c - how source is compiled */
#include <string.h>

#include "planning.h"
#include "../tables/versions.h"

/* Options that the plan sets itself, as nvrtc spells them. */
#define TARGET_OPTION "-arch="
#define LTO_OPTION "-dlto"
#define RELOCATABLE_OPTION "-rdc=true"
#define TILE_OPTION "--enable-tile"

#define OLDEST_ARCH 30

bool lk_compiled_arch(const struct lk_arch *target, int version, struct lk_arch *arch)
{
	*arch = *target;
	arch->virtual = true;
	if (lk_arch_supported(arch, LK_NVRTC, version))
		return true;
	arch->suffix = 0;
	for (; arch->sm >= OLDEST_ARCH; arch->sm--)
		if (lk_arch_known(arch) > 0 && lk_arch_supported(arch, LK_NVRTC, version))
			return true;
	return false;
}

struct lk_acceptance lk_accept_output(const struct lk_linker *linker, enum lazycuda_kind kind,
				      const struct lk_arch *arch, int version)
{
	const struct lazycuda_entry output = {
		.kind = kind, .arch = arch->sm, .suffix = arch->suffix, .level = 1, .fatbin = -1,
		.toolkit = version > 0 ? version : 0,
		.isa = kind == LAZYCUDA_KIND_PTX ? lk_isa_of_cuda(version) : 0,
		.flags = LAZYCUDA_ENTRY_RELOCATABLE,
	};

	return lk_accept(linker, &output);
}

static const char *nvrtc_text(struct lc_arena *arena, int version)
{
	return version > 0 ? lc_format(arena, "nvrtc %s", lk_version(arena, version)) :
			     "nvrtc of unknown version";
}

/* Refuses: the linker would not take nvrtc's output. */
static bool decline(struct lk_planning *planning, const struct lk_linker *linker,
		    const struct lk_item *item, enum lazycuda_kind to, enum lazycuda_code code)
{
	struct lc_arena *arena = planning->arena;
	int version = planning->environment.nvrtc;
	const char *nvrtc = nvrtc_text(arena, version), *text = lk_linker_text(arena, linker), *need;
	const char *output = to == LAZYCUDA_KIND_LTOIR ? "LTO-IR" : "PTX";

	switch (code) {
	case LAZYCUDA_CODE_PTX_TOO_NEW:
	case LAZYCUDA_CODE_LTOIR_TOO_NEW:
		need = lc_format(arena, "nvrtc %s or earlier", lk_version(arena, linker->version));
		return lk_refuse(planning, LAZYCUDA_CODE_NVRTC_TOO_NEW, item, nvrtc, need,
				 "%s would write %s that is newer than %s reads; take %s, or a newer linker",
				 nvrtc, output, text, need);
	case LAZYCUDA_CODE_LTOIR_CROSS_MAJOR:
		if (LC_CUDA_MAJOR(version) < 12)
			return lk_refuse(planning, code, item, nvrtc, "nvrtc 12 or later",
					 "%s writes LTO-IR that no nvJitLink reads; take nvrtc 12 or later",
					 nvrtc);
		need = lc_format(arena, "nvrtc %d", LC_CUDA_MAJOR(linker->version));
		return lk_refuse(planning, code, item, nvrtc, need,
				 "LTO-IR of %s is promised to link within its major only, and this is %s;"
				 " take %s, or allow LTO across majors", nvrtc, text, need);
	default:
		return lk_refuse(planning, code, item, nvrtc, "nvrtc of a known version",
				 "it cannot be told whether %s reads %s of %s, and the policy is strict",
				 text, output, nvrtc);
	}
}

bool lk_plan_compilation(struct lk_planning *planning, const struct lk_linker *linker, bool lto,
			 const struct lk_item *item, struct lk_compilation *compilation)
{
	struct lc_arena *arena = planning->arena;
	const struct lk_arch *target = &planning->target;
	int version = planning->environment.nvrtc;
	const char *nvrtc = nvrtc_text(arena, version);
	enum lazycuda_code code;

	if (version == LAZYCUDA_VERSION_NONE)
		return lk_refuse(planning, LAZYCUDA_CODE_NVRTC_REQUIRED, item, "CUDA source",
				 "nvrtc", "it is source, and there is no nvrtc to compile it; install nvrtc,"
				 " or pass PTX");
	if (!lk_compiled_arch(target, version, &compilation->arch)) {
		int until = lk_arch_until(target, LK_NVRTC);
		const char *need = until ? lc_format(arena, "nvrtc %s or earlier",
						     lk_version(arena, until)) : "another nvrtc";

		return lk_refuse(planning, LAZYCUDA_CODE_ARCH_UNSUPPORTED, item, nvrtc, need,
				 "%s compiles for nothing that runs on %s; take %s", nvrtc,
				 lk_arch(arena, target->sm, target->suffix), need);
	}
	compilation->to = lto ? LAZYCUDA_KIND_LTOIR : LAZYCUDA_KIND_PTX;
	code = lk_accept_output(linker, compilation->to, &compilation->arch, version).code;
	if (code)
		return decline(planning, linker, item, compilation->to, code);
	return lk_compiler_has_settings(planning, item);
}

/* An nvrtc that makes the image takes the linker's level. */
static void add_level(struct lk_planning *planning, const char **options, size_t *count)
{
	const struct lazycuda_request *request = &planning->request;

	for (size_t i = 0; i < request->setting_count; i++)
		if (request->settings[i].kind == LAZYCUDA_SETTING_OPTIMIZE)
			options[(*count)++] = lc_format(planning->arena, "-Xptxas=-O%d",
							request->settings[i].value);
}

static bool has_option(const struct lazycuda_request *request, const char *option)
{
	for (size_t i = 0; i < request->compile_option_count; i++)
		if (!strcmp(request->compile_options[i], option))
			return true;
	return false;
}

const char *const *lk_compile_options(struct lk_planning *planning,
				      const struct lk_compilation *compilation, size_t *count)
{
	const struct lazycuda_request *request = &planning->request;
	const char **options = lc_alloc(planning->arena, (request->compile_option_count + 3) *
					sizeof(*options));
	char text[LK_ARCH_TEXT];

	*count = 0;
	if (!options)
		return NULL;
	options[(*count)++] = lc_format(planning->arena, TARGET_OPTION "%s",
					lk_arch_text(&compilation->arch, text));
	if (compilation->to == LAZYCUDA_KIND_TILEIR && !has_option(request, TILE_OPTION))
		options[(*count)++] = TILE_OPTION;
	if (compilation->to == LAZYCUDA_KIND_CUBIN)
		add_level(planning, options, count);
	else
		options[(*count)++] = compilation->to == LAZYCUDA_KIND_LTOIR ? LTO_OPTION :
									       RELOCATABLE_OPTION;
	for (size_t i = 0; i < request->compile_option_count; i++)
		options[(*count)++] = request->compile_options[i];
	return options;
}

const char *const *lk_compile_options_for_ptx(struct lc_arena *arena,
					      const struct lazycuda_plan *plan)
{
	const char **options = lc_alloc(arena, (plan->compile_option_count + 1) * sizeof(*options));

	for (size_t i = 0; options && i < plan->compile_option_count; i++)
		options[i] = strcmp(plan->compile_options[i], LTO_OPTION) ?
			plan->compile_options[i] : RELOCATABLE_OPTION;
	return options;
}
