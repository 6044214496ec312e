/* SPDX-License-Identifier: MIT */
/* constants.h - what the strings in an ELF file's constants say of the CUDA libraries */
#ifndef CONSTANTS_H
#define CONSTANTS_H

#include "../stubs/base/image.h"
#include "findings.h"

/* Adds to `findings` the names that a file may open, and whether it has the CUDA
 * runtime linked into it.  Strings point into the file. */
void constants_read(struct lc_arena *arena, const struct tables *tables,
		    const struct lc_image *image, struct findings *findings);

#endif
