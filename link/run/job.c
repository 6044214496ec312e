/* SPDX-License-Identifier: MIT */
/* job.c - one piece of work for a backend, here or, as bytes, in another process */
#include "job.h"

#include <string.h>
#include <unistd.h>

#include "child.h"
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

/* ---- numbers, text and bytes, written to a file and read from memory ---- */

/*
 * Between two processes that run the same build of this library.  A reader that reads
 * past the end, or something else than was written, has failed, and from then on
 * returns zeros.
 */
struct writer {
	int fd;
	bool failed;		/* errno says why */
	uint64_t length;	/* of all so far */
	size_t used;		/* of the buffer */
	unsigned char buffer[4096];
};

struct reader {
	const unsigned char *bytes;	/* aligned as malloc() aligns */
	size_t length, at;
	bool failed;
};

/* Bytes begin at a multiple of this: linkers read them as headers, where they lie. */
#define ALIGNMENT 16

static const unsigned char zeros[ALIGNMENT];

static void write_now(struct writer *writer, const void *bytes, size_t length)
{
	writer->failed = writer->failed || !lk_write_all(writer->fd, bytes, length);
}

static void append(struct writer *writer, const void *bytes, size_t length)
{
	writer->length += length;
	if (length > sizeof(writer->buffer) - writer->used) {
		write_now(writer, writer->buffer, writer->used);
		writer->used = 0;
	}
	if (length > sizeof(writer->buffer)) {
		write_now(writer, bytes, length);
		return;
	}
	memcpy(writer->buffer + writer->used, bytes, length);
	writer->used += length;
}

static void put_number(struct writer *writer, uint64_t number)
{
	append(writer, &number, sizeof(number));
}

/* NULL is kept apart from what is empty. */
static void put_bytes(struct writer *writer, const void *bytes, size_t length)
{
	put_number(writer, bytes ? length : UINT64_MAX);
	if (!bytes)
		return;
	append(writer, zeros, (size_t)(-writer->length % ALIGNMENT));
	if (length)
		append(writer, bytes, length);
	append(writer, zeros, 1);
}

static void put_text(struct writer *writer, const char *text)
{
	put_bytes(writer, text, text ? strlen(text) : 0);
}

/* Writes what is still in the buffer; false if any write failed. */
static bool flush(struct writer *writer)
{
	write_now(writer, writer->buffer, writer->used);
	writer->used = 0;
	return !writer->failed;
}

static const unsigned char *get(struct reader *reader, uint64_t length)
{
	const unsigned char *bytes = reader->bytes + reader->at;

	if (reader->failed || length > reader->length - reader->at) {
		reader->failed = true;
		return NULL;
	}
	reader->at += (size_t)length;
	return bytes;
}

static uint64_t get_number(struct reader *reader)
{
	const unsigned char *bytes = get(reader, sizeof(uint64_t));
	uint64_t number = 0;

	if (bytes)
		memcpy(&number, bytes, sizeof(number));
	return number;
}

/* Points into what is read, aligned; a NUL follows that the length does not count. */
static const void *get_bytes(struct reader *reader, size_t *length)
{
	uint64_t size = get_number(reader);
	const unsigned char *bytes;

	*length = 0;
	if (size == UINT64_MAX || reader->failed)
		return NULL;
	get(reader, -(uint64_t)reader->at % ALIGNMENT);
	bytes = get(reader, size);
	if (!get(reader, 1) || bytes[size]) {
		reader->failed = true;
		return NULL;
	}
	*length = (size_t)size;
	return bytes;
}

static const char *get_text(struct reader *reader)
{
	size_t length;

	return get_bytes(reader, &length);
}

/* ---- the job ---- */

/* The number that begins a job; a child that expects another is of another version. */
#define JOB_STAMP UINT64_C(0x6c6b6a6f62303033)

static void put_texts(struct writer *writer, const char *const *texts, size_t count)
{
	put_number(writer, count);
	for (size_t i = 0; i < count; i++)
		put_text(writer, texts[i]);
}

/* Returns false if the rest is too short for `count` elements, each of at least a number. */
static bool has_room(struct reader *reader, uint64_t count)
{
	if (count > (reader->length - reader->at) / sizeof(uint64_t))
		reader->failed = true;
	return !reader->failed;
}

static const char *const *get_texts(struct lc_arena *arena, struct reader *reader, size_t *count)
{
	uint64_t there = get_number(reader);
	const char **texts = has_room(reader, there) ?
		lc_alloc(arena, ((size_t)there + 1) * sizeof(*texts)) : NULL;

	*count = texts ? (size_t)there : 0;
	for (size_t i = 0; i < *count; i++)
		texts[i] = get_text(reader);
	return texts;
}

bool lk_write_job(int fd, const struct lk_job *job, uint64_t memory)
{
	const struct lazycuda_plan *plan = job->plan;
	struct writer out = { .fd = fd }, *writer = &out;

	put_number(writer, JOB_STAMP);
	put_number(writer, (uint64_t)getpid());
	put_number(writer, memory);
	put_number(writer, job->tool);
	put_number(writer, job->output);
	put_number(writer, (uint64_t)job->device);
	put_number(writer, plan->compile_to);
	put_texts(writer, plan->options, plan->option_count);
	put_texts(writer, plan->compile_options, plan->compile_option_count);
	put_number(writer, (uint64_t)plan->nvvm);
	put_texts(writer, plan->nvvm_options, plan->nvvm_option_count);
	put_bytes(writer, plan->jit_options, plan->jit_option_count * sizeof(*plan->jit_options));
	put_number(writer, job->count);
	for (size_t i = 0; i < job->count; i++) {
		put_number(writer, job->pieces[i].kind);
		put_text(writer, job->pieces[i].name);
		put_bytes(writer, job->pieces[i].bytes, job->pieces[i].length);
		put_texts(writer, job->pieces[i].name_expressions,
			  job->pieces[i].name_expression_count);
		put_texts(writer, job->pieces[i].include_names, job->pieces[i].header_count);
		put_texts(writer, job->pieces[i].headers, job->pieces[i].header_count);
	}
	return flush(writer);
}

