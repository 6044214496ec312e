/* SPDX-License-Identifier: MIT */
/*
 * aside.h - real libraries that are loaded beside those of the stubs
 *
 * The dispatch module opens linkers and compilers by itself.  No stub takes them for
 * libraries that the process uses: they decide neither its choice nor the process's major.
 */
#ifndef ASIDE_H
#define ASIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../entry/stub.h"

#define LC_MAX_ASIDE 16

/* What the stub of one library has opened aside, by the path that dlopen() was given. */
struct lc_aside {
	const char *_Atomic paths[LC_MAX_ASIDE];
};

/* `aside` is NULL for a library that has no stub here. */
bool lc_is_aside(const struct lc_aside *aside, const char *path);

/* Loads a real library of this kind, and records it.  Returns what dlopen() returns, or NULL for any
 * other file. */
void *lc_open_aside(const struct lc_library *library, struct lc_aside *aside, const char *path);

#endif
