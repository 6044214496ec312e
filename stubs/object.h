/* SPDX-License-Identifier: MIT */
/*
 * object.h - what a shared object says of itself
 *
 * The same questions are asked of a file that may be loaded and of an object
 * that is: its SONAME and its version nodes, which tell a real library, its
 * major and a stub apart.
 */
#ifndef OBJECT_H
#define OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "stub.h"

#define LC_PRIVATE_NODE "LAZYCUDA_1"	/* the version node that only stubs define */
struct lc_elf {
	char soname[128];
	bool stub;		/* it is one of ours, under whatever name */
	const struct lc_major *major;	/* by its version nodes; NULL: not this library */
	lc_version version;	/* at least this one, by the names in it */
};

/*
 * Reads a file that might be the given library.  Returns NULL, or why it cannot
 * be loaded into this process, as a phrase: "is a directory".  Opens the file
 * once, never blocks on it, reads no further than the tables it needs, and
 * trusts nothing that it reads.
 */
const char *lc_elf_file(const char *path, const struct lc_library *library, struct lc_elf *elf);

/*
 * Reads a loaded object's dynamic section, from within dl_iterate_phdr().
 * `tags` receives the values of DT_SONAME, DT_RPATH and DT_RUNPATH as strings
 * that live as long as the object does, or NULL.
 */
struct lc_loaded {
	const char *soname, *rpath, *runpath;
	const ElfW(Dyn) *dynamic;
	const char *strings;
	size_t strings_size;
	uintptr_t base;
	uintptr_t verdef;
	size_t verdef_count;
};

bool lc_elf_loaded(const struct dl_phdr_info *info, struct lc_loaded *loaded);

/* Calls `each` with every version node the loaded object defines, until it
 * returns true; returns whether it did. */
bool lc_elf_loaded_node(const struct lc_loaded *loaded,
			bool (*each)(const char *node, void *data), void *data);

/* The same with every DT_NEEDED. */
bool lc_elf_loaded_needed(const struct lc_loaded *loaded,
			  bool (*each)(const char *soname, void *data), void *data);

#endif
