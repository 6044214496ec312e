/* SPDX-License-Identifier: MIT */
/*
 * driver_backend.c - carries out a plan with the driver's own linker
 *
 * The driver writes to the arrays and buffers passed to cuLinkCreate() until
 * cuLinkDestroy() has returned.  So they belong to struct jit, which outlives the link.
 */
#include <stdlib.h>
#include <string.h>

#include "../../include/lazycuda.h"
#include "../../stubs/base/count.h"
#include "backends.h"
#include "calls.h"
#include "environment.h"
#include "../formats/formats.h"
#include "../plan/choose.h"
#include "../tables/versions.h"

/* The driver's numbers (CUjitInputType); nvJitLink has others. */
static const int kinds[LK_KINDS] = {
	[LAZYCUDA_KIND_CUBIN] = 0,
	[LAZYCUDA_KIND_PTX] = 1,
	[LAZYCUDA_KIND_FATBIN] = 2,
};

/* CUjit_option. */
enum { INFO_LOG = 3, INFO_LOG_SIZE = 4, ERROR_LOG = 5, ERROR_LOG_SIZE = 6, OWN_OPTIONS = 4 };

#define LOG_BYTES ((size_t)65536)

/* The memory that the driver writes to while the link exists. */
struct jit {
	char info[LOG_BYTES], error[LOG_BYTES];
	void **values;
	int options[];
};

struct driver {
	/* The device whose primary context is used if none was current. */
	int ordinal;
	bool retained, pushed;
	void *link;
};

/* Results of cuLink* that have a code of their own. */
static const struct { int status; enum lazycuda_code code; } results[] = {
	{ 2, LAZYCUDA_CODE_NO_MEMORY },		/* OUT_OF_MEMORY */
	{ 200, LAZYCUDA_CODE_BAD_INPUT },		/* INVALID_IMAGE */
	{ 209, LAZYCUDA_CODE_ARCH_MISMATCH },	/* NO_BINARY_FOR_GPU */
	{ 218, LAZYCUDA_CODE_BAD_INPUT },		/* INVALID_PTX */
	{ 221, LAZYCUDA_CODE_BACKEND_MISSING },	/* JIT_COMPILER_NOT_FOUND */
	{ 222, LAZYCUDA_CODE_PTX_TOO_NEW },		/* UNSUPPORTED_PTX_VERSION */
};

#define DO(function, ...) LK_CALL(product, #function, function(__VA_ARGS__))

/* ---- the context ---- */

static bool enter(struct driver *driver, int device, struct lk_product *product)
{
	void *context = NULL;

	if (!DO(cuInit, 0) || !DO(cuCtxGetCurrent, &context))
		return false;
	if (context)
		return true;
	if (!DO(cuDeviceGet, &driver->ordinal, device))
		return false;
	driver->retained = DO(cuDevicePrimaryCtxRetain, &context, driver->ordinal);
	if (!driver->retained)
		return false;
	driver->pushed = DO(cuCtxPushCurrent_v2, context);
	return driver->pushed;
}

static void leave(struct driver *driver)
{
	void *context;

	if (driver->pushed)
		cuCtxPopCurrent_v2(&context);
	if (driver->retained)
		cuDevicePrimaryCtxRelease_v2(driver->ordinal);
}

/* ---- the link ---- */

static struct jit *new_jit(const struct lazycuda_plan *plan, unsigned *count)
{
	size_t planned = plan->jit_option_count, all = planned + OWN_OPTIONS;
	struct jit *jit = calloc(1, sizeof(*jit) + all * sizeof(int));

	if (!jit || !(jit->values = calloc(all, sizeof(void *)))) {
		free(jit);
		return NULL;
	}
	const struct { int option; void *value; } own[OWN_OPTIONS] = {
		{ INFO_LOG, jit->info }, { INFO_LOG_SIZE, (void *)LOG_BYTES },
		{ ERROR_LOG, jit->error }, { ERROR_LOG_SIZE, (void *)LOG_BYTES },
	};
	for (size_t i = 0; i < OWN_OPTIONS; i++) {
		jit->options[i] = own[i].option;
		jit->values[i] = own[i].value;
	}
	for (size_t i = 0; i < planned; i++) {
		jit->options[OWN_OPTIONS + i] = plan->jit_options[i].option;
		jit->values[OWN_OPTIONS + i] = (void *)(uintptr_t)plan->jit_options[i].value;
	}
	*count = (unsigned)all;
	return jit;
}

