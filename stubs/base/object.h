/* SPDX-License-Identifier: MIT */
/*
 * object.h - checks whether a file can be loaded as a real library
 *
 * Version nodes tell a real library from a stub, and give its major.  The file is
 * read and not mapped: if a mapped file were truncated meanwhile, the process would die.
 */
#ifndef OBJECT_H
#define OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "../entry/stub.h"
#include "arena.h"

struct lc_image;	/* image.h */

#define LC_PRIVATE_NODE "LAZYCUDA_1"	/* the version node that only stubs define */

/* Stays the same as long as nobody replaces or changes a file. */
struct lc_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
};

static inline struct lc_identity lc_identity(const struct stat *st)
{
	return (struct lc_identity){ st->st_dev, st->st_ino, st->st_size, st->st_mtim };
}

static inline bool lc_same_file(struct lc_identity a, struct lc_identity b)
{
	return a.device == b.device && a.inode == b.inode && a.size == b.size &&
	       a.modified.tv_sec == b.modified.tv_sec && a.modified.tv_nsec == b.modified.tv_nsec;
}

/* Returns true if two paths lead to the same file. */
bool lc_lead_to_same(const char *a, const char *b);

struct lc_elf {
	struct lc_identity identity;	/* of the file that was read, even if replaced since */
	char soname[128];
	bool stub;		/* a lazycuda stub, under whatever name */
	const struct lc_major *major;	/* by version nodes or, for a library that has
					   none, by SONAME; NULL: not this library */
	lc_version version;	/* at least this one, proven by the names in the file */
	uint32_t needs;		/* of a library with majors of its own: the CUDA majors of the
				   libraries that it needs, a bit for each */
	uint32_t siblings;	/* of the libraries of CUDA's that it needs: lc_cuda_kind() */
	int error;		/* errno, if the reason does not imply it; else 0 */
};

/* What a file needs of CUDA's other libraries, and where it says that they are. */
struct lc_siblings {
	struct lc_strings sonames;
	const char *path;	/* DT_RUNPATH, else DT_RPATH; NULL: it has none */
};

/* Adds to *set the CUDA majors that the SONAMEs of the needed libraries imply. */
void lc_cuda_needed(const struct lc_image *image, uint32_t *set);

/* The newest version of this major that a name in the string table proves. */
lc_version lc_proven_version(const struct lc_library *library, const struct lc_major *major,
			     const char *strings, size_t size);

/* The newest version that a library can have if its names prove no more than `proven`: it lacks
 * the names that came later. */
lc_version lc_latest_version(const struct lc_library *library, lc_version proven);

/*
 * Reads a file that might be the given library.  Returns NULL, or why it cannot
 * be loaded into this process, as a phrase: "is a directory".  Opens the file
 * once, never blocks on it, reads no further than the tables it needs, and
 * trusts nothing that it reads.
 */
const char *lc_elf_file(const char *path, const struct lc_library *library, struct lc_elf *elf);

/* Reads what a file needs, in the same way.  Of a file that cannot be read it is nothing. */
void lc_elf_siblings(struct lc_arena *arena, const char *path, struct lc_siblings *siblings);

#endif
