/* SPDX-License-Identifier: MIT */
/* images.h - which images of offload binaries are alternatives of one source */
#ifndef LINK_IMAGES_H
#define LINK_IMAGES_H

#include "formats.h"

/*
 * Entries with the flag LK_IMAGE are images, which the reader has told apart by kind and
 * architecture alone; a row of them begins with LK_FIRST_IMAGE.  Within a row, those that define a
 * name in common become alternatives, and others do not.  Alternatives are put beside each other,
 * and containers are numbered anew.
 */
void lk_tell_sources(struct lc_arena *arena, struct lazycuda_entry **entries, size_t count,
		     int *containers);

#endif
