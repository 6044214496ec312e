/* SPDX-License-Identifier: MIT */
/* job.c - one piece of work for a backend, here or, as bytes, in another process */
#include "job.h"

#include <string.h>

#include "product.h"
#include "../formats/formats.h"

void lk_do_job(struct lc_arena *arena, const struct lk_job *job, struct lk_product *product)
{
	if (job->tool == LK_DRIVER)
		lk_driver_link(arena, job->plan, job->device, job->pieces, job->count, product);
	else if (job->tool == LK_NVJITLINK)
		lk_nvjitlink_link(arena, job->plan, job->output, job->pieces, job->count, product);
	else if (job->tool == LK_NVVM)
		lk_nvvm_compile(arena, job->plan, job->pieces, job->count, product);
	else
		lk_nvrtc_compile(arena, job->plan, job->pieces, product);
}

/* ---- the job ---- */

static void put_texts(struct lk_writer *writer, const char *const *texts, size_t count)
{
	lk_wire_put_number(writer, count);
	for (size_t i = 0; i < count; i++)
		lk_wire_put_text(writer, texts[i]);
}

/* Returns false if the rest is too short for `count` elements, each of at least a number. */
static bool has_room(struct lk_reader *reader, uint64_t count)
{
	if (count > (reader->length - reader->at) / sizeof(uint64_t))
		reader->failed = true;
	return !reader->failed;
}

static const char *const *get_texts(struct lc_arena *arena, struct lk_reader *reader,
				    size_t *count)
{
	uint64_t there = lk_wire_get_number(reader);
	const char **texts = has_room(reader, there) ?
		lc_alloc(arena, ((size_t)there + 1) * sizeof(*texts)) : NULL;

	*count = texts ? (size_t)there : 0;
	for (size_t i = 0; i < *count; i++)
		texts[i] = lk_wire_get_text(reader);
	return texts;
}

void lk_put_job(struct lk_writer *writer, const struct lk_job *job)
{
	const struct lazycuda_plan *plan = job->plan;

	lk_wire_put_number(writer, job->tool);
	lk_wire_put_number(writer, job->output);
	lk_wire_put_number(writer, (uint64_t)job->device);
	lk_wire_put_number(writer, plan->compile_to);
	put_texts(writer, plan->options, plan->option_count);
	put_texts(writer, plan->compile_options, plan->compile_option_count);
	lk_wire_put_number(writer, (uint64_t)plan->nvvm);
	put_texts(writer, plan->nvvm_options, plan->nvvm_option_count);
	lk_wire_put_bytes(writer, plan->jit_options,
		     plan->jit_option_count * sizeof(*plan->jit_options));
	lk_wire_put_number(writer, job->count);
	for (size_t i = 0; i < job->count; i++) {
		lk_wire_put_number(writer, job->pieces[i].kind);
		lk_wire_put_text(writer, job->pieces[i].name);
		lk_wire_put_bytes(writer, job->pieces[i].bytes, job->pieces[i].length);
		put_texts(writer, job->pieces[i].name_expressions,
			  job->pieces[i].name_expression_count);
		put_texts(writer, job->pieces[i].include_names, job->pieces[i].header_count);
		put_texts(writer, job->pieces[i].headers, job->pieces[i].header_count);
	}
}

static void get_headers(struct lc_arena *arena, struct lk_reader *reader, struct lk_piece *piece)
{
	size_t count;

	piece->include_names = get_texts(arena, reader, &count);
	piece->headers = get_texts(arena, reader, &piece->header_count);
	if (count != piece->header_count)
		reader->failed = true;
}

static const struct lk_piece *get_pieces(struct lc_arena *arena, struct lk_reader *reader,
					 size_t *count)
{
	uint64_t there = lk_wire_get_number(reader);
	struct lk_piece *pieces = has_room(reader, there) ?
		lc_alloc(arena, ((size_t)there + 1) * sizeof(*pieces)) : NULL;

	*count = pieces ? (size_t)there : 0;
	for (size_t i = 0; i < *count; i++) {
		pieces[i].kind = (enum lazycuda_kind)lk_wire_get_number(reader);
		pieces[i].name = lk_wire_get_text(reader);
		pieces[i].bytes = lk_wire_get_bytes(reader, &pieces[i].length);
		pieces[i].name_expressions = get_texts(arena, reader,
						       &pieces[i].name_expression_count);
		get_headers(arena, reader, &pieces[i]);
		if ((unsigned)pieces[i].kind >= LK_KINDS)
			reader->failed = true;
	}
	return pieces;
}

