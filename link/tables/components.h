/* SPDX-License-Identifier: MIT */
/* components.h - where the parts of a toolkit that go with a library of it are */
#ifndef LINK_COMPONENTS_H
#define LINK_COMPONENTS_H

#include "../../stubs/base/arena.h"

/* `name` is one of a component in lazycuda_link.h. */

/* The file of a component that goes with a library; NULL if it is not there.  Loads nothing. */
const char *lk_component_path(struct lc_arena *arena, const char *library, const char *name);

/* The same, if its version is known and goes with that of the library. */
const char *lk_fitting_component(struct lc_arena *arena, const char *library, int version,
				 const char *name);

/* The package of PyPI that has a component of this version, "nvidia-cuda-runtime-cu12". */
const char *lk_component_package(struct lc_arena *arena, const char *name, int version);

#endif
