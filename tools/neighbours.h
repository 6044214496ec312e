/* SPDX-License-Identifier: MIT */
/* neighbours.h - the files beside one in its wheel or folder, and which of them ld.so finds */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../stubs/base/arena.h"
#include "../stubs/base/image.h"

#define ELF_START 20	/* bytes of an ELF file that tell its kind and machine */

struct neighbour {
	const char *key;	/* by which it is sorted */
	const char *path;	/* in a folder: its path */
	uint64_t entry;		/* in a wheel: where in the directory */
};

struct neighbour_list {
	struct neighbour *list;
	size_t count;
};

struct neighbours {
	struct lc_arena arena;
	struct neighbour_list names;	/* by file name */
	struct neighbour_list installed;	/* of a wheel, by their paths below site-packages */
	const void *wheel;		/* its bytes; NULL: it is a folder */
	size_t size;
	const char *wrong;		/* what is wrong with the wheel, or NULL */
	bool foreign;			/* its tags are of other systems than Linux */
	unsigned requires_stubs;	/* enum of link/tables/requirement.h: where it requires the stubs */
	/* What is seen inside the wheel, when it is asked for. */
	bool looked;
	struct loader *loaders;		/* its ELF files */
	size_t loader_count;
	struct lc_strings texts;	/* names of libraries that stand in its Python */
	struct lc_strings defined;	/* names that may be CUDA's, and that its ELF files define */
	size_t steps;			/* that are left for the search, so that it is linear */
};

/* A file that needs libraries. */
struct searcher {
	const char *installed;		/* its path below site-packages; NULL: elsewhere, or not known */
	const char *run_path;		/* DT_RUNPATH or DT_RPATH; or NULL */
	bool by_rpath;			/* it has no DT_RUNPATH */
	unsigned char start[ELF_START];
};

void neighbours_of_wheel(struct neighbours *all, const char *path, const void *bytes, size_t size);
void neighbours_of_folder(struct neighbours *all, const char *path);
void neighbours_free(struct neighbours *all);

/* Of a file that is at least ELF_START bytes in memory; the run path lives as long as these. */
static inline void searcher_read(struct searcher *from, const struct lc_image *image)
{
	from->by_rpath = !lc_image_has(image, DT_RUNPATH);
	from->run_path = lc_image_string(image, from->by_rpath ? DT_RPATH : DT_RUNPATH);
	memcpy(from->start, image->source.bytes, ELF_START);
}

/* Returns true if there is a file of this name. */
bool neighbours_have(const struct neighbours *all, const char *name);
/* Whether ld.so finds a library of this name for the file: through its run path, or as something
 * that needs the file, or the wheel's Python, has loaded it before.  Of a folder, whose users may say
 * where to look: wherever it lies. */
enum serves {
	SERVES_NOT,
	SERVES,
	SPOILS		/* what is found is no library: ld.so looks no further */
};
enum serves neighbours_serve(struct neighbours *all, const struct searcher *from, const char *name);
/* Calls `each` with the needs of a wheel's file, of what needs it, and of all that these need; false if
 * that takes too long. */
bool neighbours_needs(struct neighbours *all, const struct searcher *from,
		      void (*each)(const char *soname, void *data), void *data);
/* Returns true if a file of the wheel defines this name. */
bool neighbours_define(struct neighbours *all, const char *name);
/* Returns true if the package that has the stubs is installed with a wheel, for this file. */
bool neighbours_require_stubs(const struct neighbours *all, const struct searcher *from);

#endif
