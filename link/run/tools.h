/* SPDX-License-Identifier: MIT */
/*
 * tools.h - the nvJitLinks, nvrtcs, libnvvms and tileirases that are installed, ready to be called
 *
 * The first of each is the one that its stub has loaded, and is called through the stub.
 * The others are what the stub's search found besides; they are opened aside, so that no
 * stub takes them for its own, and stay open.
 */
#ifndef LINK_TOOLS_H
#define LINK_TOOLS_H

#include "../../stubs/base/arena.h"
#include "../tables/arch.h"
#include "backends.h"
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
	int (*pch_status)(void *program);	/* these three: NULL if it lacks them */
	int (*pch_heap_required)(void *program, size_t *size);
	int (*set_pch_heap)(size_t size);
	struct lk_getter log;
	struct lk_getter images[LK_KINDS];	/* PTX, CUBIN, LTOIR and TILEIR */
};

/* The one of a version of lazycuda_get_others(); else that of the stub. */
const struct lk_nvjitlink *lk_nvjitlink_of(int version);
const struct lk_nvrtc *lk_nvrtc_of(int version);

/* ---- libnvvm and tileiras ---- */

/*
 * These come with a toolkit, and there is no stub for them here: they are looked for where the toolkit,
 * the wheel or the conda prefix of an nvJitLink or nvrtc that a stub found has them.  A libnvvm is
 * loaded when it is first needed.
 */

#define LK_NVVM_VARIABLE "LAZYCUDA_NVVM"

struct lk_nvvm {
	int version;
	const char *path;
	int (*create)(void **program);
	int (*destroy)(void **program);
	int (*add)(void *program, const char *bytes, size_t length, const char *name);
	int (*add_lazily)(void *program, const char *bytes, size_t length, const char *name);
	int (*verify)(void *program, int option_count, const char *const *options);
	int (*compile)(void *program, int option_count, const char *const *options);
	const char *(*error_string)(int result);
	struct lk_getter log, image;
};

/* The installed libnvvms and tileirases, one of each version, and nothing else; NULL if memory ran
 * out.  Loads none of them. */
const struct lazycuda_others *lk_installed_nvvms(void);

/* The file of the libnvvm of this version, and of its libdevice; NULL if there is none. */
const char *lk_nvvm_file(int version);
const char *lk_libdevice_of(int version);

/* The file of the tileiras of this version; NULL if there is none. */
const char *lk_tileiras_file(int version);

/* Why there is no libnvvm of this version, or none at all for VERSION_NONE, in one line. */
const char *lk_why_no_nvvm(struct lc_arena *arena, int version);

/* Loads the libnvvm of this version.  Returns NULL, or why it cannot be called. */
const char *lk_load_nvvm(struct lc_arena *arena, int version, struct lk_nvvm *nvvm);

#endif
