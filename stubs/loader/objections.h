/* SPDX-License-Identifier: MIT */
/* objections.h - what a candidate is, and what speaks against it whatever else was found */
#ifndef OBJECTIONS_H
#define OBJECTIONS_H

#include <stdbool.h>

#include "settings.h"
#include "../entry/stub.h"

/* How a candidate was found, in order of preference. */
enum lc_origin {
	LC_BY_OVERRIDE,		/* named by LAZYCUDA_CUDART or the like */
	LC_BY_PROCESS,		/* already loaded by something else */
	LC_BY_SEARCH
};

/* For whom the place of a file was meant, the nearest first (docs/reference/how-it-works.md). */
enum lc_tier {
	LC_OF_CALLER,		/* LAZYCUDA_PATH, run paths, its own site-packages and conda prefix */
	LC_OF_SHELL,		/* LD_LIBRARY_PATH */
	LC_OF_PROCESS,		/* what else Python and other stubs' callers have */
	LC_OF_MACHINE,
	LC_TIERS
};

/* A file that could be loaded, as far as is known without loading it. */
struct lc_candidate {
	enum lc_origin origin;
	enum lc_tier tier;	/* of one that was searched for: the nearest place that has it */
	int major;
	lc_version version;	/* at least this one; 0: only the major is known */
	lc_version latest;	/* and at most this one; 0: only the major is known */
	size_t refuses;		/* imports of the loaded objects that it would refuse, */
	const char *refused;	/* one of them, */
	const char *importer;	/* and the file that imports it */
	const char *lacks;	/* what it cannot work without is not there: says what; else NULL */
	uint32_t cuda;		/* of a library with majors of its own: the CUDA majors that it may
				   belong to, a bit for each; 0: it goes with any */
	const char *cuda_reason;	/* what tells `cuda`, or that nothing does; else NULL */
	bool by_folder;		/* only a folder's name tells it */
	bool private;		/* it is in the process for those alone who name it otherwise */
	const char *unusable;	/* damaged, foreign, or loading it has failed: says which */
	const char *unbound;	/* why dlopen() did not bind all its functions; NULL: it did, or
				   was not asked yet */
	struct lc_file *file;	/* cache.h; no choice depends on it */
};

/* One stub in the process and what was found for it, in order of preference. */
struct lc_voter {
	const struct lc_library *library;
	struct lc_candidate *candidates;
	size_t candidate_count;
	lc_version loaded;	/* the version that the stub has loaded; 0: none yet */
	uint32_t callers;	/* the library's majors that callers were compiled for, a bit for each */
	const struct lc_adaptor *adaptors;	/* of its stub */
	bool hidden;		/* by a variable */
	struct lc_sought *sought;	/* cache.h: what was found in places; NULL: nobody looked there, */
	size_t sought_count;	/* and how much of that is among the candidates */
};

struct lc_circumstances {
	struct lc_settings settings;
	lc_version driver;	/* 0: no driver */
	int branch;		/* of the display driver; 0: unknown */
	int process_major;	/* the one that the stubs have agreed on; 0: none */
	const struct lc_voter *voters;	/* every stub in the process */
	size_t voter_count;
	size_t self;		/* the voter to choose for */
};

bool lc_is_guarded(const struct lc_circumstances *at);
bool lc_heeds_driver(const struct lc_circumstances *at);

/* Returns true if it matters whether the driver can run a stub's library. */
bool lc_asks_driver(const struct lc_circumstances *at, const struct lc_voter *voter);

/* The majors of CUDA that a candidate may belong to, a bit for each; 0: it goes with any. */
uint32_t lc_cuda_of(const struct lc_voter *voter, const struct lc_candidate *candidate);

/* Returns true if a candidate may belong to this major of CUDA; 0: to any. */
bool lc_goes_with(const struct lc_voter *voter, const struct lc_candidate *candidate, int major);

/* The major of CUDA that a candidate belongs to; 0: it goes with any, or that is not known. */
int lc_told_major(const struct lc_voter *voter, const struct lc_candidate *candidate);
bool lc_is_unclear(const struct lc_voter *voter, const struct lc_candidate *candidate);

/* Returns why the driver cannot run this candidate, or NULL if it can. */
const char *lc_driver_objection(struct lc_arena *arena, const struct lc_circumstances *at,
				const struct lc_voter *voter, const struct lc_candidate *candidate);

/* Returns why a candidate may not be taken, whatever the other stubs do, or NULL.  What the driver
 * cannot run may be, unless the guard is strict. */
const char *lc_objection(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_voter *voter, const struct lc_candidate *candidate);

/* Returns why the user's constraints allow no version that a candidate can have, or NULL.  They
 * do not concern a file that the user names, nor one that goes with any CUDA. */
const char *lc_why_excluded(struct lc_arena *arena, const struct lc_circumstances *at,
			    const struct lc_voter *voter, const struct lc_candidate *candidate);

/* Returns true if anything about the driver can change the choice; with `branch`, if the display
 * driver's can: the driver has the same major as a candidate and may be older. */
bool lc_choice_needs_driver(const struct lc_circumstances *at, bool branch);

#endif
