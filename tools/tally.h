/* SPDX-License-Identifier: MIT */
/* tally.h - what the imports of a file come to on a version, in numbers and in words */
#ifndef TALLY_H
#define TALLY_H

#include "findings.h"

struct names {
	const char **list;
	size_t count;
};

struct tally {
	size_t direct, renamed, adapted;
	struct names refused, absent;
	struct names undriven;	/* what the driver does not have, whichever CUDA it is */
};

/* Versions are given by their index in tables->toolkits. */
void count(struct lc_arena *arena, struct tables *tables, const struct findings *findings,
	   size_t toolkit, struct tally *tally);
bool runs(const struct tally *tally);

/* Whether all that the file imports of a library runs in this row of its own majors. */
bool serves(const struct findings *findings, struct table *table, size_t row);

/* The oldest driver that has all that is imported of the driver's; false: nothing is. */
bool driver_needed(struct tables *tables, const struct findings *findings, size_t *needed);

/* Imports that neither say their version nor where they come from may be
 * answered by anything in the process: they are told, and not judged. */
bool is_judged(const struct found_import *import);
bool imports_any(const struct findings *findings);

/* The end of the major that begins at this toolkit. */
size_t end_of_major(const struct tables *tables, size_t first);

/* ---- in words ---- */

const char *version_text(struct lc_arena *arena, lc_version version);
const char *list_names(struct lc_arena *arena, const struct names *names);
/* "2 refused: a, b; 1 absent: c" */
const char *problems(struct lc_arena *arena, const struct tally *tally);
/* "runs on 12.0 and later and on 13"; "" if on none. */
const char *runs_text(struct lc_arena *arena, const struct tables *tables, const bool *on);
/* ", with a driver of CUDA 12.5 or later"; "" if any driver will do. */
const char *driver_text(struct lc_arena *arena, const struct tables *tables, size_t needed);

#endif
