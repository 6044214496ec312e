/* SPDX-License-Identifier: MIT */
/* job.c - one piece of work for a backend, here or, as bytes, in another process */
#include "job.h"

#include <string.h>
#include <unistd.h>

#include "child.h"
#include "../formats/formats.h"

void lk_do_job(struct lc_arena *arena, const struct lk_job *job, struct lk_product *product)
{
	static lk_backend *const backends[] = {
		[LK_NVRTC] = lk_nvrtc_compile, [LK_NVJITLINK] = lk_nvjitlink_link,
		[LK_DRIVER] = lk_driver_link, [LK_NVVM] = lk_nvvm_compile,
	};
	const char *missing;

	*product = (struct lk_product){ .piece = LAZYCUDA_NO_INDEX };
	missing = backends[job->tool](arena, job, product);
	if (missing)
		lk_product_stop(product, LAZYCUDA_CODE_BACKEND_MISSING, missing);
}

/* ---- numbers, text and bytes, written to a file or read from memory ---- */

/*
 * Between two processes that run the same build of this library.  What is passed is described once,
 * by functions that take a value to be written and return it, or return the value that is read.  If
 * what is read ends too early, or is something else than was written, it has failed, and from then on
 * zeros are read.
 */
struct wire {
	struct lc_arena *arena;		/* what is read is allocated here */
	bool writes, copies;		/* copies: text that is read, which else points into the bytes */
	bool failed;			/* of a file, errno says why */
	uint64_t at;			/* bytes so far */
	const unsigned char *bytes;	/* to read, aligned as malloc() aligns */
	size_t length;
	int fd;				/* to write to, through the buffer */
	size_t used;
	unsigned char buffer[4096];
};

/* Bytes begin at a multiple of this: linkers read them as headers, where they lie. */
#define ALIGNMENT 16

static const unsigned char zeros[ALIGNMENT];

static bool flush(struct wire *wire)
{
	wire->failed = wire->failed || !lk_write_all(wire->fd, wire->buffer, wire->used);
	wire->used = 0;
	return !wire->failed;
}

/* Passes bytes without their length.  Returns those that are read, NULL if there are not so many. */
static const unsigned char *pass(struct wire *wire, const void *bytes, uint64_t length)
{
	const unsigned char *read = wire->bytes + wire->at;

	if (!wire->writes) {
		wire->failed |= length > wire->length - wire->at;
		wire->at += wire->failed ? 0 : length;
		return wire->failed ? NULL : read;
	}
	wire->at += length;
	if (length > sizeof(wire->buffer) - wire->used)
		flush(wire);
	if (length > sizeof(wire->buffer)) {
		wire->failed = wire->failed || !lk_write_all(wire->fd, bytes, length);
	} else if (length) {
		memcpy(wire->buffer + wire->used, bytes, length);
		wire->used += length;
	}
	return bytes;
}

static uint64_t pass_number(struct wire *wire, uint64_t number)
{
	const unsigned char *bytes = pass(wire, &number, sizeof(number));

	if (bytes)
		memcpy(&number, bytes, sizeof(number));
	return bytes ? number : 0;
}

#define NUMBER(field) ((field) = (__typeof__(field))pass_number(wire, (uint64_t)(field)))

/* NULL is kept apart from what is empty.  A NUL follows that the length does not count. */
static const void *pass_bytes(struct wire *wire, const void *bytes, size_t *length)
{
	const uint64_t size = pass_number(wire, bytes ? *length : UINT64_MAX);
	const unsigned char *end;

	*length = 0;
	if (size == UINT64_MAX || wire->failed)
		return NULL;
	pass(wire, zeros, -wire->at % ALIGNMENT);
	bytes = pass(wire, bytes, size);
	end = pass(wire, zeros, 1);
	wire->failed |= !end || *end;
	*length = wire->failed ? 0 : (size_t)size;
	return wire->failed ? NULL : bytes;
}

static char *pass_text(struct wire *wire, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	text = pass_bytes(wire, text, &length);
	return text && wire->copies ? lc_copy(wire->arena, text, length) : (char *)text;
}

/* Room for elements that are read, each of at least a number; NULL if the rest is too short. */
static void *room_for(struct wire *wire, uint64_t count, size_t size)
{
	wire->failed |= count > (wire->length - wire->at) / sizeof(uint64_t);
	return wire->failed ? NULL : lc_alloc(wire->arena, ((size_t)count + 1) * size);
}

static const char *const *pass_texts(struct wire *wire, const char *const *texts, size_t *count)
{
	const uint64_t there = pass_number(wire, *count);
	const char **read = wire->writes ? NULL : room_for(wire, there, sizeof(*read));

	if (!wire->writes)
		*count = read ? (size_t)there : 0;
	for (size_t i = 0; i < *count; i++) {
		const char *text = pass_text(wire, read ? NULL : texts[i]);

		if (read)
			read[i] = text;
	}
	return read ? read : texts;
}

/* ---- the job ---- */

/* The number that begins a job; a child that expects another is of another version. */
#define JOB_STAMP UINT64_C(0x6c6b6a6f62303034)