static void get_headers(struct lc_arena *arena, struct reader *reader, struct lk_piece *piece)
{
	size_t count;

	piece->include_names = get_texts(arena, reader, &count);
	piece->headers = get_texts(arena, reader, &piece->header_count);
	if (count != piece->header_count)
		reader->failed = true;
}

static const struct lk_piece *get_pieces(struct lc_arena *arena, struct reader *reader,
					 size_t *count)
{
	uint64_t there = get_number(reader);
	struct lk_piece *pieces = has_room(reader, there) ?
		lc_alloc(arena, ((size_t)there + 1) * sizeof(*pieces)) : NULL;

	*count = pieces ? (size_t)there : 0;
	for (size_t i = 0; i < *count; i++) {
		pieces[i].kind = (enum lazycuda_kind)get_number(reader);
		pieces[i].name = get_text(reader);
		pieces[i].bytes = get_bytes(reader, &pieces[i].length);
		pieces[i].name_expressions = get_texts(arena, reader,
						       &pieces[i].name_expression_count);
		get_headers(arena, reader, &pieces[i]);
		if ((unsigned)pieces[i].kind >= LK_KINDS)
			reader->failed = true;
	}
	return pieces;
}

bool lk_read_job(struct lc_arena *arena, const void *bytes, size_t length, struct lk_job *job,
		 pid_t *parent, uint64_t *memory)
{
	struct reader in = { .bytes = bytes, .length = length }, *reader = &in;
	struct lazycuda_plan *plan = lc_alloc(arena, sizeof(*plan));
	size_t size;

	if (!plan || get_number(reader) != JOB_STAMP)
		return false;
	*parent = (pid_t)get_number(reader);
	*memory = get_number(reader);
	job->plan = plan;
	job->tool = (enum lk_tool)get_number(reader);
	job->output = (enum lazycuda_output)get_number(reader);
	job->device = (int)get_number(reader);
	plan->compile_to = (enum lazycuda_kind)get_number(reader);
	plan->options = get_texts(arena, reader, &plan->option_count);
	plan->compile_options = get_texts(arena, reader, &plan->compile_option_count);
	plan->nvvm = (int)get_number(reader);
	plan->nvvm_options = get_texts(arena, reader, &plan->nvvm_option_count);
	plan->jit_options = get_bytes(reader, &size);
	plan->jit_option_count = size / sizeof(*plan->jit_options);
	job->pieces = get_pieces(arena, reader, &job->count);
	return !reader->failed && !arena->failed &&
	       (job->tool != LK_NVRTC || (job->count == 1 && job->pieces->bytes)) &&
	       (job->tool != LK_NVVM || (job->count && job->pieces->bytes));
}

/* ---- the product ---- */

bool lk_write_product(int fd, const struct lk_job *job, const struct lk_product *product)
{
	struct writer out = { .fd = fd }, *writer = &out;

	put_texts(writer, product->lowered_names,
		  product->lowered_names ? job->pieces->name_expression_count : 0);
	put_number(writer, product->code);
	put_number(writer, (uint64_t)product->status);
	put_number(writer, product->piece);
	put_number(writer, product->tile);
	put_text(writer, product->call);
	put_text(writer, product->message);
	put_text(writer, product->info_log);
	put_text(writer, product->error_log);
	put_bytes(writer, product->image, product->length);
	return flush(writer);
}

static char *get_copy(struct lc_arena *arena, struct reader *reader)
{
	size_t length;
	const char *text = get_bytes(reader, &length);

	return text ? lc_copy(arena, text, length) : NULL;
}

/* As many as were asked for, or none. */
static const char **get_names(struct lc_arena *arena, struct reader *reader, size_t wanted)
{
	size_t count;
	const char **names = (const char **)get_texts(arena, reader, &count);

	for (size_t i = 0; i < count; i++)
		if (names[i])
			names[i] = lc_copy(arena, names[i], strlen(names[i]));
	return count && count == wanted ? names : NULL;
}

bool lk_read_product(struct lc_arena *arena, const void *bytes, size_t size, const struct lk_job *job,
		     struct lk_product *product)
{
	struct reader in = { .bytes = bytes, .length = size }, *reader = &in;
	const void *image;
	size_t length;

	*product = (struct lk_product){ .lowered_names = get_names(arena, reader,
		job->tool == LK_NVRTC ? job->pieces->name_expression_count : 0) };
	product->code = (enum lazycuda_code)get_number(reader);
	product->status = (int)get_number(reader);
	product->piece = (size_t)get_number(reader);
	product->tile = (size_t)get_number(reader);
	product->call = get_copy(arena, reader);
	product->message = get_copy(arena, reader);
	product->info_log = get_copy(arena, reader);
	product->error_log = get_copy(arena, reader);
	image = get_bytes(reader, &length);
	if (reader->failed || arena->failed ||
	    (product->piece != LAZYCUDA_NO_INDEX && product->piece >= job->count))
		return false;
	if (image)
		lk_copy_image(arena, image, length, product);
	return true;
}