static void free_jit(struct jit *jit)
{
	free(jit->values);
	free(jit);
}

static bool add_data(struct driver *driver, const struct lk_job *job, struct lk_product *product)
{
	for (size_t i = 0; i < job->count; i++) {
		const struct lk_piece *piece = &job->pieces[i];
		/* For PTX the driver wants the NUL counted. */
		size_t length = piece->length + (piece->kind == LAZYCUDA_KIND_PTX);

		product->piece = i;	/* now: a child that crashes reports it */
		if (!DO(cuLinkAddData_v2, driver->link, kinds[piece->kind],
			(void *)piece->bytes, length, piece->name, 0, NULL, NULL))
			return false;
	}
	product->piece = LAZYCUDA_NO_INDEX;
	return true;
}

/* The image belongs to the link, so it is copied before the link is destroyed. */
static bool complete_link(struct lc_arena *arena, struct driver *driver, struct lk_product *product)
{
	size_t length = 0;
	void *image = NULL;

	return DO(cuLinkComplete, driver->link, &image, &length) &&
	       lk_copy_image(arena, image, length, product);
}

static char *copy_log(struct lc_arena *arena, const char *log)
{
	return *log ? lc_copy(arena, log, strnlen(log, LOG_BYTES)) : NULL;
}

/* Returns false if a call failed.  Other failures return true and are in product->code. */
static bool link_with_driver(struct lc_arena *arena, struct driver *driver, const struct lk_job *job,
			     struct lk_product *product)
{
	unsigned option_count;
	struct jit *jit = new_jit(job->plan, &option_count);
	bool created;

	if (!jit) {
		lk_product_stop(product, LAZYCUDA_CODE_NO_MEMORY,
				"there is no memory for the link");
		return true;
	}
	created = DO(cuLinkCreate_v2, option_count, jit->options, jit->values,
		     &driver->link);
	if (created && add_data(driver, job, product))
		complete_link(arena, driver, product);
	/* cuLinkDestroy() writes to the buffers once more. */
	product->info_log = copy_log(arena, jit->info);
	product->error_log = copy_log(arena, jit->error);
	if (created)
		cuLinkDestroy(driver->link);
	free_jit(jit);
	return !product->status;
}

/* ---- the outcome ---- */

/* Returns true if the call failed because this driver has no such function. */
static bool is_absent(const struct lk_product *product, const char **why)
{
	const struct lazycuda_error *error = lazycuda_get_error("cuda");

	*why = error ? error->message : "";
	return error && error->cause == LAZYCUDA_CAUSE_SYMBOL_MISSING &&
	       error->status == product->status && !strcmp(error->function, product->call);
}

static void explain_driver(struct lc_arena *arena, bool in_context, const struct lk_piece *pieces,
			   struct lk_product *product)
{
	const char *piece = product->piece == LAZYCUDA_NO_INDEX ? NULL :
		pieces[product->piece].name;
	const char *name = NULL, *why;

	if (is_absent(product, &why)) {
		lk_product_stop(product, LAZYCUDA_CODE_BACKEND_MISSING, why);
		return;
	}
	product->code = in_context ? LAZYCUDA_CODE_LINK_FAILED : LAZYCUDA_CODE_DRIVER_FAILED;
	for (size_t i = 0; in_context && i < LC_COUNT(results); i++)
		if (results[i].status == product->status)
			product->code = results[i].code;
	product->code = lk_code_of_log(product->error_log, product->code);
	if (cuGetErrorName(product->status, &name))
		name = NULL;
	product->message = lk_failure(arena, lc_format(arena, "the driver (CUDA %s)",
						       lk_version(arena, lk_loaded_version(LK_DRIVER))),
				      piece, product, name);
}

const char *lk_driver_link(struct lc_arena *arena, const struct lk_job *job, struct lk_product *product)
{
	struct driver driver = { .link = NULL };
	const char *missing = lk_why_missing(arena, LK_DRIVER);
	bool in_context;

	if (missing)
		return missing;
	in_context = enter(&driver, job->device, product);
	if (!in_context || !link_with_driver(arena, &driver, job, product))
		explain_driver(arena, in_context, job->pieces, product);
	else
		product->call = NULL;
	leave(&driver);
	return NULL;
}
