/* SPDX-License-Identifier: MIT */
/* nvrtc_backend.c - compiles source with nvrtc */
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "environment.h"
#include "tools.h"
#include "../../stubs/base/count.h"
#include "../formats/formats.h"
#include "../tables/toolkit.h"
#include "../tables/versions.h"

/* ---- headers ---- */

/* The options of the plan, and after them an -I for each folder of headers that goes with the nvrtc of
 * this file and version. */
static const char **options_with_headers(struct lc_arena *arena, const struct lazycuda_plan *plan,
					 const char *nvrtc, int version, size_t *count)
{
	const struct lc_strings folders = lk_header_folders(arena, nvrtc ? nvrtc : "", version);
	const char **options = lc_alloc(arena, (plan->compile_option_count + folders.count + 1) *
					sizeof(*options));

	*count = plan->compile_option_count;
	if (!options)
		return NULL;
	memcpy(options, plan->compile_options, *count * sizeof(*options));
	for (size_t i = 0; i < folders.count; i++)
		options[(*count)++] = lc_format(arena, "-I%s", folders.list[i]);
	return options;
}

/* What to do about a header that is missing, by nvrtc's log; "" if none is. */
static const char *header_advice(struct lc_arena *arena, const char *log, int version)
{
	const char *headers = lk_component_package("headers", version);

	if (!log || !strstr(log, "open source file") || !headers)
		return "";
	return lc_format(arena, "; CUDA's headers are looked for beside nvrtc (pip install"
			 " %s, and %s for CCCL), and where -I says%s", headers,
			 lk_component_package("cccl", version), version < LC_CUDA(13, 3) ? "" :
			 "; --use-bundled-headers=FOLDER unpacks those that this nvrtc has");
}

/* The folder that option `i` adds to the include path, or NULL. */
static const char *included(const struct lazycuda_plan *plan, size_t i)
{
	static const char *const words[] = { "-I", "--include-path" };
	const char *option = plan->compile_options[i];

	for (size_t w = 0; w < LC_COUNT(words); w++) {
		size_t length = strlen(words[w]);

		if (strncmp(option, words[w], length))
			continue;
		option += length + (option[length] == '=');
		return *option ? option : i + 1 < plan->compile_option_count ?
		       plan->compile_options[i + 1] : NULL;
	}
	return NULL;
}

const char *lk_other_headers(struct lc_arena *arena, const struct lazycuda_plan *plan)
{
	for (size_t i = 0; i < plan->compile_option_count; i++) {
		const char *folder = included(plan, i);
		int found = folder ? lk_header_version(lc_format(arena, "%s/cuda.h", folder)) : 0;
		char headers[LK_VERSION_TEXT], nvrtc[LK_VERSION_TEXT];

		if (found && found != plan->nvrtc)
			return lc_format(arena, "CUDA's headers in %s are of %s, and nvrtc is of %s: leave out"
					 " the -I, and those of its own CUDA are searched for",
					 lc_printable(arena, folder),
					 lk_version_text(found, headers),
					 lk_version_text(plan->nvrtc, nvrtc));
	}
	return NULL;
}

/* ---- the compilation ---- */

static bool new_program(const struct lk_nvrtc *compiler, const struct lk_piece *source,
			void **program, struct lk_product *product)
{
	bool any = source->header_count;

	return LK_CALL(product, "nvrtcCreateProgram",
		       compiler->create(program, source->bytes, source->name, (int)source->header_count,
					any ? source->headers : NULL, any ? source->include_names : NULL));
}

static bool add_expressions(const struct lk_nvrtc *compiler, void *program,
			    const struct lk_piece *source, struct lk_product *product)
{
	for (size_t i = 0; i < source->name_expression_count; i++)
		if (!LK_CALL(product, "nvrtcAddNameExpression",
			     compiler->add_expression(program, source->name_expressions[i])))
			return false;
	return true;
}

/* The names belong to the program. */
static bool lower_names(struct lc_arena *arena, const struct lk_nvrtc *compiler, void *program,
			const struct lk_piece *source, struct lk_product *product)
{
	const char *name = NULL;

	if (source->name_expression_count)
		product->lowered_names = lc_alloc(arena, source->name_expression_count *
						  sizeof(*product->lowered_names));
	for (size_t i = 0; product->lowered_names && i < source->name_expression_count; i++) {
		if (!LK_CALL(product, "nvrtcGetLoweredName",
			     compiler->lowered_name(program, source->name_expressions[i], &name)))
			return false;
		product->lowered_names[i] = lc_copy(arena, name, strlen(name));
	}
	return true;
}

static int version_of(const struct lk_nvrtc *compiler)
{
	return compiler->path ? compiler->version : lk_loaded_version(LK_NVRTC);
}

