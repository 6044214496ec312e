/* SPDX-License-Identifier: MIT */
/*
 * open.h - chooses and loads one of the files that a search found
 *
 * For the voter that the search is made for.  Calls the dynamic loader and
 * foreign constructors: hold no lock.
 */
#ifndef OPEN_H
#define OPEN_H

#include "companions.h"
#include "search.h"
#include "../base/objects.h"

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
	bool broken;			/* dlopen() refused a candidate: it may take it later */
	struct lc_choice choice;	/* among all candidates of the search */
};

/* Sets what the choice needs to know of the driver; false: that is not possible now. */
typedef bool lc_driver_look(struct lc_arena *arena, struct lc_search *search);

/*
 * Chooses and loads, until a library is loaded whose major the process agrees on, or
 * no candidate is left.  Options that cannot be loaded are marked as unusable, with the
 * reason.  `look` is NULL for a library that does not depend on the driver, `version`
 * for one that does not report its version.
 */
void lc_open_found(struct lc_arena *arena, struct lc_search *search, lc_driver_look *look,
		   lc_version_look *version, struct lc_found *found);

/* The function of this name in the loaded library, or NULL.  `found` is a struct lc_found. */
lc_function lc_find_found(const char *name, void *found);

/* What an auditor of ld.so makes of a name for which the library itself has `address`, or NULL. */
void *lc_ask_auditor(const struct lc_found *found, const char *name, void *address);

/* lc_find_found() with the name's lc_hash(): a first call asks for hundreds of names. */
static inline lc_function lc_find_hashed(const char *name, uint32_t hash, const struct lc_found *found)
{
	lc_function function;
	void *address = NULL;

	if (!found->names.strings || !lc_names_find_hashed(&found->names, name, hash, &address) ||
	    (!address && found->needs_others))
		address = lc_ask_loader(found->handle, name, found->node);
	else if (found->audited)
		address = lc_ask_auditor(found, name, address);
	memcpy(&function, &address, sizeof(function));
	return function;
}

void lc_close_found(struct lc_found *found);

#endif
