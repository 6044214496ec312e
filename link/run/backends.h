/* SPDX-License-Identifier: MIT */
/*
 * backends.h - the backends that carry out a plan
 *
 * Each function takes a job, and fills a product.  On failure `call` and `status` name the
 * failed call; logs are filled in either case.  Every path releases all that the function created.
 */
#ifndef LINK_BACKENDS_H
#define LINK_BACKENDS_H

#include <stdbool.h>
#include <string.h>

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "../tables/arch.h"
#include "calls.h"

/* Code that is ready for a backend. */
struct lk_piece {
	enum lazycuda_kind kind;	/* PTX (with a NUL after it), CUBIN, LTOIR, FATBIN */
	const void *bytes;
	size_t length;			/* without the NUL */
	const char *name;
	const char *const *name_expressions;	/* of source */
	size_t name_expression_count;
	const char *const *include_names, *const *headers;
	size_t header_count;
};

struct lk_job {
	enum lk_tool tool;
	const struct lazycuda_plan *plan;
	enum lazycuda_output output;	/* of a linker */
	int device;
	const struct lk_piece *pieces;	/* for LK_NVRTC one, source with a NUL after it; for LK_NVVM
					   LLVM IR, libraries of it, and libdevice if there is one */
	size_t count;
};

struct lk_product {
	enum lazycuda_code code;
	const char *call;		/* the call that failed, or NULL */
	int status;
	size_t piece;			/* the piece at which it failed, or NO_INDEX */
	const char *message;		/* in the arena */
	void *image;			/* from malloc(), with a NUL after it */
	size_t length;
	char *info_log, *error_log;	/* in the arena, or NULL */
	const char **lowered_names;	/* in the arena, one for each name expression; or NULL */
	size_t tile;			/* bytes of Tile IR that nvrtc made beside the image */
};

/* What limits a job. */
struct lk_limits {
	bool isolated;
	uint64_t deadline;	/* of lk_now(); 0: none */
	uint64_t memory;	/* bytes; 0: no limit */
	int cancel;		/* a file that can be read once it is cancelled; -1: none */
};

/* Do a job in this process with the tool that the plan is for, or else the stub's.  Return NULL, or
 * why the tool is missing. */
typedef const char *lk_backend(struct lc_arena *arena, const struct lk_job *job,
			       struct lk_product *product);
lk_backend lk_nvjitlink_link, lk_driver_link, lk_nvrtc_compile, lk_nvvm_compile;

/* Says of a folder that an option for nvrtc names that CUDA's headers in it are of another version;
 * NULL if there are none, or if they are of this one. */
const char *lk_other_headers(struct lc_arena *arena, const struct lazycuda_plan *plan);

/* Makes the image of Tile IR, in a process of its own; no limit is on its memory. */
void lk_tileiras_compile(struct lc_arena *arena, const struct lk_job *job,
			 const struct lk_limits *limits, struct lk_product *product);

/* ---- product.c: what all of them share ---- */

/* How nvrtc, nvJitLink and libnvvm hand out data: one function gets the size, one the bytes. */
struct lk_getter {
	const char *size_name, *name;
	lk_size_function *size;
	lk_bytes_function *get;
};

#define LK_GETTER(name) { #name "Size", #name, name##Size, name }

/* Sets a pointer to a function to what dlsym() returned.  Returns false if that is NULL. */
static inline bool lk_bind(void *function, void *found)
{
	memcpy(function, &found, sizeof(found));
	return found;
}

/* Calls a function of a library, and returns whether that succeeded.  Its name is recorded first: the
 * call may not return. */
#define LK_CALL(product, name, ...) \
	((product)->call = (name), !((product)->status = (__VA_ARGS__)))

/* Returns a log in the arena; NULL if it is empty or cannot be fetched. */
char *lk_fetch_log(struct lc_arena *arena, const struct lk_getter *getter, void *handle);

/*
 * Fetches an image into product->image.  Returns false if a call failed, with `call`
 * and `status` filled, or if the size is no sensible one or memory ran out, with the
 * product's code and message filled.
 */
bool lk_fetch_image(struct lc_arena *arena, const struct lk_getter *getter, void *handle,
		    struct lk_product *product);

/* Copies an image into product->image, with a NUL after it.  Returns false if the size is no
 * sensible one or memory ran out, with code and message filled. */
bool lk_copy_image(struct lc_arena *arena, const void *bytes, size_t length,
		   struct lk_product *product);

/* Returns the outcome that a log shows, or `otherwise` if it shows none. */
enum lazycuda_code lk_code_of_log(const char *log, enum lazycuda_code otherwise);

/* Returns the most telling line of a log: the first that is an error, else the first that is no
 * warning, else the first; NULL if it has none. */
const char *lk_telling_line(struct lc_arena *arena, const char *log);

/*
 * The message for a failed call: the library, the call and the piece, the name of the
 * result, and the most telling line of the error log.
 */
const char *lk_failure(struct lc_arena *arena, const char *who, const char *piece,
		       const struct lk_product *product, const char *result_name);

/* Fills code and message for a failed call of a compiler, "nvrtc" or "libnvvm". */
void lk_explain_compiler(struct lc_arena *arena, const char *compiler, int version,
			 const char *source, const char *result_name, struct lk_product *product);

/* Records a failure in the product's code and message. */
void lk_product_stop(struct lk_product *product, enum lazycuda_code code, const char *message);

#endif
