/* SPDX-License-Identifier: MIT */
/*
 * nvvm_tools.h - the libnvvms that are installed, and the libdevice of each; the tileirases
 *
 * A libnvvm or a tileiras comes with a toolkit, and there is no stub for it here: it is looked for where the
 * toolkit, the wheel or the conda prefix of an nvJitLink or nvrtc that a stub found has it.
 * It is loaded when it is first needed.
 */
#ifndef LINK_NVVM_TOOLS_H
#define LINK_NVVM_TOOLS_H

#include "../../stubs/base/arena.h"
#include "product.h"

#define LK_NVVM_VARIABLE "LAZYCUDA_NVVM"
#define LK_MAX_NVVMS 8

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

struct lk_nvvms {
	size_t count;
	int versions[LK_MAX_NVVMS], libdevices[LK_MAX_NVVMS];
	const char *paths[LK_MAX_NVVMS], *libdevice_paths[LK_MAX_NVVMS];
	/* The tileirases that lie beside the same libraries; LAZYCUDA_NVVM does not hide them. */
	size_t tileiras_count;
	int tileirases[LK_MAX_NVVMS];
	const char *tileiras_paths[LK_MAX_NVVMS];
};

/* The installed libnvvms, one of each version; NULL if memory ran out.  Loads none of them. */
const struct lk_nvvms *lk_installed_nvvms(void);

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
