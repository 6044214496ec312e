/* SPDX-License-Identifier: MIT */
/* product.h - shared by all backends: fetch logs and images, report what failed */
#ifndef LINK_PRODUCT_H
#define LINK_PRODUCT_H

#include <stdbool.h>
#include <string.h>

#include "backends.h"
#include "calls.h"

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
