/* SPDX-License-Identifier: MIT */
/* findings.h - what one ELF file has to do with the CUDA libraries */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "../stubs/base/arena.h"
#include "constants.h"

struct found_name {
	const char *name;
	const struct lc_export *export;	/* NULL: callers of this major have no such name */
};

/* What a file imports from one library, compiled for one major. */
struct found_import {
	struct table *table;
	int major;		/* that it was compiled for; 0: unknown */
	bool versioned;		/* its names say which major */
	const char *file;	/* the SONAME that its version needs name; or NULL */
	const char *needed;	/* the DT_NEEDED that it comes from; NULL: none */
	enum needed_kind through;
	struct found_name *names;
	size_t name_count;
};

struct findings {
	const char *error;	/* what is wrong with the file, as a phrase; or NULL */
	bool foreign;		/* for a CPU that has no CUDA */
	bool stub;		/* it is a stub itself */
	const struct lc_library *itself;	/* the library that it is, or stands for */
	bool lazy;		/* its functions are looked up at their first calls */
	struct found_import *imports;
	size_t import_count;
	struct constants constants;
};

/* Strings point into `bytes` or `arena`. */
void findings_read(struct lc_arena *arena, struct tables *tables, const void *bytes, size_t size,
		   struct findings *findings);

#endif
