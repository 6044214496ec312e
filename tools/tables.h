/* SPDX-License-Identifier: MIT */
/* tables.h - the tables that the stubs are made of, read from the stubs */
#ifndef TABLES_H
#define TABLES_H

#include <stdbool.h>

#include "../stubs/loader/peers.h"
#include "../stubs/base/verdict.h"

#ifndef LAZYCUDA_SONUMBER
# define LAZYCUDA_SONUMBER ""
#endif
/* In a system's folder the name without a number is there for builds alone. */
#define STUB_SONAME(library) "lib" library "_stub.so" LAZYCUDA_SONUMBER

#define LIBRARIES 5	/* lazycuda's own */
#define MAX_TABLES LC_MAX_PEERS

struct table {
	const struct lc_library *library;
	const char *stem;		/* of its file names, "libnvidia-ml" */
	size_t stem_length;
	const struct lc_adaptor *adaptors;
	unsigned char *verdicts;	/* of what was asked: see judge() */
	bool own;			/* of `lazycuda stub` */
};

struct tables {
	struct table all[MAX_TABLES];
	size_t count;
	lc_version toolkits[64];	/* that the list knows, oldest first */
	size_t toolkit_count;
	size_t driver;			/* of these, the driver that is judged for */
};

/* NULL, or what is wrong. */
const char *tables_read(struct tables *tables);
/* Adds those of a stub that `lazycuda stub` made.  NULL, or what is wrong. */
const char *tables_add(struct tables *tables, const struct lc_peer *peer);
void tables_free(struct tables *tables);

/*
 * As lc_judge(), remembered; `toolkit` indexes tables->toolkits.  A library without
 * majors comes with the driver, whatever the toolkit is: tables->driver counts.
 */
enum lc_verdict judge(struct tables *tables, struct table *table,
		      const struct lc_export *import, size_t toolkit);

/* The same for a library whose majors are its own, in its majors[row]. */
enum lc_verdict judge_in(struct table *table, const struct lc_export *import, size_t row);

/* Whether a driver of this version has the name, for a library without majors. */
bool driver_has(struct tables *tables, struct table *table, const struct lc_export *import,
		size_t version);

/*
 * The row for an import without a version, which a stub serves only if the
 * name means one interface in all majors; NULL if it does not.  *known says
 * whether the library has the name at all.
 */
const struct lc_export *unversioned_export(const struct lc_library *library, const char *name,
					   bool *known);

/*
 * Whether a name that the list does not have is of the kind that a library
 * without version nodes exports: it begins as some of its names do, "cu" or "nvml", and
 * goes on with a capital letter.  cublasCreate is none of the driver's.  Returns
 * the length of that beginning; 0: it is of no such kind.
 */
size_t kind_length(const struct lc_library *library, const char *name);

enum needed_kind {
	NEEDS_OTHER,		/* not this library */
	NEEDS_REAL,		/* libcudart.so.12 */
	NEEDS_RENAMED,		/* libcudart-09529672.so.12.6.77, of auditwheel */
	NEEDS_STUB
};

/* What a DT_NEEDED names; *major is 0 where the name does not tell. */
enum needed_kind needed_kind(const struct table *table, const char *soname, int *major);

#endif
