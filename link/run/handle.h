/* SPDX-License-Identifier: MIT */
/*
 * handle.h - a link from its inputs to its image, for the files that do parts of it
 *
 *	link.c		the steps in their order, and what callers get
 *	inputs.c	what is to be linked, inspected
 *	sources.c	source compiled, and judged again as what it became
 *	pieces.c	what the plan says, as bytes that a backend takes
 *	undefined.c	which name a failed link missed
 *
 * A part that cannot be done leaves a code and a message in the result and
 * returns false.
 */
#ifndef LINK_HANDLE_H
#define LINK_HANDLE_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "backends.h"

/* The code that nvrtc made of a source. */
struct lk_compiled {
	const void *bytes;
	size_t length;
	struct lazycuda_inspection *inspection;
};

struct lazycuda_link {
	struct lc_arena *arena;		/* has all of it, itself and the link */
	struct lazycuda_request request;	/* support modules replaced by those below */
	struct lazycuda_environment environment;
	bool is_here;			/* the environment is what is installed */
	struct lazycuda_input **inputs;
	size_t count;
	struct lazycuda_support **support;	/* with inputs of their own */
	size_t support_count;
	struct lazycuda_inspection **inspected;	/* to be closed */
	size_t inspected_count;
	void **blocks;			/* to be freed: code compiled or unpacked */
	size_t block_count;
	struct lazycuda_plan *plan;
	struct lk_compiled *compiled;	/* one for each step; empty if it is no source */
	void *image;
	const struct lazycuda_input **linked;	/* each once, in the order of linking */
	size_t linked_count;
	struct lazycuda_result result;
	bool ran;
};

/* ---- inputs.c ---- */

/* A struct of the caller's, which may be a smaller one than ours, made as large;
 * false if it does not say how large it is. */
bool lk_take_struct(void *into, size_t size, const void *from);

/* The request with support modules that are the link's own. */
bool lk_take_request(struct lazycuda_link *link, const struct lazycuda_request *request);

/* Inspects all inputs that have not been. */
bool lk_inspect_inputs(struct lazycuda_link *link);

/* What a step is about. */
const struct lazycuda_input *lk_input_of(const struct lazycuda_link *link,
					 const struct lazycuda_step *step);

/* All of an input's bytes with a NUL behind them, to be freed with free(); NULL,
 * and the result filled. */
char *lk_read_input(struct lazycuda_link *link, const struct lazycuda_step *step, size_t *length);

/* ---- sources.c ---- */

bool lk_compile_sources(struct lazycuda_link *link);

/* ---- pieces.c ---- */

/* One piece for each step of the plan; NULL, and the result filled. */
struct lk_piece *lk_make_pieces(struct lazycuda_link *link);

/* ---- undefined.c ---- */

/* A name that some input needs and none has; NULL if there is none, or if it
 * cannot be told. */
const char *lk_undefined_name(const struct lazycuda_link *link);

/* ---- link.c ---- */

/* Says what stopped the link; false. */
bool lk_stop(struct lazycuda_link *link, enum lazycuda_code code, size_t input,
	     const char *message) __attribute__((cold));

bool lk_stop_without_memory(struct lazycuda_link *link) __attribute__((cold));

/* A block that is needed until the backend is done; false without memory, and
 * then it is freed now. */
bool lk_own(struct lazycuda_link *link, void *block);

/* What a backend made or said, into the result; false if it failed. */
bool lk_take_product(struct lazycuda_link *link, const struct lk_product *product, size_t input);

#endif