static bool compile(struct lc_arena *arena, const struct lk_nvrtc *compiler, void *program,
		    const struct lazycuda_plan *plan, struct lk_product *product)
{
	const char *path = compiler->path ? compiler->path : lk_loaded_file(LK_NVRTC);
	const char **options;
	size_t count;
	bool done;

	options = options_with_headers(arena, plan, path, version_of(compiler), &count);
	if (!options) {
		lk_product_stop(product, LAZYCUDA_CODE_NO_MEMORY, "there is no memory for options");
		return false;
	}
	done = LK_CALL(product, "nvrtcCompileProgram", compiler->compile(program, (int)count, options));
	/* nvrtc has one log: warnings if it succeeded, errors if not. */
	*(done ? &product->info_log : &product->error_log) = lk_fetch_log(arena, &compiler->log, program);
	return done;
}

/* ---- a precompiled header ---- */

enum { PCH_HEAP_EXHAUSTED = 14 };

static bool makes_header(const struct lazycuda_plan *plan)
{
	for (size_t i = 0; i < plan->compile_option_count; i++) {
		const char *option = plan->compile_options[i];

		option += strspn(option, "-");
		if (!strcmp(option, "pch") || !strcmp(option, "pch=true") || !strncmp(option, "create-pch", 10))
			return true;
	}
	return false;
}

/* Says in the log what became of a precompiled header.  Returns true if there is room for it now, so
 * that the program is to be compiled again. */
static bool lacks_heap(struct lc_arena *arena, const struct lk_nvrtc *compiler, void *program,
		       const struct lazycuda_plan *plan, struct lk_product *product)
{
	const char *log = product->info_log;
	size_t size = 0;
	int status;

	if (!makes_header(plan) || version_of(compiler) < LC_CUDA(12, 8) || !compiler->pch_status)
		return false;
	/* It has used one. */
	if (log && strstr(log, "using precompiled header file"))
		return false;
	status = compiler->pch_status(program);
	if (status == PCH_HEAP_EXHAUSTED && !compiler->pch_heap_required(program, &size) && size)
		return !compiler->set_pch_heap(size);
	product->info_log = lc_format(arena, "%s%snvrtc made %s precompiled header%s%s", log ? log : "",
				      log ? "\n" : "", status ? "no" : "a", status ? ": " : "",
				      status ? compiler->error_string(status) : "");
	return false;
}

/* How much Tile IR the program became besides, if that has kernels.  Versions before 13.3 make
 * none. */
static size_t size_of_tile_ir(const struct lk_nvrtc *compiler, void *program)
{
	const struct lk_getter *getter = &compiler->images[LAZYCUDA_KIND_TILEIR];
	size_t size = 0;
	char *bytes;

	if (getter->size(program, &size) || !size)
		return 0;
	bytes = malloc(size);
	/* Without memory it counts as kernels: they are not to be dropped unseen. */
	if (bytes && !getter->get(program, bytes) && !lk_tile_has_kernels(bytes, size))
		size = 0;
	free(bytes);
	return size;
}

/* The name expression that a log complains of, in words and with nvrtc's blanks; "" if it does of
 * none. */
static const char *bad_expression(struct lc_arena *arena, const char *log)
{
	static const char phrase[] = "Input name expression was: \"";
	const char *found = log ? strstr(log, phrase) : NULL, *name;

	if (!found)
		return "";
	found += strlen(phrase);
	found += strspn(found, " ");
	name = lc_copy(arena, found, strcspn(found, "\"\n"));
	return name ? lc_format(arena, "; that is the name expression %s", lc_printable(arena, name)) : "";
}

const char *lk_nvrtc_compile(struct lc_arena *arena, const struct lk_job *job,
			     struct lk_product *product)
{
	const struct lazycuda_plan *plan = job->plan;
	const struct lk_piece *source = job->pieces;
	const struct lk_nvrtc *compiler = lk_nvrtc_of(plan->nvrtc);
	const char *missing = compiler->path ? NULL : lk_why_missing(arena, LK_NVRTC);
	const char *other;
	void *program = NULL;
	int tries = 0;
	bool done;

	if (missing)
		return missing;
	do {
		if (program)
			compiler->destroy(&program);
		done = new_program(compiler, source, &program, product) &&
		       add_expressions(compiler, program, source, product) &&
		       compile(arena, compiler, program, plan, product);
	} while (done && lacks_heap(arena, compiler, program, plan, product) && !tries++);
	if (done && lower_names(arena, compiler, program, source, product)) {
		product->tile = size_of_tile_ir(compiler, program);
		if (plan->compile_to == LAZYCUDA_KIND_TILEIR && !product->tile)
			lk_product_stop(product, LAZYCUDA_CODE_NO_DEVICE_CODE, lc_format(arena,
				"%s: there is no __tile_global__ kernel in it",
				lc_printable(arena, source->name)));
		else
			lk_fetch_image(arena, &compiler->images[plan->compile_to], program, product);
	}
	if (product->status) {
		lk_explain_compiler(arena, "nvrtc", version_of(compiler), source->name,
				    compiler->error_string(product->status), product);
		other = lk_other_headers(arena, plan);
		product->message = lc_format(arena, "%s%s%s%s%s", product->message, other ? "; " : "",
					     other ? other : "", bad_expression(arena, product->error_log),
					     header_advice(arena, product->error_log,
								   version_of(compiler)));
	}
	if (program)
		compiler->destroy(&program);
	return NULL;
}
