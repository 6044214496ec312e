/* SPDX-License-Identifier: MIT */
/*
 * handle.h - a link, as the files that do parts of it share it
 *
 *	link.c		runs the steps in order; the public functions
 *	decide.c	plans, for what is installed or for what is given
 *	handle.c	fills the result; keeps blocks until the link has run
 *	take_inputs.c	takes, inspects and reads the inputs; turns the steps of the plan into bytes
 *			for a backend
 *	sources.c	compiles source and LLVM IR, finds what they need, and judges the compiled code
 *	isolated.c	has a backend do a job, here or in a child process
 *	server.c	keeps a process that forks such children
 *	key.c		the key of a link, for caches of images
 *
 * A function that fails leaves a code and a message in the result and returns
 * false.
 */
#ifndef LINK_HANDLE_H
#define LINK_HANDLE_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "job.h"

struct lk_told {
	enum lazycuda_log kind;
	size_t input;
	const char *text;
};

struct lazycuda_link {
	struct lc_arena *arena;		/* holds itself and the link */
	struct lazycuda_request request;	/* its support modules are those below */
	struct lazycuda_environment environment;
	bool is_here;			/* the environment is this machine's */
	struct lazycuda_input **inputs;
	size_t count;
	struct lazycuda_support **support;	/* copies, with copies of their inputs */
	size_t support_count;
	const char *device_runtime;	/* libcudadevrt.a, if the last of these was added for it */
	struct lazycuda_inspection **inspected;	/* to be closed */
	size_t inspected_count;
	void **blocks;			/* to be freed: sources, code */
	size_t block_count;
	struct lazycuda_plan *plan;
	struct lazycuda_input *compiled;	/* the code that nvrtc or libnvvm made, one for each step;
						   without bytes if not compiled */
	struct lk_piece *libraries;	/* that LLVM IR is compiled with; NULL: not read yet */
	size_t library_count;
	void *image;
	const struct lazycuda_input **linked;	/* each once, in the order of linking */
	size_t linked_count;
	struct lazycuda_result result;
	struct lk_told *told;		/* what the callback for logs was told */
	size_t told_count;
	bool ran;
	/* Of an isolated link. */
	int cancel;			/* a file that can be read once it is cancelled; -1: none */
	bool cancelled;			/* set by other threads */
	uint64_t deadline;		/* of lk_now() */
};

/* ---- decide.c ---- */

/* Plans, and tells the caller of the notes. */
bool lk_decide(struct lazycuda_link *link);

/* ---- take_inputs.c ---- */

/* Copies a caller's struct, which may be of another size, into one of `size` bytes.  Returns
 * false if there is none or its size field is not set. */
bool lk_take_struct(void *into, size_t size, const void *from);

/* Copies the request and its support modules into the link; false on allocation failure. */
bool lk_take_request(struct lazycuda_link *link, const struct lazycuda_request *request);

/* Adds a support module that is linked in any case; false if there can be none more. */
bool lk_add_support(struct lazycuda_link *link, const struct lazycuda_input *input);

/* Inspects all inputs that have no inspection yet. */
bool lk_inspect_inputs(struct lazycuda_link *link);

/* The input, or the input of the support module, that a step links. */
const struct lazycuda_input *lk_input_of(const struct lazycuda_link *link,
					 const struct lazycuda_step *step);

/* What step `i` gives the linker, with its names; NULL if none are known. */
const struct lazycuda_entry *lk_entry_of(const struct lazycuda_link *link, size_t i);

/* The bytes of a file, with a NUL after them, from malloc(); NULL, with errno. */
char *lk_read_file(const char *path, size_t *length);

/* Returns all bytes of an input with a NUL after them; the caller calls free().  On failure
 * fills the result and returns NULL. */
char *lk_read_input(struct lazycuda_link *link, const struct lazycuda_step *step, size_t *length);

/* Reads what a step links, in the form that it says; the link owns the bytes. */
const char *lk_read_step(struct lazycuda_link *link, const struct lazycuda_step *step, size_t *length);

/* Returns one piece for each step of the plan.  On failure fills the result and returns NULL. */
struct lk_piece *lk_make_pieces(struct lazycuda_link *link);

/* ---- sources.c ---- */

/* Compiles what the plan `before`, NULL in the first round, did not.  Sets `again` if the code needs
 * support modules that the plan lacks. */
bool lk_compile_sources(struct lazycuda_link *link, const struct lazycuda_plan *before, bool *again);

/* ---- isolated.c ---- */

/* Prepares an isolated link for lazycuda_link_cancel(). */
void lk_prepare_isolation(struct lazycuda_link *link);

/* Has a backend do a job. */
void lk_execute(struct lazycuda_link *link, const struct lk_job *job, struct lk_product *product);

/* ---- handle.c ---- */

/* Records in the result what stopped the link.  Returns false. */
bool lk_stop(struct lazycuda_link *link, enum lazycuda_code code, size_t input,
	     const char *format, ...) __attribute__((cold, format(printf, 4, 5)));

bool lk_stop_without_memory(struct lazycuda_link *link) __attribute__((cold));

/* Keeps a block until the link has run, and then frees it.  On allocation failure frees it
 * now and returns false. */
bool lk_own(struct lazycuda_link *link, void *block);

/* Tells the caller's callback, if there is one, unless it was told these notes before. */
void lk_tell_notes(struct lazycuda_link *link, const struct lazycuda_plan *plan);

/* Copies a backend's logs and status into the result; false if the backend failed. */
bool lk_take_product(struct lazycuda_link *link, const struct lk_product *product, size_t input);

/* Adds a note to the link's plan, and tells the caller. */
bool lk_add_note(struct lazycuda_link *link, const char *format, ...)
	__attribute__((cold, format(printf, 2, 3)));

#endif
