/* SPDX-License-Identifier: MIT */
/* images.h - which images of offload binaries are alternatives of one source */
#ifndef LINK_IMAGES_H
#define LINK_IMAGES_H

#include "formats.h"

/*
 * Entries with the flag LK_IMAGE are images, each in a container of its own; a row of them begins
 * with LK_FIRST_IMAGE.  Images of a row become alternatives, which are in one container, if
 *
 *  - the object was compiled of one source (LK_ONE_SOURCE), and no two images in the row are of
 *    the same kind and architecture;
 *  - they define a name in common that is defined once in a link, or are both like a third one; or
 *  - they define the same names of kernels and variables: of functions if they have none of
 *    these, and no name at all if they define nothing.
 *
 * Of alternatives that are of the same kind and architecture, each is of another source.
 * Alternatives are put beside each other, and containers are numbered anew.
 */
void lk_tell_sources(struct lc_arena *arena, struct lazycuda_entry **entries, size_t count,
		     int *containers);

#endif
