/* SPDX-License-Identifier: MIT */
/*
 * peers.h - how the stubs of a process know each other
 *
 * There is no shared library behind the stubs.  Each exports one `lc_peer`
 * under the name lazycuda_stub_1; whoever searches walks the loaded objects
 * and finds the others by their private version node.  What the process as a
 * whole has agreed on is kept by its first stub in load order, which cannot
 * change, since stubs are never unloaded.
 *
 * Stubs of different releases of lazycuda may meet: fields are only added at
 * the end, and an incompatible change gets a new symbol name.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "../include/lazycuda.h"
#include "process.h"

#define LC_PEER_SYMBOL "lazycuda_stub_1"

struct lc_specifics;	/* loader.h */

struct lc_peer {
	uint32_t size;			/* bytes of this struct */
	_Atomic uint32_t process_major;	/* of the first stub: agreed major, 0 none yet */
	_Atomic uint32_t loaded;	/* lc_version in use by this stub, 0 none */
	const struct lc_library *library;
	int (*load)(void);
	const struct lazycuda_status *(*status)(void);
	const struct lazycuda_error *(*error)(void);
	const struct lc_specifics *specifics;
	_Atomic uint32_t looking;	/* of the first stub: a failing call asks ld.so */
};

/* This stub's own.  It is exported as lazycuda_stub_1; inside the stub that
 * name might mean another stub's, so it is not used. */
extern struct lc_peer lc_self LC_HIDDEN;

#define LC_MAX_PEERS 16

struct lc_peers {
	size_t count;
	struct lc_peer *peers[LC_MAX_PEERS];
	struct lc_stub stubs[LC_MAX_PEERS];	/* the objects they are in */
};

/*
 * The stubs of this process in load order, at most LC_MAX_PEERS, this one
 * among them.  Calls the dynamic loader: hold no lock.
 */
void lc_peers_read(struct lc_arena *arena, struct lc_peers *peers);

#endif
