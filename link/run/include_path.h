/* SPDX-License-Identifier: MIT */
/* include_path.h - CUDA's headers for source that is compiled */
#ifndef LINK_INCLUDE_PATH_H
#define LINK_INCLUDE_PATH_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"

/* The options of the plan for nvrtc, and after them an -I for each folder of CUDA's headers, and of
 * CCCL's, that goes with the nvrtc of this file and version.  Sets *count.  NULL if memory ran
 * out. */
const char *const *lk_options_with_headers(struct lc_arena *arena, const struct lazycuda_plan *plan,
					   const char *nvrtc, int version, size_t *count);

/* What to do about a header that is missing, by nvrtc's log; "" if none is. */
const char *lk_header_advice(struct lc_arena *arena, const char *log, int version);

/* Says of a folder that an option for nvrtc names that CUDA's headers in it are of another version;
 * NULL if there are none, or if they are of this one. */
const char *lk_other_headers(struct lc_arena *arena, const struct lazycuda_plan *plan);

#endif
