/* SPDX-License-Identifier: MIT */
/* compile.c - how source is compiled, and how LLVM IR, to what and by which libnvvm */
#include <string.h>

#include "../../stubs/base/count.h"
#include "planning.h"
#include "../formats/inspection.h"
#include "../tables/sized.h"
#include "../tables/text.h"
#include "../tables/versions.h"

/* Options that the plan sets itself, as nvrtc spells them. */
#define TARGET_OPTION "-arch="
#define LTO_OPTION "-dlto"
#define RELOCATABLE_OPTION "-rdc=true"
#define TILE_OPTION "--enable-tile"

#define OLDEST_ARCH 30

/* The target if a compiler knows it, nvrtc or libnvvm of this version, else the highest below
 * that it knows; false if there is none.  What a suffix stands for, such as __CUDA_ARCH_FEAT_SM90_ALL,
 * no other target has. */
static bool compiled_arch(const struct lk_arch *target, int version, struct lk_arch *arch)
{
	*arch = *target;
	arch->virtual = true;
	if (lk_arch_supported(arch, LK_NVRTC, version))
		return true;
	for (; !arch->suffix && arch->sm >= OLDEST_ARCH; arch->sm--)
		if (lk_arch_known(arch) > 0 && lk_arch_supported(arch, LK_NVRTC, version))
			return true;
	return false;
}

