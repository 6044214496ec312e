/* SPDX-License-Identifier: MIT */
/* nvrtc_backend.c - source compiled by nvrtc */
#include "backends.h"
#include "calls.h"
#include "environment.h"
#include "product.h"
#include "../tables/versions.h"

enum { OUT_OF_MEMORY = 1 };	/* of nvrtcResult; all others are for the log to explain */

static const struct lc_getter log_getter = LC_GETTER(nvrtcGetProgramLog);
static const struct lc_getter images[LAZYCUDA_KIND_KINDS] = {
	[LAZYCUDA_KIND_PTX] = LC_GETTER(nvrtcGetPTX),
	[LAZYCUDA_KIND_CUBIN] = LC_GETTER(nvrtcGetCUBIN),
	[LAZYCUDA_KIND_LTOIR] = LC_GETTER(nvrtcGetLTOIR),
};

static bool create(const char *source, const char *name, void **program,
		   struct lc_product *product)
{
	product->call = "nvrtcCreateProgram";
	product->status = nvrtcCreateProgram(program, source, name, 0, NULL, NULL);
	return !product->status;
}

static bool compile(struct lc_arena *arena, void *program, const struct lazycuda_plan *plan,
		    struct lc_product *product)
{
	char *log;

	product->call = "nvrtcCompileProgram";
	product->status = nvrtcCompileProgram(program, (int)plan->compile_option_count,
					      plan->compile_options);
	/* nvrtc has one log: warnings if it succeeded, errors if not. */
	log = lc_fetch_log(arena, &log_getter, program);
	*(product->status ? &product->error_log : &product->info_log) = log;
	return !product->status;
}

static void explain(struct lc_arena *arena, const char *name, struct lc_product *product)
{
	char text[LC_VERSION_TEXT];

	product->code = product->status == OUT_OF_MEMORY ? LAZYCUDA_CODE_NO_MEMORY :
		LAZYCUDA_CODE_COMPILE_FAILED;
	product->message = lc_failure(arena, lc_format(arena, "nvrtc %s",
			lc_version_text(lc_loaded_version(LC_NVRTC), text)),
		name, product, nvrtcGetErrorString(product->status));
}

void lc_nvrtc_compile(struct lc_arena *arena, const struct lazycuda_plan *plan,
		      const char *source, const char *name, struct lc_product *product)
{
	const char *missing = lc_why_missing(arena, LC_NVRTC);
	void *program = NULL;

	*product = (struct lc_product){ .piece = LAZYCUDA_NO_INDEX };
	if (missing) {
		lc_product_stop(product, LAZYCUDA_CODE_BACKEND_MISSING, missing);
		return;
	}
	if (create(source, name, &program, product) && compile(arena, program, plan, product))
		lc_fetch_image(arena, &images[plan->compile_to], program, product);
	if (product->status)
		explain(arena, name, product);
	if (program)
		nvrtcDestroyProgram(&program);
}
