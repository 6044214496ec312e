/* SPDX-License-Identifier: MIT */
/*
 * process.h - what is loaded in this process
 *
 * Walks the loaded objects and copies what the search needs.  ld.so holds a lock
 * during the walk, so nothing is opened or allocated there: dlopen() would deadlock
 * with a dlopen() in another thread.
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
	int major;		/* also one that is not in the list; 0: it has none */
	lc_version version;	/* at least this one; 0: not known */
	const char *path;
};

/* An object that needs a stub, or the stub itself. */
struct lc_user {
	const char *path;	/* absolute if the dynamic loader has it so */
	const char *rpath;	/* DT_RPATH, unless there is a DT_RUNPATH; or NULL */
	const char *runpath;
	const struct lc_library *needs;	/* whose stub it needs; NULL: a stub, or the program */
};

struct lc_process {
	struct lc_real *reals;
	size_t real_count;
	struct lc_user *users;
	size_t user_count;
	const char *libc;	/* path of libc.so.6; NULL: not loaded */
	struct lc_callers callers;	/* what the users import, if requested */
};

/* A stub in the process.  auditwheel may have renamed it. */
struct lc_stub {
	const char *path;
	const char *soname;	/* its name in DT_NEEDED entries */
	const struct lc_library *library;	/* left NULL by lc_process_stubs() */
};

/* Lists all objects that define the stubs' private version node, in load order. */
size_t lc_process_stubs(struct lc_arena *arena, struct lc_stub **stubs);

/* Reads what concerns the given stubs. */
void lc_process_read(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		     bool callers, struct lc_process *process);

/* Returns true if a real library of that kind, of a listed major, is loaded. */
bool lc_process_has(const struct lc_library *library);

/* Returns the major of the loaded object `map`; below 0 if it is not that library. */
int lc_process_major(const struct link_map *map, const struct lc_library *library);

/* Grows whenever an object is loaded; costs no system call. */
unsigned long long lc_process_loads(void);

/* The last part of a path. */
const char *lc_basename(const char *path);

#endif
