/* SPDX-License-Identifier: MIT */
/* kinds.h - how many kinds of input this release knows; a later one may know more */
#ifndef LINK_KINDS_H
#define LINK_KINDS_H

#include "../../include/lazycuda_link.h"

#define LK_KINDS (LAZYCUDA_KIND_BUNDLE + 1)

#endif
