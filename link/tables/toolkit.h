/* SPDX-License-Identifier: MIT */
/* toolkit.h - which toolkit a file belongs to */
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

#endif
