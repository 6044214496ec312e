/* SPDX-License-Identifier: MIT */
/*
 * unknown.h - real libraries of majors and SONAMEs that are not in symbols.txt
 *
 * These are never used, because their interfaces are not known.  They are only
 * reported, so that a user who has no other library learns why this one is not used.
 */
#ifndef UNKNOWN_H
#define UNKNOWN_H

#include "../base/arena.h"
#include "../entry/stub.h"

/* How many majors after the newest one to look for. */
#define LC_LATER_MAJORS 4

/* The row of a major in the list; NULL: there is none. */
const struct lc_major *lc_listed_major(const struct lc_library *library, int major);

/* The major that a SONAME or version node of this library names, if it is not in
 * the list; else 0. */
int lc_unknown_major(const struct lc_library *library, const char *node);

/* Why such a library is not used. */
const char *lc_unknown_reason(struct lc_arena *arena, const struct lc_library *library, int major);

/* Why a library with an earlier SONAME than the one listed for its major, such as
 * libnvrtc.so.11.1, is not used; NULL for any other SONAME. */
const char *lc_older_reason(struct lc_arena *arena, const struct lc_library *library,
			    const char *soname);

/* A row with an earlier SONAME of a major, "libnvrtc.so.11.1" for "libnvrtc.so.11.2"; NULL if
 * there is none. */
const struct lc_major *lc_older_soname(struct lc_arena *arena, const struct lc_major *major);

/* A row for a later major, with a SONAME and a folder modelled on the newest one's. */
const struct lc_major *lc_later_major(struct lc_arena *arena, const struct lc_major *newest,
				      int later);

#endif