bool lk_get_job(struct lc_arena *arena, struct lk_reader *reader, struct lk_job *job)
{
	struct lazycuda_plan *plan = lc_alloc(arena, sizeof(*plan));
	size_t size;

	if (!plan)
		return false;
	job->plan = plan;
	job->tool = (enum lk_tool)lk_wire_get_number(reader);
	job->output = (enum lazycuda_output)lk_wire_get_number(reader);
	job->device = (int)lk_wire_get_number(reader);
	plan->compile_to = (enum lazycuda_kind)lk_wire_get_number(reader);
	plan->options = get_texts(arena, reader, &plan->option_count);
	plan->compile_options = get_texts(arena, reader, &plan->compile_option_count);
	plan->nvvm = (int)lk_wire_get_number(reader);
	plan->nvvm_options = get_texts(arena, reader, &plan->nvvm_option_count);
	plan->jit_options = lk_wire_get_bytes(reader, &size);
	plan->jit_option_count = size / sizeof(*plan->jit_options);
	job->pieces = get_pieces(arena, reader, &job->count);
	return !reader->failed && !arena->failed &&
	       (job->tool != LK_NVRTC || (job->count == 1 && job->pieces->bytes)) &&
	       (job->tool != LK_NVVM || (job->count && job->pieces->bytes));
}

/* ---- the product ---- */

void lk_put_product(struct lk_writer *writer, const struct lk_job *job,
		    const struct lk_product *product)
{
	put_texts(writer, product->lowered_names,
		  product->lowered_names ? job->pieces->name_expression_count : 0);
	lk_wire_put_number(writer, product->code);
	lk_wire_put_number(writer, (uint64_t)product->status);
	lk_wire_put_number(writer, product->piece);
	lk_wire_put_number(writer, product->tile);
	lk_wire_put_text(writer, product->call);
	lk_wire_put_text(writer, product->message);
	lk_wire_put_text(writer, product->info_log);
	lk_wire_put_text(writer, product->error_log);
	lk_wire_put_bytes(writer, product->image, product->length);
}

static char *get_copy(struct lc_arena *arena, struct lk_reader *reader)
{
	size_t length;
	const char *text = lk_wire_get_bytes(reader, &length);

	return text ? lc_copy(arena, text, length) : NULL;
}

/* As many as were asked for, or none. */
static const char **get_names(struct lc_arena *arena, struct lk_reader *reader, size_t wanted)
{
	size_t count;
	const char **names = (const char **)get_texts(arena, reader, &count);

	for (size_t i = 0; i < count; i++)
		if (names[i])
			names[i] = lc_copy(arena, names[i], strlen(names[i]));
	return count && count == wanted ? names : NULL;
}

bool lk_get_product(struct lc_arena *arena, struct lk_reader *reader, const struct lk_job *job,
		    struct lk_product *product)
{
	const void *image;
	size_t length;

	*product = (struct lk_product){ .lowered_names = get_names(arena, reader,
		job->tool == LK_NVRTC ? job->pieces->name_expression_count : 0) };
	product->code = (enum lazycuda_code)lk_wire_get_number(reader);
	product->status = (int)lk_wire_get_number(reader);
	product->piece = (size_t)lk_wire_get_number(reader);
	product->tile = (size_t)lk_wire_get_number(reader);
	product->call = get_copy(arena, reader);
	product->message = get_copy(arena, reader);
	product->info_log = get_copy(arena, reader);
	product->error_log = get_copy(arena, reader);
	image = lk_wire_get_bytes(reader, &length);
	if (reader->failed || arena->failed ||
	    (product->piece != LAZYCUDA_NO_INDEX && product->piece >= job->count))
		return false;
	if (image)
		lk_copy_image(arena, image, length, product);
	return true;
}
