/* SPDX-License-Identifier: MIT */
/* compile.c - what becomes of source */
#include <string.h>

#include "planning.h"
#include "../tables/versions.h"

/* nvrtc's spellings; the plan sets these itself. */
#define TARGET_OPTION "-arch="
#define LTO_OPTION "-dlto"
#define RELOCATABLE_OPTION "-rdc=true"

#define OLDEST_ARCH 30

bool lc_compile_option_is_ours(const char *option)
{
	static const char *const ours[] = {
		"-arch", "--gpu-architecture", "-dlto", "--dlink-time-opt", "-rdc",
		"--relocatable-device-code",
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		size_t length = strlen(ours[i]);

		if (!strncmp(option, ours[i], length) &&
		    (!option[length] || option[length] == '='))
			return true;
	}
	return false;
}

/* The target if nvrtc knows it, else the highest below it; false: none. */
static bool choose_arch(const struct lc_arch *target, int nvrtc, struct lc_arch *arch)
{
	*arch = *target;
	arch->virtual = true;
	if (lc_arch_supported(arch, LC_NVRTC, nvrtc))
		return true;
	arch->suffix = 0;
	for (; arch->sm >= OLDEST_ARCH; arch->sm--)
		if (lc_arch_known(arch) > 0 && lc_arch_supported(arch, LC_NVRTC, nvrtc))
			return true;
	return false;
}

static const char *nvrtc_text(struct lc_arena *arena, int version)
{
	return version > 0 ? lc_format(arena, "nvrtc %s", lc_version(arena, version)) :
			     "nvrtc of unknown version";
}

/* Why its output would not be taken. */
static bool object(struct lc_planning *planning, const struct lc_linker *linker,
		   const struct lc_item *item, enum lazycuda_kind to, enum lazycuda_code code,
		   struct lc_refusal *refusal)
{
	struct lc_arena *arena = planning->arena;
	int version = planning->environment.nvrtc;
	const char *nvrtc = nvrtc_text(arena, version), *need, *why;
	const char *output = to == LAZYCUDA_KIND_LTOIR ? "LTO-IR" : "PTX";
	char text[LC_LINKER_TEXT];

	lc_linker_text(linker, text);
	switch (code) {
	case LAZYCUDA_CODE_PTX_TOO_NEW:
	case LAZYCUDA_CODE_LTOIR_TOO_NEW:
		code = LAZYCUDA_CODE_NVRTC_TOO_NEW;
		need = lc_format(arena, "nvrtc %s or earlier", lc_version(arena, linker->version));
		why = lc_format(arena, "%s would write %s that is newer than %s reads; take %s, or"
				" a newer linker", nvrtc, output, text, need);
		break;
	case LAZYCUDA_CODE_LTOIR_CROSS_MAJOR:
		if (LC_CUDA_MAJOR(version) < 12) {
			need = "nvrtc 12 or later";
			why = lc_format(arena, "%s writes LTO-IR that no nvJitLink reads; take %s",
					nvrtc, need);
			break;
		}
		need = lc_format(arena, "nvrtc %d", LC_CUDA_MAJOR(linker->version));
		why = lc_format(arena, "LTO-IR of %s is promised to link within its major only, and"
				" this is %s; take %s, or allow LTO across majors", nvrtc, text,
				need);
		break;
	default:
		need = "nvrtc of a known version";
		why = lc_format(arena, "it cannot be told whether %s reads %s of %s, and the policy"
				" is strict", text, output, nvrtc);
	}
	return lc_refuse(refusal, code, item->input, nvrtc, need,
			 lc_format(arena, "%s: %s", item->name, why));
}

bool lc_plan_compilation(struct lc_planning *planning, const struct lc_linker *linker, bool lto,
			 const struct lc_item *item, struct lc_compilation *compilation,
			 struct lc_refusal *refusal)
{
	struct lc_arena *arena = planning->arena;
	int version = planning->environment.nvrtc;
	char text[LC_ARCH_TEXT];
	enum lazycuda_code code;

	if (version == LAZYCUDA_VERSION_NONE)
		return lc_refuse(refusal, LAZYCUDA_CODE_NVRTC_REQUIRED, item->input,
				 "CUDA source", "nvrtc",
				 lc_format(arena, "%s: it is source, and there is no nvrtc to"
					   " compile it; install nvrtc, or pass PTX", item->name));
	if (!choose_arch(&planning->target, version, &compilation->arch)) {
		int until = lc_arch_until(&planning->target, LC_NVRTC);
		const char *need = until ? lc_format(arena, "nvrtc %s or earlier",
						     lc_version(arena, until)) : "another nvrtc";

		return lc_refuse(refusal, LAZYCUDA_CODE_ARCH_UNSUPPORTED, item->input,
				 nvrtc_text(arena, version), need,
				 lc_format(arena, "%s: %s compiles for nothing that runs on %s;"
					   " take %s",
					   item->name, nvrtc_text(arena, version),
					   lc_arch_text(&planning->target, text), need));
	}
	compilation->to = lto ? LAZYCUDA_KIND_LTOIR : LAZYCUDA_KIND_PTX;
	const struct lazycuda_entry output = {
		.kind = compilation->to,
		.arch = compilation->arch.sm,
		.suffix = compilation->arch.suffix,
		.toolkit = version > 0 ? version : 0,
		.isa = lto ? 0 : lc_isa_of_cuda(version),
		.level = 1,
		.flags = LAZYCUDA_ENTRY_RELOCATABLE,
		.fatbin = -1,
	};
	code = lc_accept(linker, &output).code;
	return !code || object(planning, linker, item, compilation->to, code, refusal);
}

const char *const *lc_compile_options(struct lc_planning *planning,
				      const struct lc_compilation *compilation, size_t *count)
{
	const struct lazycuda_request *request = &planning->request;
	const char **options = lc_alloc(planning->arena, (request->compile_option_count + 2) *
					sizeof(*options));
	char text[LC_ARCH_TEXT];

	*count = 0;
	if (!options)
		return NULL;
	options[(*count)++] = lc_format(planning->arena, TARGET_OPTION "%s",
					lc_arch_text(&compilation->arch, text));
	options[(*count)++] = compilation->to == LAZYCUDA_KIND_LTOIR ? LTO_OPTION :
								       RELOCATABLE_OPTION;
	for (size_t i = 0; i < request->compile_option_count; i++)
		options[(*count)++] = request->compile_options[i];
	return options;
}
