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

struct lc_registration;	/* peers.h */

/* What a library needs beyond its table; one is defined for each stub. */
struct lc_specifics {
	/* A status was here, which grows and would move what other releases read. */
	char unused[80];
	/* How a user gets the library, a sentence for messages. */
	const char *advice;
	/*
	 * The version that the library gives itself; 0 if it does not tell.
	 * `find` gives its functions.
	 */
	lc_version (*version)(lc_finder *find, void *data, int major);
	/* How slots are served that the library cannot fill, or NULL. */
	const struct lc_adaptor *adaptors;
	/*
	 * Calls recorded before the library was there: whether any is left, and
	 * make the next one, given what each slot leads to, or why it does not
	 * (enum lc_refusal).  The first is called with the lock held, the second
	 * without.  NULL: this library records none.
	 */
	bool (*replay_pending)(void);
	void (*replay_next)(const lc_function *functions, const uint8_t *outcomes);
	/* As in struct lc_peer; NULL likewise. */
	bool (*registered)(const struct lc_registration *call, uintptr_t *result);
	/* The status before the first search. */
	const struct lazycuda_status *unknown;
	/* In a new process, alone there, after fork(); NULL likewise. */
	void (*replay_forked)(void);
};

#define LC_UNKNOWN(name) &(const struct lazycuda_status){ \
	.size = sizeof(struct lazycuda_status), .library = (name), \
	.state = LAZYCUDA_UNKNOWN, .reason = "no call has been made yet" }

extern const struct lc_specifics lc_specifics LC_HIDDEN;

/*
 * Whether the process is set up.  An IFUNC's resolver runs while ld.so is still
 * relocating, and may call us before libc has a locale, an environment or anything
 * thread-local.  Then a call is refused, nothing is searched for, allocated or
 * formatted, and nothing is remembered: what is thread-local begins anew.
 */
bool lc_is_ready(void);

/* Whether slots lead to the real library.  Never searches. */
bool lc_is_loaded(void);

/* What a slot leads to, or is to lead to while recorded calls are replayed; NULL if
 * that is no function, or the library is not there.  Never searches. */
lc_function lc_function_of(unsigned slot);

/* Whether something has loaded a real library that could be used. */
bool lc_is_in_process(void);

/* Whether the process is past the point where the real library shuts down. */
bool lc_is_exiting(void);

/*
 * What memory or file descriptors ran out in is tried again, but not by each of a
 * thousand calls: whether it may be now, and that it failed again.
 */
#define LC_TRIES_A_SECOND 8

bool lc_may_try(void);
void lc_try_failed(void);

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
