/* SPDX-License-Identifier: MIT */
/* product.h - what all backends do alike: fetch logs and images, say what failed */
#ifndef LINK_PRODUCT_H
#define LINK_PRODUCT_H

#include "backends.h"
#include "calls.h"

/* How nvrtc and nvJitLink give something away: its size first, then its bytes. */
struct lk_getter {
	const char *size_name, *name;
	lk_size_function *size;
	lk_bytes_function *get;
};

#define LK_GETTER(name) { #name "Size", #name, name##Size, name }

/* A log, in the arena; NULL if it is empty or cannot be had. */
char *lk_fetch_log(struct lc_arena *arena, const struct lk_getter *getter, void *handle);

/*
 * An image into product->image.  False if a call failed, and then `call` and
 * `status` are filled, or if there is no such image or no memory, and then the
 * product's code and message are.
 */
bool lk_fetch_image(struct lc_arena *arena, const struct lk_getter *getter, void *handle,
		    struct lk_product *product);

/* An image that belongs to somebody else, copied into product->image, with a
 * NUL behind it; false as above. */
bool lk_copy_image(struct lc_arena *arena, const void *bytes, size_t length,
		   struct lk_product *product);

/* The outcome that a log tells, if it does; else `otherwise`. */
enum lazycuda_code lk_code_of_log(const char *log, enum lazycuda_code otherwise);

/*
 * The message of a failed call: who did not take what, how the result is
 * called, and the line of the error log that says most.
 */
const char *lk_failure(struct lc_arena *arena, const char *who, const char *piece,
		       const struct lk_product *product, const char *result_name);

/* What stops a backend before its first call. */
void lk_product_stop(struct lk_product *product, enum lazycuda_code code, const char *message);

#endif
