/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - predicts the outcome of a call from the tables alone
 *
 * A pure function of the tables: it loads nothing and opens no file.  It returns
 * what the loader decides when it resolves the caller's slot in a library of that
 * version.  It does not cover a library that lacks what its version exports.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "../entry/stub.h"

enum lc_verdict {
	LC_RUNS_DIRECT,		/* the same name has the caller's interface there */
	LC_RUNS_RENAMED,	/* another name of its family has it */
	LC_RUNS_ADAPTED,	/* an adaptor calls what is there */
	LC_IS_REFUSED,		/* the name is there, with another interface */
	LC_IS_ABSENT,
	LC_VERDICTS
};

/* The row of a name as callers compiled for this major import it; NULL if no
 * library of that major exports it. */
const struct lc_export *lc_find_export(const struct lc_library *library, const char *name,
				       int major);

/* The major of a version node of this library: 11 for "libnvrtc.so.11.1"; 0 if the
 * node is not this library's.  A library without majors has no such nodes. */
int lc_node_major(const struct lc_library *library, const char *node);

/* What people call a version of a library; NULL if it is called by its major and minor. */
const char *lc_called_number(const struct lc_numbered *called, size_t count, lc_version version);

/* `adaptors` ends with a row that has no function; NULL if there are none. */
enum lc_verdict lc_judge(const struct lc_library *library, const struct lc_adaptor *adaptors,
			 const struct lc_export *import, lc_version version);

#endif
