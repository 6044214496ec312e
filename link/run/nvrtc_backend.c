/* SPDX-License-Identifier: MIT */
/* nvrtc_backend.c - compiles source with nvrtc */
#include "backends.h"
#include "calls.h"
#include "environment.h"
#include "product.h"
#include "../tables/versions.h"

enum { OUT_OF_MEMORY = 1 };	/* of nvrtcResult; the log explains all others */

static const struct lk_getter log_getter = LK_GETTER(nvrtcGetProgramLog);
static const struct lk_getter images[LAZYCUDA_KIND_KINDS] = {
	[LAZYCUDA_KIND_PTX] = LK_GETTER(nvrtcGetPTX),
	[LAZYCUDA_KIND_CUBIN] = LK_GETTER(nvrtcGetCUBIN),
	[LAZYCUDA_KIND_LTOIR] = LK_GETTER(nvrtcGetLTOIR),
};

static bool create(const char *source, const char *name, void **program,
		   struct lk_product *product)
{
	product->call = "nvrtcCreateProgram";
	product->status = nvrtcCreateProgram(program, source, name, 0, NULL, NULL);
	return !product->status;
}

static bool compile(struct lc_arena *arena, void *program, const struct lazycuda_plan *plan,
		    struct lk_product *product)
{
	char *log;

	product->call = "nvrtcCompileProgram";
	product->status = nvrtcCompileProgram(program, (int)plan->compile_option_count,
					      plan->compile_options);
	/* nvrtc has one log: warnings if it succeeded, errors if not. */
	log = lk_fetch_log(arena, &log_getter, program);
	*(product->status ? &product->error_log : &product->info_log) = log;
	return !product->status;
}

static void explain(struct lc_arena *arena, const char *name, struct lk_product *product)
{
	char text[LK_VERSION_TEXT];

	product->code = product->status == OUT_OF_MEMORY ? LAZYCUDA_CODE_NO_MEMORY :
		LAZYCUDA_CODE_COMPILE_FAILED;
	product->message = lk_failure(arena, lc_format(arena, "nvrtc %s",
			lk_version_text(lk_loaded_version(LK_NVRTC), text)),
		name, product, nvrtcGetErrorString(product->status));
}

void lk_nvrtc_compile(struct lc_arena *arena, const struct lazycuda_plan *plan,
		      const char *source, const char *name, struct lk_product *product)
{
	const char *missing = lk_why_missing(arena, LK_NVRTC);
	void *program = NULL;

	*product = (struct lk_product){ .piece = LAZYCUDA_NO_INDEX };
	if (missing) {
		lk_product_stop(product, LAZYCUDA_CODE_BACKEND_MISSING, missing);
		return;
	}
	if (create(source, name, &program, product) && compile(arena, program, plan, product))
		lk_fetch_image(arena, &images[plan->compile_to], program, product);
	if (product->status)
		explain(arena, name, product);
	if (program)
		nvrtcDestroyProgram(&program);
}
