/* SPDX-License-Identifier: MIT */
/*
 * loader.h - when the real library is loaded, and what the slots lead to
 *
 *     FIRST ── load ──► LOADED: every slot leads to a real function, or stays
 *       │                ▲      slow for good: refused or absent
 *       └──── none ──► NONE ── something new was loaded into the process ──► load
 *
 * Threads that race for the first call all search; the first to get ready
 * publishes, and the others drop what they have.
 *
 * Locks.  There is one of ours in a stub (forks.h), held while slots, state and
 * records are written and never across a call that leaves the stub: into the
 * dynamic loader, into the real library, into malloc(), which a program may
 * have replaced.  Each of these may call back, or wait for a thread that does.
 * Of ld.so's own locks, dl_iterate_phdr()'s is held while we look at what is
 * loaded; nothing is allocated or opened there (process.h).  dlopen() holds
 * another while it runs constructors: a first call needs it, and a constructor
 * that waits for another thread's first call waits for ever, as it would for a
 * dlopen() there.  Later calls need none of them, but for the one that finds
 * that the library has come meanwhile.
 */
#ifndef LOADER_H
#define LOADER_H

#include <stdbool.h>

#include "../../include/lazycuda.h"
#include "forks.h"
#include "../entry/stub.h"

/* Whether slots lead to the real library.  Never searches. */
bool lc_is_loaded(void);

/* What a slot leads to, or is to lead to while recorded calls are replayed; NULL if
 * that is no function, or the library is not there.  Never searches. */
lc_function lc_function_of(unsigned slot);

/* Whether something has loaded a real library that could be used. */
bool lc_is_in_process(void);

/* Whether the process is past the point where the real library shuts down. */
bool lc_is_exiting(void);

/* Searches and loads unless that has been done, and looks again whether it was
 * loaded since; whether the library is usable. */
bool lc_load(void);

/* Why this slot does not lead to a real function; LC_NONE: it does.  Loads the
 * library if need be. */
enum lc_refusal lc_why_not(unsigned slot);

static inline bool lc_reaches(unsigned slot)
{
	return lc_why_not(slot) == LC_NONE;
}

/* Whether the last search found nothing at all, or was not to: where something is
 * broken or wrong, or where LAZYCUDA_GUARD=strict, that is another matter. */
bool lc_found_nothing(void);

/* What the last search came to; never NULL. */
const struct lazycuda_status *lc_status(void);

#endif
