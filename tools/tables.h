/* SPDX-License-Identifier: MIT */
/* tables.h - the tables that the stubs are made of, read from the stubs */
#ifndef TABLES_H
#define TABLES_H

#include <stdbool.h>

#include "../stubs/verdict.h"

#define LIBRARIES 3

struct table {
	const struct lc_library *library;
	const struct lc_adaptor *adaptors;
	unsigned char *verdicts;	/* of what was asked: see judge() */
};

struct tables {
	struct table all[LIBRARIES];
	lc_version toolkits[64];	/* that the list knows, oldest first */
	size_t toolkit_count;
};

/* NULL, or what is wrong. */
const char *tables_read(struct tables *tables);
void tables_free(struct tables *tables);

/* As lc_judge(), remembered; `toolkit` indexes tables->toolkits. */
enum lc_verdict judge(struct tables *tables, struct table *table,
		      const struct lc_export *import, size_t toolkit);

/*
 * The row for an import without a version, which a stub serves only if the
 * name means one interface in all majors; NULL if it does not.  *known says
 * whether the library has the name at all.
 */
const struct lc_export *unversioned_export(const struct lc_library *library, const char *name,
					   bool *known);

enum needed_kind {
	NEEDS_OTHER,		/* not this library */
	NEEDS_REAL,		/* libcudart.so.12 */
	NEEDS_RENAMED,		/* libcudart-09529672.so.12.6.77, of auditwheel */
	NEEDS_STUB
};

/* What a DT_NEEDED names; *major is 0 where the name does not tell. */
enum needed_kind needed_kind(const struct lc_library *library, const char *soname, int *major);

#endif
