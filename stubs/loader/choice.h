/* SPDX-License-Identifier: MIT */
/*
 * choice.h - which library, of those found
 *
 * A pure function: candidates and circumstances in, a choice with a reason for
 * each candidate out.  No I/O, no state, the same answer in any thread.
 */
#ifndef CHOICE_H
#define CHOICE_H

#include <stdbool.h>

#include "settings.h"
#include "../entry/stub.h"

/* How a candidate was found, in order of preference. */
enum lc_origin {
	LC_BY_OVERRIDE,		/* LAZYCUDA_CUDART and its like name it */
	LC_BY_PROCESS,		/* something else has loaded it */
	LC_BY_SEARCH
};

/* A file that could be loaded, as far as could be told without loading it. */
struct lc_option {
	enum lc_origin origin;
	int major;
	lc_version version;	/* at least this one; 0: only the major is known */
	size_t refuses;		/* imports of the loaded objects that it would refuse, */
	const char *refused;	/* one of them, */
	const char *importer;	/* and the file that imports it */
	bool unusable;		/* damaged, foreign, or loading it has failed */
	const char *reason;	/* says why, if unusable; else set by the choice */
};

/* One stub in the process and what was found for it, in order of preference. */
struct lc_seat {
	const char *library;	/* "nvrtc" */
	struct lc_option *options;
	size_t option_count;
	lc_version loaded;	/* what the stub uses already; 0: nothing yet */
};

struct lc_circumstances {
	struct lc_settings settings;
	int driver;		/* 1000 * major + 10 * minor; 0: no driver */
	int branch;		/* of the display driver; 0: unknown */
	int process_major;	/* that the stubs of the process have agreed on; 0: none */
	struct lc_seat *seats;	/* every stub in the process */
	size_t seat_count;
	size_t self;		/* the one to choose for */
	bool without_majors;	/* it has none: nothing of the above bears on it */
	bool alone;		/* they are its own: neither does the driver, nor another stub */
};

struct lc_choice {
	int option;		/* of seats[self]; -1: none */
	enum lc_refusal refusal;	/* if none: MISSING, DRIVER or INCOHERENT */
	const char *reason;	/* why this one, or why none */
};

/* Whether anything about the driver can change the choice. */
bool lc_choice_needs_driver(const struct lc_circumstances *at);

/* Whether the display driver's branch can: the driver is of the same major as
 * a candidate and may be older. */
bool lc_choice_needs_branch(const struct lc_circumstances *at);

/* Reasons are allocated in `arena`. */
struct lc_choice lc_choose(struct lc_arena *arena, struct lc_circumstances *at);

#endif
