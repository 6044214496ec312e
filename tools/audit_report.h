/* SPDX-License-Identifier: MIT */
/* audit_report.h - prints what an audit found in each file, and in all files together */
#ifndef AUDIT_REPORT_H
#define AUDIT_REPORT_H

#include "audit_code.h"
#include "findings.h"

/* A version is an index into tables->toolkits. */
struct report {
	struct tables *tables;
	bool json;
	bool targets[AUDIT_TOOLKITS];	/* versions to report one by one */
	bool runs[AUDIT_TOOLKITS];		/* versions on which every file so far runs */
	bool without_cuda;	/* every file so far can be loaded where there is none */
	size_t importing[AUDIT_TOOLKITS];	/* for each version, the files with CUDA imports that run on it */
	size_t importers, files, errors;
	size_t unjudged;	/* files that are not linked yet, or for a CPU without CUDA */
	bool drives;		/* some file imports from the driver's libraries */
	size_t driver;		/* the oldest driver that has all of these imports */
	bool by_name;		/* libraries that files open by name do not count */
	bool quiet;		/* omit files without CUDA */
	struct code_wish wish;
	size_t with_code;	/* files with device code, if that was asked about */
	size_t lacking[CODE_TARGETS];	/* of these, by target, the files that do not serve it */
};

void report_begin(struct report *report);
/* Reports one file, and updates `runs` and the other totals.  `code` counts if device code
 * was asked about. */
void report_file(struct report *report, struct lc_arena *arena, const char *file,
		 const char *wheel, const struct findings *findings, const struct code *code);
void report_error(struct report *report, const char *file, const char *wheel, const char *error);
/* Returns true if there was no file that could be judged. */
bool report_nothing(const struct report *report);
void report_end(struct report *report, struct lc_arena *arena);

#endif
