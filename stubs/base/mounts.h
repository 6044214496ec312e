/* SPDX-License-Identifier: MIT */
/* mounts.h - who can change what is mounted somewhere */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "arena.h"

/* Returns true if nobody writes to what is mounted at this path, as to an image.  `device` is what stat()
 * says of it. */
bool lc_is_read_only(struct lc_arena *arena, const char *path, dev_t device);

/* Why what is mounted at this path is a stranger's, in a sentence; NULL: it is not.  `around` owns the
 * folder in which it is mounted. */
const char *lc_strangers_mount(struct lc_arena *arena, const char *path, dev_t device, uid_t around);

#endif
