/* SPDX-License-Identifier: MIT */
/*
 * peers.h - how the stubs of a process find each other
 *
 * There is no shared library behind the stubs.  Each stub exports one struct
 * lc_peer, its record, under the name lazycuda_stub_1.  A stub that searches walks
 * the loaded objects and finds the other stubs by their private version node.  The
 * first stub in load order keeps what the whole process has agreed on.  It remains
 * the first, because stubs are never unloaded.
 *
 * Stubs of different releases of lazycuda may meet.  A record is never too old:
 * fields are only added at the end, and `size` tells how many there are.  A record
 * points to struct lc_library with its tables and to struct lc_specifics: these
 * structs also grow at the end only, and the rows of the tables do not change.  An
 * incompatible change needs a record under a new symbol name.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../../include/lazycuda.h"
#include "process.h"
#include "settings.h"
#include "../entry/own.h"

struct lc_specifics;	/* specifics.h */
struct lc_aside;	/* aside.h */
struct lc_cache;	/* cache.h */

/* A constraint of the program's, in a ring of all that there have been: another thread may still
 * be reading an earlier one, and one that comes back takes no memory. */
struct lc_demand {
	_Atomic(struct lc_demand *) next;
	char constraint[];
};

/* A call of one of nvcc's registration functions, identified by name, because slot
 * numbers differ between releases.  Passed from one copy of a stub to another, so this
 * struct never changes. */
struct lc_registration {
	const char *name;
	int major;		/* of the version node that the caller imports */
	unsigned words;
	uintptr_t *word;	/* arguments; the handle is the first */
};

#define LC_LOOKS_END 2

struct lc_peer {
	uint32_t size;			/* bytes of this struct */
	_Atomic uint32_t process_major;	/* in the first stub: agreed major; 0: none yet */
	_Atomic uint32_t loaded;	/* lc_version in use by this stub; 0: none */
	const struct lc_library *library;
	int (*load)(void);
	const struct lazycuda_status *(*status)(void);
	const struct lazycuda_error *(*error)(void);
	const struct lc_specifics *specifics;
	_Atomic uint32_t looking;	/* in the first stub: 1 while a failing call asks ld.so, or
					 * LC_LOOKS_END once exit() shuts libraries down */
	/* Makes a registration if its handle is from this stub; else returns 0. */
	int (*registered)(const struct lc_registration *call, uintptr_t *result);
	/* Of stubs that share what searches found out: the size of struct lc_cache, and the release with
	 * a checksum of its sources, of which what it points to is laid out the same. */
	uint32_t cache_size;
	const char *sources;
	/* In the first of these stubs: what searches found out (cache.h), or NULL. */
	_Atomic(struct lc_cache *) cache;
	_Atomic(struct lc_peer *) keeper;	/* that stub; NULL: no search has set it yet */
	void *(*open_aside)(const char *path);
	const struct lc_aside *aside;
	/* In the first stub: the program's own constraint, or NULL; its order and 1, or 0. */
	_Atomic(struct lc_demand *) demand;
	_Atomic uint32_t order;
	_Atomic uint32_t everywhere;	/* there, too: a status shall have all candidates */
	uint32_t callers;		/* of an embedded stub: the CUDA that they were compiled for */
	const struct lc_peer *self;	/* this record: what else a note leads to is none */
};

struct lc_peers {
	size_t count;
	struct lc_peer **list;
	struct lc_stub *stubs;	/* the objects that contain the peers */
	struct lc_peer *first;	/* it keeps what the process has agreed on; NULL: memory ran out */
};

/*
 * Lists the stubs of this process in load order, this one among them; none if memory ran
 * out.  Calls the dynamic loader: hold no lock.
 */
void lc_peers_read(struct lc_arena *arena, struct lc_peers *peers);

/* lc_peers_read() for who is between lc_enter() and lc_leave(). */
void lc_peers_list(struct lc_arena *arena, struct lc_peers *peers);

/* Adds what the program has said to what the environment says: its constraint, which is never freed,
 * and its order, if the environment has none. */
void lc_peers_settings(const struct lc_peers *peers, struct lc_settings *settings);

/* Sets these.  Return false if memory ran out, or if no stub can keep them. */
bool lc_peers_constrain(const struct lc_peers *peers, const char *constraint);
bool lc_peers_order(const struct lc_peers *peers, enum lc_order order);

/*
 * A copy is another stub for the library of `of`.  A kernel that nvcc registers with
 * one copy may be launched through another, so once one copy has loaded the library,
 * all of them do.
 */
bool lc_is_copy(const struct lc_peer *peer, const struct lc_peer *of);
bool lc_peers_have_copy(const struct lc_peers *peers, const struct lc_peer *of);
bool lc_peers_copy_is_loaded(const struct lc_peer *of);
void lc_peers_load_copies(const struct lc_peer *of);

/* Offers a registration to the copies.  Returns true if one of them made the call. */
bool lc_peers_registered(const struct lc_peer *of, const struct lc_registration *call, uintptr_t *result);

#endif
