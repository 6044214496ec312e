/* SPDX-License-Identifier: MIT */
/*
 * unknown.h - real libraries of majors that symbols.txt does not know
 *
 * They are never used: nobody knows their interfaces.  They are only told of,
 * so that whoever has nothing else learns why it does not do.
 */
#ifndef UNKNOWN_H
#define UNKNOWN_H

#include "../base/arena.h"
#include "../entry/stub.h"

/* How many majors after the newest one are looked for. */
#define LC_LATER_MAJORS 4

/* What the list has of a major; NULL: nothing. */
const struct lc_major *lc_listed_major(const struct lc_library *library, int major);

/* The major that a SONAME or version node of this library names, if the list
 * does not know it; else 0. */
int lc_unknown_major(const struct lc_library *library, const char *node);

/* Why such a library is not used. */
const char *lc_unknown_reason(struct lc_arena *arena, const struct lc_library *library, int major);

/* A later major, with a SONAME and a folder after the fashion of the newest. */
const struct lc_major *lc_later_major(struct lc_arena *arena, const struct lc_major *newest,
				      int later);

#endif
