/* SPDX-License-Identifier: MIT */
/* constants.h - what the strings in an ELF file's constants say of the CUDA libraries */
#ifndef CONSTANTS_H
#define CONSTANTS_H

#include "../stubs/base/image.h"
#include "tables.h"

struct constants {
	bool has_static;	/* the CUDA runtime is linked into the file */
	const char **opens;	/* names of a fixed major that it may open itself */
	size_t open_count;
};

/* Adds what one file has.  Strings point into it. */
void constants_read(struct lc_arena *arena, const struct tables *tables,
		    const struct lc_image *image, struct constants *constants);

#endif
