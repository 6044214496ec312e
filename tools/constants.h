/* SPDX-License-Identifier: MIT */
/* constants.h - finds CUDA libraries in the string constants of an ELF file */
#ifndef CONSTANTS_H
#define CONSTANTS_H

#include "../stubs/base/image.h"
#include "tables.h"

struct constants {
	bool has_static;	/* the CUDA runtime is linked into the file */
	struct lc_strings opens;	/* names with a fixed major that the file may open itself */
	bool more_opens;	/* it has more of them than are noted */
};

/* Adds what one file has.  The strings point into the file. */
void constants_read(struct lc_arena *arena, struct tables *tables,
		    const struct lc_image *image, struct constants *constants);

#endif
