/* SPDX-License-Identifier: MIT */
/*
 * open.h - chooses and loads one of the files that a search found
 *
 * For the seat that the search is made for.  Calls the dynamic loader and
 * foreign constructors: hold no lock.
 */
#ifndef OPEN_H
#define OPEN_H

#include "companions.h"
#include "search.h"

struct lc_found {
	const struct lc_library *library;
	const struct lc_major *major;
	lc_version version;
	void *handle;			/* NULL: no library is usable */
	const char *node;		/* of its names; NULL: they are looked up without one */
	struct lc_names names;		/* of the library itself, without those it needs */
	bool needs_others;		/* it may need objects that define its names as well */
	bool audited;			/* ld.so may lead names elsewhere */
	bool shuts_down;		/* it may have exit handlers, or what it needs */
	struct lc_companions companions;	/* loaded before it */
	bool broken;			/* dlopen() refused an option: it may take it later */
	struct lc_choice choice;	/* among all options of the search */
};

/* Sets what the choice needs to know of the driver; false: that is not possible now. */
typedef bool lc_driver_look(struct lc_arena *arena, struct lc_search *search);

/*
 * Chooses and loads, until a library is loaded whose major the process agrees on, or
 * no option is left.  Options that cannot be loaded are marked as unusable, with the
 * reason.  `look` is NULL for a library that does not depend on the driver, `version`
 * for one that does not report its version.
 */
void lc_open_found(struct lc_arena *arena, struct lc_search *search, lc_driver_look *look,
		   lc_version_look *version, struct lc_found *found);

/* Asks those that are in a folder of the CUDA `common`, before the process takes that although
 * libraries of another are there.  Returns true if one belongs to another. */
bool lc_ask_in_folders(struct lc_arena *arena, struct lc_search *search, int common);

/* Asks those libraries that could be loaded for this stub, after a choice that took none of them, and
 * notes each that says that it belongs to the CUDA `common`, or, if that is 0, to any.  Returns true if
 * one does.  Calls the dynamic loader and the library: hold no lock. */
bool lc_ask_libraries(struct lc_arena *arena, struct lc_search *search, int common);

/* The function of this name in the loaded library, or NULL.  `found` is a struct lc_found. */
lc_function lc_find_found(const char *name, void *found);

void lc_close_found(struct lc_found *found);

/*
 * Gives the stub's variables the values of the loaded library's, and has all objects use the
 * library's own from now on: ld.so wrote the address of the stub's into their tables.
 */
void lc_share_variables(struct lc_found *found);

#endif
