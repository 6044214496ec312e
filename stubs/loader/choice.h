/* SPDX-License-Identifier: MIT */
/*
 * choice.h - chooses a library among those found
 *
 * A pure function of candidates and circumstances, which it does not change.  It returns
 * a choice with a reason for each candidate.  No I/O, no state, the same answer in any
 * thread and in any stub.
 */
#ifndef CHOICE_H
#define CHOICE_H

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
struct lc_option {
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
	const char *told;	/* what tells `cuda`, or that nothing does; else NULL */
	bool by_folder;		/* only a folder's name tells it */
	bool private;		/* it is in the process for those alone who name it otherwise */
	const char *unusable;	/* damaged, foreign, or loading it has failed: says which */
	const char *unbound;	/* why dlopen() did not bind all its functions; NULL: it did, or
				   was not asked yet */
};

/* One stub in the process and what was found for it, in order of preference. */
struct lc_seat {
	const struct lc_library *library;
	struct lc_option *options;
	size_t option_count;
	lc_version loaded;	/* the version that the stub has loaded; 0: none yet */
	uint32_t callers;	/* the library's majors that callers were compiled for, a bit for each */
};

struct lc_circumstances {
	struct lc_settings settings;
	lc_version driver;	/* 0: no driver */
	int branch;		/* of the display driver; 0: unknown */
	int process_major;	/* the one that the stubs have agreed on; 0: none */
	const struct lc_seat *seats;	/* every stub in the process */
	size_t seat_count;
	size_t self;		/* the seat to choose for */
};

struct lc_choice {
	int option;		/* of seats[self]; -1: none */
	enum lc_refusal refusal;	/* if none: MISSING, DRIVER, INCOHERENT or EXCLUDED */
	bool objected;		/* the driver cannot run it */
	const char *reason;	/* why this one, or why none */
	int common;		/* the major of CUDA for the process; 0: none */
	const char **reasons;	/* of each option of seats[self]: why it was taken or not */
};

/* Returns true if a choice stands whatever lies farther: only the tiers before `end` were looked at. */
bool lc_choice_stands(struct lc_arena *arena, const struct lc_circumstances *at,
		      const struct lc_choice *choice, enum lc_tier end);

/* Reasons are allocated in `arena`; if it has failed, there is no choice. */
struct lc_choice lc_choose(struct lc_arena *arena, const struct lc_circumstances *at);

#endif
