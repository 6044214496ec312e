/* SPDX-License-Identifier: MIT */
/* tally.h - counts the verdicts on a file's imports on a version, and words the result */
#ifndef TALLY_H
#define TALLY_H

#include "findings.h"

struct tally {
	size_t direct, renamed, adapted;
	struct lc_strings refused, absent;
	struct lc_strings undriven;	/* missing from the driver, on any CUDA */
	bool incomplete;	/* memory ran out: there may be more of the names */
};

/* A version is an index into tables->toolkits. */
void count(struct lc_arena *arena, struct tables *tables, const struct findings *findings,
	   size_t toolkit, struct tally *tally);
/* Returns true if the file needs what a CUDA has, and the driver that is assumed is of an older major
 * than this one. */
bool above_driver(const struct tables *tables, const struct findings *findings, size_t toolkit);
bool tally_runs(const struct tally *tally);	/* false for one that is incomplete */

/* The version of a library, of this row of its majors, from which on it serves all that the file
 * imports from it; 0 if the newest does not. */
lc_version serves_from(const struct findings *findings, const struct table *table, size_t row);

/* Finds the oldest driver that has all imports from driver libraries; false if there are
 * no such imports. */
bool driver_needed(struct tables *tables, const struct findings *findings, size_t *needed);

/* Returns false for imports that have neither a version nor a needed library, and that something
 * which the file needs may bring: they are reported but not judged. */
bool is_judged(const struct found_import *import);
bool imports_any(const struct findings *findings);

/* The index after the last toolkit of the major that begins at `first`. */
size_t end_of_major(const struct tables *tables, size_t first);

/* ---- in words ---- */

const char *format_version(struct lc_arena *arena, lc_version version);
/* format_version() for a version of this library. */
const char *format_own(struct lc_arena *arena, const struct table *table, lc_version version);
const char *list_names(struct lc_arena *arena, const struct lc_strings *names);
/* "5 refused: a, b, c and 2 more; 1 absent: d": of each kind about so many names. */
const char *problems(struct lc_arena *arena, const struct tally *tally, size_t most);
/* "runs on 12.0 and later and on 13"; "" if it runs on none. */
const char *runs_text(struct lc_arena *arena, const struct tables *tables, const bool *on);
/* ", with a driver of CUDA 12.5 or later"; "" if any driver will do. */
const char *driver_text(struct lc_arena *arena, const struct tables *tables, size_t needed);

#endif
