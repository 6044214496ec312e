/* SPDX-License-Identifier: MIT */
/*
 * loader.h - when the real library is loaded, and what the slots lead to
 *
 *     FIRST ── load ──► LOADED: every slot leads to a real function, or stays
 *       │                ▲      slow for good: refused or absent
 *       └──── none ──► NONE ── something new was loaded into the process ──► load
 *
 * When exit() comes to the real library's own handlers, every slot is slow again, or leads to
 * a function that does nothing and succeeds.
 *
 * CONTRIBUTING.md walks through a first call.
 *
 * Threads that race for the first call all search.  The first to finish publishes
 * its result, and the others drop theirs.
 *
 * Locks.  A stub has one lock (forks.h).  It is held while slots, state and records
 * are written, and never across a call that leaves the stub: into the dynamic
 * loader, into the real library, into malloc(), which a program may have replaced.
 * Each of these may call back, or wait for a thread that does.
 *
 * ld.so has locks of its own.  dl_iterate_phdr() holds one while the stub inspects
 * the loaded objects; nothing is allocated or opened there (process.h).  dlopen()
 * holds another while it runs constructors.  A first call needs that one, so a
 * constructor that waits for another thread's first call waits for ever, as it
 * would for another thread's dlopen().  Later calls do not need it, except the one
 * that finds that the library has been loaded meanwhile.
 */
#ifndef LOADER_H
#define LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "../../include/lazycuda.h"
#include "forks.h"
#include "waits.h"
#include "../entry/stub.h"

/* Returns true if the slots lead to the real library.  Never searches. */
bool lc_is_loaded(void);

/* Returns the real function of a slot, also while recorded calls are still being
 * replayed; NULL if there is none, or no library.  Never searches. */
lc_function lc_function_of(unsigned slot);

/* The thread that replays recorded calls, or did so last. */
const struct lc_work *lc_filler(void);

/* Around foreign code in a first call, which holds signals: they come while the caller's own code or the
 * library's is there, and not while this stub has its lock, for which their handlers would wait. */
void lc_release_signals(uint64_t held);
void lc_hold_signals_again(uint64_t *held);

/* Returns true if a real library that could be used is in the process. */
bool lc_is_in_process(void);

/* Returns true once exit() has begun to shut the real library down: nothing is forwarded. */
bool lc_is_ending(void);

/* Searches and loads unless that has been done; after a failed search, checks whether
 * the library has been loaded since.  Returns true if it is usable. */
bool lc_load(void);

/* Loads the library if necessary.  Returns why this slot does not lead to a real function;
 * LC_NONE: it does. */
enum lc_refusal lc_load_for(unsigned slot);

/* Loads the library if necessary.  Returns true if this slot leads to a real function. */
static inline bool lc_load_reaches(unsigned slot)
{
	return lc_load_for(slot) == LC_NONE;
}

/* Returns true if the last search found nothing at all, or if the library is hidden.
 * Returns false if a file found is unusable or a variable is wrong, and with
 * LAZYCUDA_GUARD=strict. */
bool lc_found_nothing(void);

/* The result of the last search; never NULL. */
const struct lazycuda_status *lc_status(void);

#endif
