/* SPDX-License-Identifier: MIT */
/* inject.h - which call of which function is to fail, and what is held meanwhile */
#ifndef INJECT_H
#define INJECT_H

#include <stdbool.h>
#include <stddef.h>

/* One way in which a function fails. */
struct fault {
	const char *function;
	int error;		/* errno; 0: it says no, or ends early, as a file does */
	bool passes;		/* known by it to be over some time; else it is believed */
};

extern const struct fault faults[];
extern const size_t fault_count;

/* What fails now. */
struct injection {
	const struct fault *fault;	/* NULL: nothing */
	long at;			/* this call of the function, counted from 1 */
	bool lasting;			/* and all after it */
	long calls;			/* so far */
};

extern struct injection injection;

/* What the library under test has taken and not given back. */
struct held {
	long blocks, folders, pages, handles;
};

extern struct held held;

#endif
