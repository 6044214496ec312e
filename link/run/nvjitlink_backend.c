/* SPDX-License-Identifier: MIT */
/* nvjitlink_backend.c - carries out a plan with nvJitLink */
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "backends.h"
#include "environment.h"
#include "tools.h"
#include "../formats/formats.h"
#include "../plan/choose.h"
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
	{ 7, LC_CUDA(12, 3), LAZYCUDA_CODE_LINK_FAILED, "THREADPOOL" },
	{ 8, LC_CUDA(12, 4), LAZYCUDA_CODE_UNKNOWN_KIND, "UNRECOGNIZED_INPUT" },
	{ 9, LC_CUDA(12, 6), LAZYCUDA_CODE_LINK_FAILED, "FINALIZE" },
	{ 10, LC_CUDA(13, 0), LAZYCUDA_CODE_BAD_INPUT, "NULL_INPUT" },
	{ 11, LC_CUDA(13, 0), LAZYCUDA_CODE_BAD_OPTION, "INCOMPATIBLE_OPTIONS" },
	{ 12, LC_CUDA(13, 0), LAZYCUDA_CODE_KIND_MISMATCH, "INCORRECT_INPUT_TYPE" },
	{ 13, LC_CUDA(13, 0), LAZYCUDA_CODE_ARCH_MISMATCH, "ARCH_MISMATCH" },
	{ 14, LC_CUDA(13, 0), LAZYCUDA_CODE_LTOIR_TOO_NEW, "OUTDATED_LIBRARY" },
	{ 15, LC_CUDA(13, 0), LAZYCUDA_CODE_NO_USABLE_ENTRY, "MISSING_FATBIN" },
	{ 16, LC_CUDA(13, 0), LAZYCUDA_CODE_BAD_ARCH, "UNRECOGNIZED_ARCH" },
	{ 17, LC_CUDA(13, 0), LAZYCUDA_CODE_ARCH_UNSUPPORTED, "UNSUPPORTED_ARCH" },
	{ 18, LC_CUDA(13, 0), LAZYCUDA_CODE_LINK_FAILED, "LTO_NOT_ENABLED" },
};

/* nvJitLink's numbers (nvJitLinkInputType); the driver has others. */
static const int kinds[LK_KINDS] = {
	[LAZYCUDA_KIND_CUBIN] = 1,
	[LAZYCUDA_KIND_PTX] = 2,
	[LAZYCUDA_KIND_LTOIR] = 3,
	[LAZYCUDA_KIND_FATBIN] = 4,
};

static bool create(struct lc_arena *arena, const struct lk_nvjitlink *linker,
		   const struct lazycuda_plan *plan, void **handle, struct lk_product *product)
{
	const char **options = lc_alloc(arena, (plan->option_count + 1) * sizeof(*options));

	if (!options) {
		lk_product_stop(product, LAZYCUDA_CODE_NO_MEMORY,
				"there is no memory for the options");
		return false;
	}
	if (plan->option_count)
		memcpy(options, plan->options, plan->option_count * sizeof(*options));
	return LK_CALL(product, "nvJitLinkCreate",
		       linker->create(handle, (uint32_t)plan->option_count, options));
}

static bool add_pieces(const struct lk_nvjitlink *linker, void *handle, const struct lk_job *job,
		       struct lk_product *product)
{
	for (size_t i = 0; i < job->count; i++) {
		const struct lk_piece *piece = &job->pieces[i];

		product->piece = i;	/* now: a child that crashes reports it */
		if (!LK_CALL(product, "nvJitLinkAddData", linker->add(handle, kinds[piece->kind],
				piece->bytes, piece->length, piece->name)))
			return false;
	}
	product->piece = LAZYCUDA_NO_INDEX;
	return true;
}

/* Sets the code and the message for a failed call. */
static void explain_nvjitlink(struct lc_arena *arena, int version, const struct lk_piece *pieces,
			      struct lk_product *product)
{
	const char *piece = product->piece == LAZYCUDA_NO_INDEX ? NULL :
		pieces[product->piece].name;
	const char *name = NULL;

	product->code = LAZYCUDA_CODE_LINK_FAILED;
	for (size_t i = 0; i < LC_COUNT(results); i++) {
		if (results[i].status != product->status || results[i].since > version)
			continue;
		name = results[i].name;
		product->code = results[i].code;
	}
	product->code = lk_code_of_log(product->error_log, product->code);
	product->message = lk_failure(arena, lc_format(arena, "nvJitLink %s", lk_version(arena, version)),
				      piece, product, name);
}

/* With -lto, nvJitLink reports two definitions in its log alone, and takes the first. */
static void refuse_duplicates(struct lc_arena *arena, int version, struct lk_product *product)
{
	char text[LK_VERSION_TEXT];

	if (lk_code_of_log(product->error_log, LAZYCUDA_CODE_OK) != LAZYCUDA_CODE_DUPLICATE_SYMBOL)
		return;
	free(product->image);
	product->image = NULL;
	product->length = 0;
	lk_product_stop(product, LAZYCUDA_CODE_DUPLICATE_SYMBOL,
			lc_format(arena, "nvJitLink %s reported success, but in its log: %s",
				  lk_version_text(version, text),
				  lk_telling_line(arena, product->error_log)));
}

const char *lk_nvjitlink_link(struct lc_arena *arena, const struct lk_job *job,
			      struct lk_product *product)
{
	const struct lk_nvjitlink *linker = lk_nvjitlink_of(job->plan->nvjitlink);
	const char *missing = linker->path ? NULL : lk_why_missing(arena, LK_NVJITLINK);
	void *handle = NULL;
	int version;

	if (missing)
		return missing;
	if (create(arena, linker, job->plan, &handle, product) &&
	    add_pieces(linker, handle, job, product) &&
	    LK_CALL(product, "nvJitLinkComplete", linker->complete(handle)))
		lk_fetch_image(arena, &linker->images[job->output], handle, product);
	/* A handle whose creation failed has a log, too. */
	if (handle) {
		product->info_log = lk_fetch_log(arena, &linker->info_log, handle);
		product->error_log = lk_fetch_log(arena, &linker->error_log, handle);
		linker->destroy(&handle);
	}
	version = linker->path ? linker->version : lk_loaded_version(LK_NVJITLINK);
	if (product->status)
		explain_nvjitlink(arena, version, job->pieces, product);
	else if (product->image)
		refuse_duplicates(arena, version, product);
	return NULL;
}
