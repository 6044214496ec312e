/* SPDX-License-Identifier: MIT */
/* toolkit.h - which toolkit a file belongs to, and where its other parts are */
#ifndef LINK_TOOLKIT_H
#define LINK_TOOLKIT_H

#include "../../stubs/base/arena.h"

/* Resolves a path; "" on failure. */
const char *lk_resolve(struct lc_arena *arena, const char *path);

/* Where the folder of a toolkit may be, relative to its libraries; ends with NULL. */
extern const char *const lk_toolkit_roots[];

/* CUDA_VERSION in a cuda.h; 0 if it does not tell. */
int lk_header_version(const char *path);

/* As lazycuda_toolkit_version(). */
int lk_toolkit_of(struct lc_arena *arena, const char *path, const char **how);

/* The toolkit of a file that is no library; 0 if nothing tells.  Its wheel is asked first: the
 * cuda.h beside it may be of another wheel. */
int lk_toolkit_of_part(struct lc_arena *arena, const char *path);

/* ---- components.c: the parts of a toolkit that go with a library of it ---- */

/* `name` is one of a component in lazycuda_link.h. */

/* The file of a component that goes with a library; NULL if it is not there.  Loads nothing. */
const char *lk_component_path(struct lc_arena *arena, const char *library, const char *name);

/* lk_component_path() if its version is known and goes with that of the library. */
const char *lk_fitting_component(struct lc_arena *arena, const char *library, int version,
				 const char *name);

/* The folders of headers that go with a library of this version, the toolkit's own first. */
struct lc_strings lk_header_folders(struct lc_arena *arena, const char *library, int version);

/* The package of PyPI that has a component for a library of this version, "nvidia-cuda-runtime-cu12";
 * NULL: none has. */
const char *lk_component_package(const char *name, int version);

#endif
