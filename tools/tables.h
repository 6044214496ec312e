/* SPDX-License-Identifier: MIT */
/* tables.h - reads the stubs' tables from the stubs */
#ifndef TABLES_H
#define TABLES_H

#include <stdbool.h>

#include "../stubs/loader/peers.h"
#include "../stubs/base/verdict.h"

#ifndef LAZYCUDA_SONUMBER
# define LAZYCUDA_SONUMBER ""
#endif
/* In a system library folder, the name without a number is only for linking. */
#define STUB_SONAME(library) "lib" library "_stub.so" LAZYCUDA_SONUMBER

#define LIBRARIES 5	/* that lazycuda itself has stubs for */
#define MAX_TABLES 64	/* stubs that one audit judges by */
#define AUDIT_TOOLKITS 64

struct table {
	const struct lc_library *library;
	const char *stem;		/* of the library's file names, "libnvidia-ml" */
	size_t stem_length;
	const struct lc_adaptor *adaptors;
	unsigned char *verdicts;	/* cache of judge_on() and judge_shipped() */
	bool own;			/* `lazycuda stub` made this stub */
};

struct tables {
	struct table all[MAX_TABLES];
	size_t count;
	bool all_there;			/* all that are installed have been added */
	lc_version toolkits[AUDIT_TOOLKITS];	/* known to the list, oldest first */
	size_t toolkit_count;
	size_t driver;			/* index of the toolkit whose driver is assumed */
};

/* Has searches in this process list all candidates. */
void tables_look_everywhere(void);

/* Reads the tables of lazycuda's stubs.  Returns NULL, or what is wrong. */
const char *tables_read(struct tables *tables);
/* Adds the table of a stub that `lazycuda stub` made.  Returns NULL, or what is wrong. */
const char *tables_add(struct tables *tables, const struct lc_peer *peer);
void tables_free(struct tables *tables);

/*
 * Cached lc_judge(); `toolkit` indexes tables->toolkits.  For a library without majors,
 * which comes with the driver, tables->driver is judged instead.
 */
enum lc_verdict judge_on(struct tables *tables, struct table *table,
			 const struct lc_export *import, size_t toolkit);

/* judge_on() for a library whose majors are its own: judges the version of majors[row] that the CUDA
 * of this toolkit ships, and of a library that none ships the newest. */
enum lc_verdict judge_shipped(struct tables *tables, struct table *table,
			      const struct lc_export *import, size_t row, size_t toolkit);

/* Returns true if a driver of this version has the name of a library without majors. */
bool driver_has(struct tables *tables, struct table *table, const struct lc_export *import,
		size_t version);

/* Returns true if the stub has a variable of that name: it serves whoever imports it. */
bool has_variable(const struct table *table, const char *name);

/*
 * Returns the row for an import without a version, or NULL if the name has several
 * interfaces: a stub serves such an import only if all majors have the same one.
 * *known tells whether the library has the name at all.
 */
const struct lc_export *unversioned_export(const struct lc_library *library, const char *name,
					   bool *known);

/*
 * Returns the length of the lower-case prefix, such as "cu" or "nvml", that an
 * unknown name shares with names of a library without version nodes, or 0.  A
 * capital letter must follow the prefix, so cublasCreate is not a driver name.
 */
size_t kind_length(const struct lc_library *library, const char *name);

enum needed_kind {
	NEEDS_OTHER,		/* not this library */
	NEEDS_REAL,		/* libcudart.so.12 */
	NEEDS_RENAMED,		/* libcudart-09529672.so.12.6.77, from auditwheel */
	NEEDS_STUB
};

/* Classifies a DT_NEEDED; *major is 0 if the name does not tell the major. */
enum needed_kind needed_kind(const struct table *table, const char *soname, int *major);

#endif
