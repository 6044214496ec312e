/* SPDX-License-Identifier: MIT */
/* report.h - prints what an audit found in each file, and in all files together */
#ifndef REPORT_H
#define REPORT_H

#include "findings.h"

/* A version is an index into tables->toolkits. */
struct report {
	struct tables *tables;
	bool json;
	bool targets[64];	/* versions to report one by one */
	bool runs[64];		/* versions on which every file so far runs */
	size_t importing[64];	/* for each version, the files with CUDA imports that run on it */
	size_t importers, files, errors;
	bool drives;		/* some file imports from the driver's libraries */
	size_t driver;		/* the oldest driver that has all of these imports */
	bool quiet;		/* omit files without CUDA */
};

void report_begin(struct report *report);
/* Reports one file, and updates `runs` and the other totals. */
void report_file(struct report *report, struct lc_arena *arena, const char *file,
		 const char *wheel, const struct findings *findings);
void report_error(struct report *report, const char *file, const char *wheel, const char *error);
void report_end(struct report *report, struct lc_arena *arena);

#endif
