/* SPDX-License-Identifier: MIT */
/* findings.h - what one ELF file imports from the CUDA libraries, or is of them */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "../stubs/base/arena.h"
#include "neighbours.h"
#include "tables.h"

/* What the string constants of a file say; strings point into the file. */
struct constants {
	bool has_static;	/* the CUDA runtime is linked into the file */
	struct lc_strings opens;	/* names with a fixed major that the file may open itself */
	bool more_opens;	/* it has more of them than are noted */
};

struct found_name {
	const char *name;
	const struct lc_export *export;	/* NULL if callers of this major have no such name */
};

/* What a file imports from one library, compiled for one major. */
struct found_import {
	struct table *table;
	int major;		/* the major it was compiled for; 0 if unknown */
	bool versioned;		/* its names have a version */
	const char *file;	/* the SONAME in its verneed; or NULL */
	const char *needed;	/* its DT_NEEDED; NULL if there is none */
	enum needed_kind through;
	const char *inside;	/* the release of lazycuda whose stub is in the file; or NULL */
	bool whole;		/* that has all functions, and which of them the file calls is not known */
	bool unmet;		/* it needs no such library, and nothing that it needs brings one */
	struct found_name *names;
	size_t name_count;
	const char *weak;	/* a name of which the file may ask if it is there; or NULL */
};

/* A stub in the file. */
struct found_stub {
	const char *library, *release;	/* "nvidia-ml", "0.1.0" */
	int cuda;			/* its callers are compiled for this one */
};

struct findings {
	const char *error;	/* what is wrong with the file, as a phrase; or NULL */
	bool foreign;		/* for a 32-bit or big-endian CPU: no CUDA there */
	bool object;		/* an object file: nothing tells yet what it will need */
	bool stub;		/* the file is a stub */
	const struct lc_library *itself;	/* the library that the file is, or stands in for */
	bool lazy;		/* bound lazily, at the first call of each function */
	struct found_import *imports;
	size_t import_count;
	struct found_stub *stubs;
	size_t stub_count;
	struct lc_strings needed;		/* all that it needs */
	struct lc_strings strangers;		/* of these, what is neither CUDA's nor the system's */
	struct lc_strings stubless;		/* and what is CUDA's, and has no stub anywhere */
	struct lc_strings without_stub;	/* needed, and CUDA's, but there is no stub to judge by */
	bool musl;
	struct neighbours *beside;	/* the files that come with it; or NULL */
	struct searcher searcher;
	struct constants constants;
};

/* The strings point into `bytes` or `arena`. */
void findings_read(struct lc_arena *arena, struct tables *tables, const void *bytes, size_t size,
		   struct findings *findings);

/* Adds the constants of one file. */
void constants_read(struct lc_arena *arena, struct tables *tables,
		    const struct lc_image *image, struct findings *findings);

#endif
