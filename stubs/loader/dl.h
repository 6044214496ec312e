/* SPDX-License-Identifier: MIT */
/* dl.h - dlopen(), and why it failed */
#ifndef DL_H
#define DL_H

#include "../base/arena.h"

/*
 * dlopen(), made again where a signal interrupted it.  If it fails, *said is what dlerror() says,
 * or NULL; and the arena is marked as starved if that is for want of memory or descriptors, which
 * may come back.
 */
void *lc_dlopen(struct lc_arena *arena, const char *path, int flags, const char **said);

#endif
