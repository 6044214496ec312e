/* SPDX-License-Identifier: MIT */
/*
 * process.h - what is loaded in this process
 *
 * Walks the loaded objects and copies what concerns the search.  Nothing is
 * opened or allocated from within the walk, which ld.so makes with a lock held:
 * dlopen() there would deadlock against a dlopen() in another thread.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <link.h>

#include "../base/arena.h"
#include "callers.h"
#include "../entry/stub.h"

/* A real library that something has loaded. */
struct lc_real {
	const struct lc_library *library;
	int major;		/* also one that the list does not know; 0: it has none */
	lc_version version;	/* at least this one; 0: nothing is known of it */
	const char *path;
};

/* An object that needs a stub, or the stub itself. */
struct lc_user {
	const char *path;	/* absolute where the loader knows it so */
	const char *rpath;	/* DT_RPATH, unless there is a DT_RUNPATH; or NULL */
	const char *runpath;
	const struct lc_library *needs;	/* whose stub; NULL: it is a stub, or the program */
};

struct lc_process {
	struct lc_real *reals;
	size_t real_count;
	struct lc_user *users;
	size_t user_count;
	const char *libc;	/* its path; NULL: no glibc's */
	struct lc_callers callers;	/* what the users import, if that was asked for */
};

/* A stub in the process.  auditwheel may have renamed it. */
struct lc_stub {
	const char *path;
	const char *soname;	/* what DT_NEEDED entries call it */
	const struct lc_library *library;	/* left NULL by lc_process_stubs() */
};

/* All objects that define the stubs' private version node, in load order. */
size_t lc_process_stubs(struct lc_arena *arena, struct lc_stub **stubs);

/* What concerns the given stubs. */
void lc_process_read(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		     bool callers, struct lc_process *process);

/* Whether a real library of that kind is loaded that could be used. */
bool lc_process_has(const struct lc_library *library);

/* Of which major the real library is that was loaded as this object; below 0 if
 * it is none of that kind. */
int lc_process_major(const struct link_map *map, const struct lc_library *library);

/* Grows whenever an object is loaded; costs no system call. */
unsigned long long lc_process_loads(void);

/* The last part of a path. */
const char *lc_basename(const char *path);

#endif
