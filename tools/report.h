/* SPDX-License-Identifier: MIT */
/* report.h - what an audit says of a file, and of all files together */
#ifndef REPORT_H
#define REPORT_H

#include "findings.h"

/* Versions by their index in tables->toolkits. */
struct report {
	struct tables *tables;
	bool json;
	bool targets[64];	/* which versions are spelt out */
	bool runs[64];		/* on which versions every file seen so far runs */
	size_t importing[64];	/* files of those seen that run there, of those that import */
	size_t importers, files, errors;
	bool drives;		/* something is imported of the driver's libraries */
	size_t driver;		/* the oldest that has it all */
	bool quiet;		/* files that have nothing to do with CUDA are not shown */
};

void report_begin(struct report *report);
/* One file; returns whether it runs on each version in `runs`. */
void report_file(struct report *report, struct lc_arena *arena, const char *file,
		 const char *wheel, const struct findings *findings);
void report_error(struct report *report, const char *file, const char *wheel, const char *error);
void report_end(struct report *report, struct lc_arena *arena);

#endif