static void pass_piece(struct wire *wire, struct lk_piece *piece)
{
	size_t names = piece->header_count;

	NUMBER(piece->kind);
	piece->name = pass_text(wire, piece->name);
	piece->bytes = pass_bytes(wire, piece->bytes, &piece->length);
	piece->name_expressions = pass_texts(wire, piece->name_expressions,
					     &piece->name_expression_count);
	piece->include_names = pass_texts(wire, piece->include_names, &names);
	piece->headers = pass_texts(wire, piece->headers, &piece->header_count);
	wire->failed |= names != piece->header_count || (unsigned)piece->kind >= LK_KINDS;
}

static void pass_pieces(struct wire *wire, struct lk_job *job)
{
	const uint64_t there = pass_number(wire, job->count);
	struct lk_piece *read = wire->writes ? NULL : room_for(wire, there, sizeof(*read));

	if (!wire->writes)
		job->count = read ? (size_t)there : 0;
	for (size_t i = 0; i < job->count; i++) {
		struct lk_piece piece = read ? read[i] : job->pieces[i];

		pass_piece(wire, &piece);
		if (read)
			read[i] = piece;
	}
	if (read)
		job->pieces = read;
}

/* With what a backend reads of the plan. */
static void pass_job(struct wire *wire, struct lk_job *job, struct lazycuda_plan *plan)
{
	size_t size = plan->jit_option_count * sizeof(*plan->jit_options);

	NUMBER(job->tool);
	NUMBER(job->output);
	NUMBER(job->device);
	NUMBER(plan->compile_to);
	plan->options = pass_texts(wire, plan->options, &plan->option_count);
	plan->compile_options = pass_texts(wire, plan->compile_options, &plan->compile_option_count);
	NUMBER(plan->nvvm);
	plan->nvvm_options = pass_texts(wire, plan->nvvm_options, &plan->nvvm_option_count);
	plan->jit_options = pass_bytes(wire, plan->jit_options, &size);
	plan->jit_option_count = size / sizeof(*plan->jit_options);
	pass_pieces(wire, job);
}

bool lk_write_job(int fd, const struct lk_job *job, uint64_t memory)
{
	struct wire wire = { .fd = fd, .writes = true };
	struct lazycuda_plan plan = *job->plan;
	struct lk_job copy = *job;

	pass_number(&wire, JOB_STAMP);
	pass_number(&wire, (uint64_t)getpid());
	pass_number(&wire, memory);
	pass_job(&wire, &copy, &plan);
	return flush(&wire);
}

bool lk_read_job(struct lc_arena *arena, const void *bytes, size_t length, struct lk_job *job,
		 pid_t *parent, uint64_t *memory)
{
	struct wire wire = { .arena = arena, .bytes = bytes, .length = length };
	struct lazycuda_plan *plan = lc_alloc(arena, sizeof(*plan));

	if (!plan || pass_number(&wire, 0) != JOB_STAMP)
		return false;
	*parent = (pid_t)pass_number(&wire, 0);
	*memory = pass_number(&wire, 0);
	*job = (struct lk_job){ .plan = plan };
	pass_job(&wire, job, plan);
	return !wire.failed && !arena->failed && (unsigned)job->tool < LK_TILEIRAS &&
	       (job->tool != LK_NVRTC || (job->count == 1 && job->pieces->bytes)) &&
	       (job->tool != LK_NVVM || (job->count && job->pieces->bytes));
}

/* ---- the product ---- */

/* Without the image, whose bytes are returned.  There are as many names as were asked for, or none. */
static const void *pass_product(struct wire *wire, const struct lk_job *job,
				struct lk_product *product)
{
	const size_t wanted = job->tool == LK_NVRTC ? job->pieces->name_expression_count : 0;
	size_t names = product->lowered_names ? wanted : 0;

	product->lowered_names = (const char **)pass_texts(wire, product->lowered_names, &names);
	if (!names || names != wanted)
		product->lowered_names = NULL;
	NUMBER(product->code);
	NUMBER(product->status);
	NUMBER(product->piece);
	NUMBER(product->tile);
	product->call = pass_text(wire, product->call);
	product->message = pass_text(wire, product->message);
	product->info_log = pass_text(wire, product->info_log);
	product->error_log = pass_text(wire, product->error_log);
	return pass_bytes(wire, product->image, &product->length);
}

bool lk_write_product(int fd, const struct lk_job *job, const struct lk_product *product)
{
	struct wire wire = { .fd = fd, .writes = true };
	struct lk_product copy = *product;

	pass_product(&wire, job, &copy);
	return flush(&wire);
}

bool lk_read_product(struct lc_arena *arena, const void *bytes, size_t size, const struct lk_job *job,
		     struct lk_product *product)
{
	struct wire wire = { .arena = arena, .bytes = bytes, .length = size, .copies = true };
	const void *image;

	*product = (struct lk_product){ .call = NULL };
	image = pass_product(&wire, job, product);
	if (wire.failed || arena->failed ||
	    (product->piece != LAZYCUDA_NO_INDEX && product->piece >= job->count))
		return false;
	if (image)
		lk_copy_image(arena, image, product->length, product);
	return true;
}