/* Whether a linker takes what a compiler of this version writes for an architecture. */
static struct lk_acceptance accept_output(const struct lk_linker *linker, enum lazycuda_kind kind,
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

/* "nvrtc 12.9", "libnvvm of unknown version" */
static const char *compiler_text(struct lc_arena *arena, const char *name, int version)
{
	return version > 0 ? lc_format(arena, "%s %s", name, lk_version(arena, version)) :
			     lc_format(arena, "%s of unknown version", name);
}

/* Refuses, since a compiler cannot compile for an architecture that runs on the target. */
static bool refuse_target(struct lk_planning *planning, const struct lk_item *item, const char *name,
			  int version)
{
	struct lc_arena *arena = planning->arena;
	const struct lk_arch *target = &planning->target;
	const char *have = compiler_text(arena, name, version);
	int since = lk_arch_since(target, LK_NVRTC), until = lk_arch_until(target, LK_NVRTC);
	const char *need = since > version ? lc_format(arena, "%s %s or later", name, lk_version(arena, since)) :
			   until ? lc_format(arena, "%s %s or earlier", name, lk_version(arena, until)) :
				   lc_format(arena, "another %s", name);
	const struct lk_arch plain = { target->sm, 0, true };
	const bool would_do = target->suffix && lk_arch_supported(&plain, LK_NVRTC, version);

	return lk_refuse(planning, LAZYCUDA_CODE_ARCH_UNSUPPORTED, item, have, need,
			 "%s cannot compile for %s; take %s%s", have,
			 lk_arch(arena, target->sm, target->suffix), need, would_do ?
			 lc_format(arena, ", or link for %s", lk_arch(arena, target->sm, 0)) : "");
}

/* Refuses, since a linker would not take a compiler's output; `newer` is the code of a compiler that is
 * too new for it. */
static bool refuse_compiled(struct lk_planning *planning, const struct lk_linker *linker,
			    const struct lk_item *item, const char *name, int version,
			    enum lazycuda_kind to, enum lazycuda_code code, enum lazycuda_code newer)
{
	struct lc_arena *arena = planning->arena;
	const char *have = compiler_text(arena, name, version), *text = lk_linker_text(arena, linker);
	const char *output = to == LAZYCUDA_KIND_LTOIR ? "LTO-IR" : "PTX", *need;

	switch (code) {
	case LAZYCUDA_CODE_PTX_TOO_NEW:
	case LAZYCUDA_CODE_LTOIR_TOO_NEW:
		need = lc_format(arena, "%s %s or earlier", name, lk_version(arena, linker->version));
		return lk_refuse(planning, newer, item, have, need,
				 "%s would write %s that is newer than %s reads; take %s, or a newer linker",
				 have, output, text, need);
	case LAZYCUDA_CODE_LTOIR_CROSS_MAJOR:
		if (LC_CUDA_MAJOR(version) < 12)
			return lk_refuse(planning, code, item, have, "nvrtc 12 or later",
					 "%s writes LTO-IR that no nvJitLink reads; take nvrtc 12 or later",
					 have);
		need = lc_format(arena, "%s %d", name, LC_CUDA_MAJOR(linker->version));
		return lk_refuse(planning, code, item, have, need,
				 "LTO-IR of %s is promised to link within its major only, and this is %s;"
				 " take %s, or allow LTO across majors", have, text, need);
	default:
		return lk_refuse(planning, code, item, have, lc_format(arena, "%s of a known version", name),
				 "it cannot be told whether %s reads %s of %s, and the policy is strict",
				 text, output, have);
	}
}

bool lk_plan_compilation(struct lk_planning *planning, const struct lk_linker *linker, bool lto,
			 const struct lk_item *item, struct lk_compilation *compilation)
{
	int version = planning->environment.nvrtc;
	enum lazycuda_code code;

	if (version == LAZYCUDA_VERSION_NONE)
		return lk_refuse(planning, LAZYCUDA_CODE_NVRTC_REQUIRED, item, "CUDA source",
				 "nvrtc", "it is source, and there is no nvrtc to compile it; install nvrtc,"
				 " or pass PTX");
	if (!compiled_arch(&planning->target, version, &compilation->arch))
		return refuse_target(planning, item, "nvrtc", version);
	compilation->to = lto ? LAZYCUDA_KIND_LTOIR : LAZYCUDA_KIND_PTX;
	code = accept_output(linker, compilation->to, &compilation->arch, version).code;
	return code ? refuse_compiled(planning, linker, item, "nvrtc", version, compilation->to, code,
				      LAZYCUDA_CODE_NVRTC_TOO_NEW) :
		      lk_compiler_has_settings(planning, item);
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
	if (compilation->to == LAZYCUDA_KIND_TILEIR &&
	    !lc_is_among(TILE_OPTION, request->compile_options, request->compile_option_count))
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

/* ---- LLVM IR ---- */

/* libnvvm and nvJitLink both have it from this version on. */
#define NVVM_LATEST "-nvvm-latest"
#define NVVM_LATEST_SINCE LC_CUDA(13, 5)

/* All libnvvms from 12.0 on have it: no LTO-IR of an earlier one is linked. */
#define GEN_LTO "-gen-lto"

#define LIBNVVM "libnvvm"
#define INSTALL_NVVM "nvidia-cuda-nvcc-cu12 or nvidia-nvvm of PyPI, libnvvm of conda, or a toolkit"

/* ---- the inputs ---- */

bool lk_check_ir_libraries(struct lk_planning *planning, const struct lk_ir_compilation *compilation)
{
	for (size_t i = 0; !compilation->any && i < planning->count; i++) {
		const struct lk_item *item = &planning->items[i];

		if (lk_is_ir_library(item) && !(item->what.flags & LK_INPUT_COMPILED_IN))
			return lk_refuse(planning, LAZYCUDA_CODE_UNSUPPORTED_KIND, item,
					 "a library of LLVM IR", "a program of LLVM IR",
					 "it is a library of LLVM IR, and no other input is LLVM IR that could"
					 " call it; give it as a program, or the caller as LLVM IR");
	}
	return true;
}

static size_t count_libraries(const struct lk_planning *planning)
{
	size_t count = 0;

	for (size_t i = 0; i < planning->count; i++)
		count += lk_is_ir_library(&planning->items[i]);
	return count;
}

static bool has_flag(const struct lk_item *item, unsigned flag)
{
	const struct lazycuda_inspection *inspection = item->what.inspection;

	return lk_is_llvm_ir(inspection) && inspection->entry_count && inspection->entries[0]->flags & flag;
}

/* The first input of LLVM IR that has a flag, or NULL. */
static const struct lk_item *first_with(const struct lk_planning *planning, unsigned flag)
{
	for (size_t i = 0; i < planning->count; i++)
		if (has_flag(&planning->items[i], flag))
			return &planning->items[i];
	return NULL;
}

static const struct lazycuda_symbol *first_unlisted(const struct lazycuda_inspection *inspection)
{
	const struct lazycuda_entry *entry = inspection->entry_count ? inspection->entries[0] : NULL;

	for (size_t i = 0; entry && i < entry->symbol_count; i++)
		if (entry->symbols[i].flags & LAZYCUDA_SYMBOL_UNLISTED)
			return &entry->symbols[i];
	return NULL;
}

const char *lk_ir_unlisted(struct lk_planning *planning, const struct lk_item *item)
{
	static const char why[] = "nvJitLink keeps of LTO-IR only what the list @llvm.used has";
	const struct lazycuda_inspection *inspection = item->what.inspection;
	const struct lazycuda_symbol *lacks;

	if (!lk_is_ir(item) || inspection->kind == LAZYCUDA_KIND_BITCODE)
		return LK_CONCAT(planning->arena, why, ", and that of bitcode is not read: ",
				 item->name);
	if (has_flag(item, LAZYCUDA_ENTRY_LISTED))
		return NULL;
	lacks = first_unlisted(inspection);
	if (lacks)
		return LK_CONCAT(planning->arena, why, ", and that of ", item->name, " lacks the ",
				 lacks->kernel ? "kernel " : "variable ",
				 lc_printable(planning->arena, lacks->name));
	return LK_CONCAT(planning->arena, why, ", and not all of ",
			 item->name, " was understood");
}

static bool asks_for_latest(const struct lazycuda_request *request)
{
	return lc_is_among(NVVM_LATEST, request->options, request->option_count);
}

/* ---- which libnvvm ---- */

/* The newer LLVM aborts the process without a data layout; the older one reports an error. */
static bool aborts_without_layout(const struct lk_planning *planning,
				  const struct lk_ir_compilation *compilation)
{
	return compilation->arch.sm >= LK_NEWER_LLVM_SINCE ||
	       (asks_for_latest(&planning->request) && compilation->version >= NVVM_LATEST_SINCE);
}

/* A compilation by one libnvvm, and whether the linker would take what it makes. */
struct ir_candidate {
	struct lk_ir_compilation compilation;
	enum lazycuda_code code;
	int rank;		/* among those whose code is OK; the highest is best */
};

static struct ir_candidate try_nvvm(const struct lk_planning *planning,
				    const struct lk_linker *linker, enum lazycuda_kind to,
				    int version, int libdevice)
{
	const struct lk_arch *target = &planning->target;
	struct ir_candidate one = { .compilation = { .any = true, .to = to, .version = version,
						     .libdevice = libdevice } };
	struct lk_arch *arch = &one.compilation.arch;
	struct lk_acceptance is;

	if (!compiled_arch(target, version, arch)) {
		one.code = LAZYCUDA_CODE_ARCH_UNSUPPORTED;
		return one;
	}
	is = accept_output(linker, to, arch, version);
	one.code = is.code;
	one.compilation.doubt = is.doubt;
	/* A library may be libdevice. */
	if (!one.code && first_with(planning, LAZYCUDA_ENTRY_LIBDEVICE) && !libdevice &&
	    !count_libraries(planning))
		one.code = LAZYCUDA_CODE_LIBDEVICE_REQUIRED;
	if (!one.code && first_with(planning, LAZYCUDA_ENTRY_NO_LAYOUT) &&
	    aborts_without_layout(planning, &one.compilation))
		one.code = LAZYCUDA_CODE_BAD_INPUT;
	one.rank = 8 * (to == LAZYCUDA_KIND_LTOIR) + 2 * (libdevice != 0) + (version == linker->version) +
		   4 * (arch->sm == target->sm);
	return one;
}

/* Tries to compile to LTO-IR; to PTX, with the reason, if `no_lto` says why not or the version of
 * libnvvm is not known. */
static struct ir_candidate try_nvvm_lto(const struct lk_planning *planning,
					const struct lk_linker *linker, const char *no_lto,
					int version, int libdevice)
{
	struct ir_candidate lto = try_nvvm(planning, linker, LAZYCUDA_KIND_LTOIR, version,
					   libdevice), ptx;

	if (!lto.code && version > 0 && !no_lto)
		return lto;
	ptx = try_nvvm(planning, linker, LAZYCUDA_KIND_PTX, version, libdevice);
	ptx.compilation.no_lto = no_lto ? no_lto :
		version <= 0 ? "its version is not known" :
		lto.code == LAZYCUDA_CODE_LTOIR_TOO_NEW ? "its LTO-IR is too new for the linker" :
		lto.code == LAZYCUDA_CODE_LTOIR_CROSS_MAJOR ?
			"its LTO-IR is promised to link within its major only" :
			"the linker does not take its LTO-IR";
	return ptx;
}

/* The best candidate, the first among equals; with NVVM_REQUIRED if there is no libnvvm. */
static struct ir_candidate choose_nvvm(const struct lk_planning *planning,
				       const struct lk_linker *linker, bool lto, const char *no_lto)
{
	struct ir_candidate best = { .code = LAZYCUDA_CODE_NVVM_REQUIRED };
	struct lazycuda_others others;

	lk_sized_copy(&others, sizeof(others), planning->request.others);
	for (size_t i = 0; others.nvvms && i < others.nvvm_count; i++) {
		int version = others.nvvms[i];
		int libdevice = others.libdevices ? others.libdevices[i] : 0;
		struct ir_candidate one = lto ?
			try_nvvm_lto(planning, linker, no_lto, version, libdevice) :
			try_nvvm(planning, linker, LAZYCUDA_KIND_PTX, version, libdevice);

		if (!i || (!one.code && (best.code || one.rank > best.rank)))
			best = one;
	}
	return best;
}

/* ---- why not ---- */

static bool refuse_ir(struct lk_planning *planning, const struct lk_linker *linker,
		      const struct lk_item *item, const struct ir_candidate *one)
{
	const struct lk_ir_compilation *compilation = &one->compilation;
	const char *have = compiler_text(planning->arena, LIBNVVM, compilation->version);
	const char *kind = lazycuda_kind_name(lk_is_ir(item) ? item->what.inspection->kind :
							       LAZYCUDA_KIND_BITCODE);

	switch (one->code) {
	case LAZYCUDA_CODE_NVVM_REQUIRED:
		return lk_refuse(planning, one->code, item, kind, LIBNVVM,
				 "it is %s, and there is no libnvvm to compile it; install one (" INSTALL_NVVM
				 "), name it by LAZYCUDA_NVVM, or pass PTX", kind);
	case LAZYCUDA_CODE_LIBDEVICE_REQUIRED:
		return lk_refuse(planning, one->code, first_with(planning, LAZYCUDA_ENTRY_LIBDEVICE), have,
				 "libdevice.10.bc", "it calls functions of libdevice (__nv_*), and no"
				 " libdevice.10.bc goes with %s; install it with its libnvvm (" INSTALL_NVVM
				 ")", have);
	case LAZYCUDA_CODE_BAD_INPUT:
		return lk_refuse(planning, one->code, first_with(planning, LAZYCUDA_ENTRY_NO_LAYOUT),
				 "LLVM IR without a data layout", "a data layout",
				 "it has no data layout, without which libnvvm aborts the process for"
				 " compute_%d; write a line target datalayout = \"" LK_NVVM_LAYOUT "\"",
				 compilation->arch.sm);
	case LAZYCUDA_CODE_ARCH_UNSUPPORTED:
		return refuse_target(planning, item, LIBNVVM, compilation->version);
	default:
		return refuse_compiled(planning, linker, item, LIBNVVM, compilation->version,
				       LAZYCUDA_KIND_PTX, one->code, LAZYCUDA_CODE_NVVM_TOO_NEW);
	}
}

bool lk_plan_ir(struct lk_planning *planning, const struct lk_linker *linker, bool lto,
		const char *no_lto, const struct lk_item *item,
		struct lk_ir_compilation *compilation)
{
	struct ir_candidate best = choose_nvvm(planning, linker, lto, no_lto);

	*compilation = best.compilation;
	return !best.code || refuse_ir(planning, linker, item, &best);
}

/* ---- how ---- */

const char *const *lk_ir_options(struct lk_planning *planning,
				 const struct lk_ir_compilation *compilation, size_t *count)
{
	const char **options = lc_alloc(planning->arena, (3 + lk_most_setting_words(planning)) *
					sizeof(*options));
	char text[LK_ARCH_TEXT];

	*count = 0;
	if (!options)
		return NULL;
	options[(*count)++] = LK_CONCAT(planning->arena, "-arch=", lk_arch_text(&compilation->arch, text));
	if (compilation->to == LAZYCUDA_KIND_LTOIR)
		options[(*count)++] = GEN_LTO;
	if (asks_for_latest(&planning->request) && compilation->version >= NVVM_LATEST_SINCE)
		options[(*count)++] = NVVM_LATEST;
	*count += lk_write_settings(planning, LK_NVVM, options + *count);
	return options;
}

bool lk_compile_to_ptx(struct lc_arena *arena, struct lazycuda_plan *plan)
{
	const char **options = lc_alloc(arena, (plan->compile_option_count + 1) * sizeof(*options));
	const char **of_ir = lc_alloc(arena, (plan->nvvm_option_count + 1) * sizeof(*of_ir));
	size_t count = 0;

	if (!options || !of_ir)
		return false;
	for (size_t i = 0; i < plan->compile_option_count; i++)
		options[i] = strcmp(plan->compile_options[i], LTO_OPTION) ?
			plan->compile_options[i] : RELOCATABLE_OPTION;
	for (size_t i = 0; i < plan->nvvm_option_count; i++)
		if (strcmp(plan->nvvm_options[i], GEN_LTO))
			of_ir[count++] = plan->nvvm_options[i];
	plan->compile_options = options;
	plan->nvvm_options = of_ir;
	plan->nvvm_option_count = count;
	plan->compile_to = plan->nvvm_to = LAZYCUDA_KIND_PTX;
	return true;
}

const char *lk_ir_reason(struct lk_planning *planning, const struct lk_ir_compilation *compilation)
{
	const size_t libraries = count_libraries(planning);
	char text[LK_ARCH_TEXT];

	return lc_format(planning->arena, "compiled by %s to %s for %s%s%s",
			 compiler_text(planning->arena, LIBNVVM, compilation->version),
			 compilation->to == LAZYCUDA_KIND_LTOIR ? "LTO-IR" : "PTX",
			 lk_arch_text(&compilation->arch, text),
			 compilation->libdevice ? ", with libdevice" : "",
			 libraries ? lc_format(planning->arena, "%s with %zu librar%s",
					       compilation->libdevice ? " and" : ",", libraries,
					       libraries == 1 ? "y" : "ies") : "");
}

void lk_note_ir(struct lk_planning *planning, const struct lk_ir_compilation *compilation)
{
	const struct lk_arch *target = &planning->target, *arch = &compilation->arch;
	const char *nvvm = compilation->any ? compiler_text(planning->arena, LIBNVVM, compilation->version) : NULL;

	if (!compilation->any)
		return;
	if (arch->sm != target->sm)
		lk_note(planning, "%s does not know %s: LLVM IR is compiled for compute_%d, which is linked"
			" for it", nvvm, lk_arch(planning->arena, target->sm, target->suffix), arch->sm);
	if (compilation->no_lto)
		lk_note(planning, "LLVM IR takes no part in link-time optimisation: %s compiles it to PTX,"
			" for %s", nvvm, compilation->no_lto);
	if (!compilation->libdevice && !count_libraries(planning))
		lk_note(planning, "no libdevice.10.bc goes with %s: functions __nv_* that LLVM IR calls are"
			" not defined", nvvm);
}
