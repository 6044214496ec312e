/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - what would become of a call, by the tables alone
 *
 * A pure function of the list: nothing is loaded, no file is opened.  It says
 * what the loader comes to when it resolves the caller's slot in a library of
 * that version; a library that lacks what its version exports is another matter.
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

/* The major of a version node of this library: 11 for "libnvrtc.so.11.1"; 0 if
 * the node is another's; a library without majors has none. */
int lc_node_major(const struct lc_library *library, const char *node);

/* `adaptors` ends with a row that has no function; NULL: there are none. */
enum lc_verdict lc_judge(const struct lc_library *library, const struct lc_adaptor *adaptors,
			 const struct lc_export *import, lc_version version);

#endif
