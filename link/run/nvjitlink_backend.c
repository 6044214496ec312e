/* SPDX-License-Identifier: MIT */
/* nvjitlink_backend.c - carries out a plan with nvJitLink */
#include <string.h>

#include "backends.h"
#include "calls.h"
#include "environment.h"
#include "product.h"
#include "../tables/versions.h"

/* Before the version in `since`, a result means something else, or nothing. */
static const struct {
	int status, since;
	enum lazycuda_code code;
	const char *name;
} results[] = {
	{ 1, 0, LAZYCUDA_CODE_OPTION_UNSUPPORTED, "UNRECOGNIZED_OPTION" },
	{ 2, 0, LAZYCUDA_CODE_BAD_ARCH, "MISSING_ARCH" },
	{ 3, 0, LAZYCUDA_CODE_LINK_FAILED, "INVALID_INPUT" },
	{ 4, 0, LAZYCUDA_CODE_LINK_FAILED, "PTX_COMPILE" },
	{ 5, 0, LAZYCUDA_CODE_LINK_FAILED, "NVVM_COMPILE" },
	{ 6, 0, LAZYCUDA_CODE_LINK_FAILED, "INTERNAL" },
	{ 7, LK_CUDA(12, 3), LAZYCUDA_CODE_LINK_FAILED, "THREADPOOL" },
	{ 8, LK_CUDA(12, 4), LAZYCUDA_CODE_UNKNOWN_KIND, "UNRECOGNIZED_INPUT" },
	{ 9, LK_CUDA(12, 6), LAZYCUDA_CODE_LINK_FAILED, "FINALIZE" },
	{ 10, LK_CUDA(13, 0), LAZYCUDA_CODE_BAD_INPUT, "NULL_INPUT" },
	{ 11, LK_CUDA(13, 0), LAZYCUDA_CODE_BAD_OPTION, "INCOMPATIBLE_OPTIONS" },
	{ 12, LK_CUDA(13, 0), LAZYCUDA_CODE_KIND_MISMATCH, "INCORRECT_INPUT_TYPE" },
	{ 13, LK_CUDA(13, 0), LAZYCUDA_CODE_ARCH_MISMATCH, "ARCH_MISMATCH" },
	{ 14, LK_CUDA(13, 0), LAZYCUDA_CODE_LTOIR_TOO_NEW, "OUTDATED_LIBRARY" },
	{ 15, LK_CUDA(13, 0), LAZYCUDA_CODE_NO_USABLE_ENTRY, "MISSING_FATBIN" },
	{ 16, LK_CUDA(13, 0), LAZYCUDA_CODE_BAD_ARCH, "UNRECOGNIZED_ARCH" },
	{ 17, LK_CUDA(13, 0), LAZYCUDA_CODE_ARCH_UNSUPPORTED, "UNSUPPORTED_ARCH" },
	{ 18, LK_CUDA(13, 0), LAZYCUDA_CODE_LINK_FAILED, "LTO_NOT_ENABLED" },
};

/* nvJitLink's numbers (nvJitLinkInputType); the driver has others. */
static const int kinds[LAZYCUDA_KIND_KINDS] = {
	[LAZYCUDA_KIND_CUBIN] = 1,
	[LAZYCUDA_KIND_PTX] = 2,
	[LAZYCUDA_KIND_LTOIR] = 3,
	[LAZYCUDA_KIND_FATBIN] = 4,
};

static const struct lk_getter info_log = LK_GETTER(nvJitLinkGetInfoLog);
static const struct lk_getter error_log = LK_GETTER(nvJitLinkGetErrorLog);
static const struct lk_getter images[] = {
	[LAZYCUDA_OUTPUT_CUBIN] = LK_GETTER(nvJitLinkGetLinkedCubin),
	[LAZYCUDA_OUTPUT_RELOCATABLE] = LK_GETTER(nvJitLinkGetLinkedCubin),
	[LAZYCUDA_OUTPUT_PTX] = LK_GETTER(nvJitLinkGetLinkedPtx),
	[LAZYCUDA_OUTPUT_LTOIR] = LK_GETTER(nvJitLinkGetLinkedLTOIR),
};

static bool create(struct lc_arena *arena, const struct lazycuda_plan *plan, void **handle,
		   struct lk_product *product)
{
	const char **options = lc_alloc(arena, (plan->option_count + 1) * sizeof(*options));

	if (!options) {
		lk_product_stop(product, LAZYCUDA_CODE_NO_MEMORY,
				"there is no memory for the options");
		return false;
	}
	if (plan->option_count)
		memcpy(options, plan->options, plan->option_count * sizeof(*options));
	product->call = "nvJitLinkCreate";
	product->status = nvJitLinkCreate(handle, (uint32_t)plan->option_count, options);
	return !product->status;
}

static bool add(void *handle, const struct lk_piece *pieces, size_t count,
		struct lk_product *product)
{
	product->call = "nvJitLinkAddData";
	for (size_t i = 0; i < count; i++) {
		product->status = nvJitLinkAddData(handle, kinds[pieces[i].kind], pieces[i].bytes,
						   pieces[i].length, pieces[i].name);
		if (product->status) {
			product->piece = i;
			return false;
		}
	}
	return true;
}

static bool complete(void *handle, struct lk_product *product)
{
	product->call = "nvJitLinkComplete";
	product->status = nvJitLinkComplete(handle);
	return !product->status;
}

/* Sets the code and the message for a failed call. */
static void explain(struct lc_arena *arena, int version, const struct lk_piece *pieces,
		    struct lk_product *product)
{
	const char *piece = product->piece == LAZYCUDA_NO_INDEX ? NULL :
		pieces[product->piece].name;
	const char *name = NULL;
	char text[LK_VERSION_TEXT];

	product->code = LAZYCUDA_CODE_LINK_FAILED;
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		if (results[i].status != product->status || results[i].since > version)
			continue;
		name = results[i].name;
		product->code = results[i].code;
	}
	product->code = lk_code_of_log(product->error_log, product->code);
	product->message = lk_failure(arena, lc_format(arena, "nvJitLink %s",
						       lk_version_text(version, text)),
				      piece, product, name);
}

void lk_nvjitlink_link(struct lc_arena *arena, const struct lazycuda_plan *plan,
		       enum lazycuda_output output, const struct lk_piece *pieces, size_t count,
		       struct lk_product *product)
{
	const char *missing = lk_why_missing(arena, LK_NVJITLINK);
	void *handle = NULL;

	*product = (struct lk_product){ .piece = LAZYCUDA_NO_INDEX };
	if (missing) {
		lk_product_stop(product, LAZYCUDA_CODE_BACKEND_MISSING, missing);
		return;
	}
	if (create(arena, plan, &handle, product) && add(handle, pieces, count, product) &&
	    complete(handle, product))
		lk_fetch_image(arena, &images[output], handle, product);
	/* A handle whose creation failed has a log, too. */
	if (handle) {
		product->info_log = lk_fetch_log(arena, &info_log, handle);
		product->error_log = lk_fetch_log(arena, &error_log, handle);
		nvJitLinkDestroy(&handle);
	}
	if (product->status)
		explain(arena, lk_loaded_version(LK_NVJITLINK), pieces, product);
}
