/* SPDX-License-Identifier: MIT */
/*
 * tools.h - the nvJitLinks and nvrtcs that are installed, ready to be called
 *
 * The first of each is the one that its stub has loaded, and is called through the stub.
 * The others are what the stub's search found besides; they are opened aside, so that no
 * stub takes them for its own, and stay open.
 */
#ifndef LINK_TOOLS_H
#define LINK_TOOLS_H

#include "../../stubs/base/arena.h"
#include "../tables/arch.h"
#include "product.h"
#include "../formats/formats.h"

struct lk_nvjitlink {
	int version;		/* not set for the stub's own */
	const char *path;	/* NULL: the stub's own */
	int (*create)(void **handle, uint32_t option_count, const char **options);
	int (*destroy)(void **handle);
	int (*add)(void *handle, int kind, const void *bytes, size_t length, const char *name);
	int (*complete)(void *handle);
	struct lk_getter info_log, error_log;
	struct lk_getter images[LAZYCUDA_OUTPUT_LTOIR + 1];
};

struct lk_nvrtc {
	int version;
	const char *path;
	int (*create)(void **program, const char *source, const char *name, int header_count,
		      const char *const *headers, const char *const *include_names);
	int (*destroy)(void **program);
	int (*compile)(void *program, int option_count, const char *const *options);
	int (*add_expression)(void *program, const char *expression);
	int (*lowered_name)(void *program, const char *expression, const char **name);
	const char *(*error_string)(int result);
	struct lk_getter log;
	struct lk_getter images[LK_KINDS];	/* PTX, CUBIN, LTOIR and TILEIR */
};

/* The one of a version of lazycuda_get_others(); else that of the stub. */
const struct lk_nvjitlink *lk_nvjitlink_of(int version);
const struct lk_nvrtc *lk_nvrtc_of(int version);

#endif
