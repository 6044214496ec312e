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

#include "callers.h"

/* A real library that something has loaded. */
struct lc_real {
	const struct lc_library *library;
	int major;		/* also one that is not in the list; 0: it has none */
	lc_version version;	/* at least this one; 0: not known */
	uint32_t needs;		/* of one with majors of its own, as in struct lc_elf */
	const char *path;
	bool private;		/* another SONAME: who needs the library does not get this one */
};

/* An object that needs a stub, or the stub itself. */
struct lc_user {
	const char *path;	/* absolute if ld.so has an absolute one */
	const char *rpath;	/* DT_RPATH, unless there is a DT_RUNPATH; or NULL */
	const char *runpath;
	const struct lc_library *needs;	/* whose stub it needs; NULL: it is a stub or the program */
	bool program;		/* its DT_RPATH applies to all objects, whatever it needs */
	uint32_t majors;	/* that it was compiled for, a bit for each: those of its imports */
};

/* A site-packages of the process, and an object that was loaded from it, or the folder of the
 * Python that searches it. */
struct lc_neighbour {
	const char *site, *object;
};

struct lc_aside;	/* aside.h */

struct lc_process {
	size_t object_count;	/* all that are loaded */
	struct lc_real *reals;
	size_t real_count;
	struct lc_user *users;
	size_t user_count;
	struct lc_neighbour *neighbours;
	size_t loaded_neighbour_count;	/* those that something was loaded from, before the others */
	size_t neighbour_count;
	bool python;		/* the others were read */
	const char *libc;	/* path of libc.so.6; NULL: not loaded */
	bool audited;		/* an auditor comes between a stub and ld.so, or may do so */
	bool own_dlopen;	/* dlopen() is glibc's own */
	struct lc_callers callers;	/* what the users import, if requested */
};

#define LC_PEER_SYMBOL "lazycuda_stub_1"

/* A stub in the process.  auditwheel may have renamed it. */
struct lc_stub {
	const char *path;
	const char *soname;	/* its name in DT_NEEDED entries */
	void *record;		/* its lc_peer; NULL: not found without ld.so */
	bool embedded;		/* in an object that is no stub; `record` may lead anywhere in it */
	/* left NULL by lc_process_stubs() */
	const struct lc_library *library;
	const struct lc_aside *aside;	/* NULL: it has opened nothing aside */
	int callers;		/* the CUDA that those of an embedded stub were compiled for */
};

/* So many bytes has a record of any release. */
#define LC_RECORD_BYTES 152

/* Lists all objects that define the stubs' private version node, and what may be embedded stubs of
 * other objects, in load order. */
size_t lc_process_stubs(struct lc_arena *arena, struct lc_stub **stubs);

/* How many objects have been loaded into the process and unloaded, in all. */
struct lc_loads {
	unsigned long long added, removed;
};

/* Costs no system call. */
struct lc_loads lc_process_loads(void);

/* Reads what concerns the given stubs.  A stub that is not there has "" as its path. */
void lc_process_read(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		     bool callers, struct lc_process *process);

/* Adds the site-packages that the program's Python searches, once: it takes system calls. */
void lc_process_read_python(struct lc_arena *arena, struct lc_process *process);

/* Adds what has been loaded since, if nothing was unloaded, and takes no lock of ld.so's.  Returns false
 * if a stub, a user of one or something of another site-packages is among it, or if memory ran out: then
 * everything has to be read again. */
bool lc_process_update(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		       struct lc_process *process);

/* Returns true if a real library of that kind and of a listed major is loaded, and not aside. */
bool lc_process_has(const struct lc_library *library, const struct lc_aside *aside);

/* The path of the first loaded object with this SONAME that is no stub; NULL: there is none. */
const char *lc_process_path_of(struct lc_arena *arena, const char *soname);

/* Returns the major of the loaded object `map`; below 0 if it is not that library.  Sets
 * *image to what the object is, if it was found. */
int lc_process_major(const struct link_map *map, const struct lc_library *library,
		     struct lc_image *image);

#endif
