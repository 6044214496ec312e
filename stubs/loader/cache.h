/* SPDX-License-Identifier: MIT */
/*
 * cache.h - what one search found out, for the searches after it
 *
 * The stubs of a process look at the same objects, folders and files.  The first one that
 * searches keeps what it saw in the record of the first stub, and the others look it up
 * there.  A search takes it, has it alone, and gives it back at its end; a search that finds
 * nothing to take, because another thread has it, looks at everything itself.
 *
 * What is known holds as long as ld.so has unloaded nothing and loaded no stub and no
 * user of one, the process and its user are the same, and so are the variables that lead
 * to folders, and so are all paths in the file system that were looked at.  If anything differs,
 * all of it is read again.
 *
 * It is never freed once a status that points into it was published.
 */
#ifndef CACHE_H
#define CACHE_H

#include "choice.h"
#include "../base/object.h"
#include "peers.h"
#include "places.h"
#include "process.h"

enum lc_of_driver { LC_OF_DRIVER_CUDA, LC_OF_DRIVER_NVML, LC_OF_DRIVER };

/* libcuda.so.1 and libnvidia-ml.so.1, which every stub looks for, by enum lc_of_driver.  The real
 * libraries: no stub for them needs to be in the process. */
extern const struct lc_library *const lc_of_driver[LC_OF_DRIVER] LC_HIDDEN;

/* Another path to the same file. */
struct lc_other_path {
	const char *path, *found_by;
	struct lc_other_path *next;	/* in the order of the places */
};

/* A file that was found, as a candidate. */
struct lc_file {
	const char *path;
	const char *found_by;	/* as in lazycuda.h */
	bool stub;		/* a lazycuda stub: no sign that a real library is here */
	bool left;		/* nor is this: what is left of one, an empty file or a dangling link */
	bool astray;		/* a link that is not safe to follow */
	bool misnamed;		/* its name is that of another major */
	uint32_t siblings;	/* as in struct lc_elf */
	struct lc_identity identity;	/* when it was found or read; zero: not known */
	struct lc_other_path *other_paths;	/* beside which may lie what it needs */
};

/* What was found in the places for one library, whatever stub looks for it. */
struct lc_sought {
	const struct lc_library *library;
	struct lc_places places;
	struct lc_candidate *candidates;
	size_t count;
	size_t kinds;		/* in how many kinds of places it was looked for */
	bool later;		/* majors that are not in the list were looked for as well */
};

/* The variables that lead to folders and count as they are now: users set them by hand. */
#define LC_LEADING 3
extern const char lc_leading[LC_LEADING][16];

struct lc_cache {
	struct lc_arena arena;		/* owns all that this leads to */
	struct lc_cache *older;		/* kept because statuses point into it */
	bool used;			/* statuses point into this one, too */
	bool spent;			/* not to be used by another search */
	bool callers;			/* the process's callers were read */
	bool surveyed;
	unsigned long long began;	/* in ns: no two began at the same time */
	struct lc_loads loads;
	uid_t user;
	const char *variables[LC_LEADING];
	struct lc_peers peers;
	struct lc_stub *libraries;	/* of the peers, and the driver's */
	size_t library_count;
	struct lc_process process;
	struct lc_survey survey;
	struct lc_sought **sought;
	size_t sought_count;
	unsigned long taken;	/* how often it was taken */
	unsigned long rounds;	/* through the places: one for each library and major */
};

/* Takes what is known and still holds, or begins anew; NULL: memory ran out.  `callers` says that
 * what the loaded objects import may matter. */
struct lc_cache *lc_cache_take(bool callers);

/* Gives it back.  `used` says that something that stays points into it. */
void lc_cache_give(struct lc_cache *cache, bool used);

/* Called in the child of a fork(), which may go on in another root or as another user. */
void lc_cache_forked(void);

/* Returns true if a file or folder that was looked at has changed since a search that took what
 * `began` then.  Takes nothing: false while another search is under way. */
bool lc_cache_changed(unsigned long long began);

/* Returns true if the run path of an object leads to the library behind the stub that it needs, and it may
 * have come since a search that saw so many users, when so many objects had been unloaded.  Sets *unsure
 * if memory ran out or another search is under way.  Takes no lock of ld.so's: a constructor that holds it may be
 * waiting for this very call. */
bool lc_cache_has_new_users(size_t users, unsigned long long removed, bool *unsure);

/* The survey.  The first call makes it. */
struct lc_survey *lc_cache_survey(struct lc_cache *cache);

#endif
