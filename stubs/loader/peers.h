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
 * Stubs of different releases of lazycuda may meet.  A record is never too old:
 * fields are only added at the end, those from LC_PEER_FIRST on may be missing,
 * and LC_PEER_HAS() tells.  What a record points to, struct lc_library with its
 * tables and struct lc_specifics, grows at the end only, too, and the rows of the
 * tables do not change; tests/releases holds that.  What cannot keep to this is a
 * record under a new symbol name.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../../include/lazycuda.h"
#include "process.h"

#define LC_PEER_SYMBOL "lazycuda_stub_1"

struct lc_specifics;	/* loader.h */

/* One of nvcc's registrations, by its name and not by its slot, which is each
 * release's own.  Crosses from one copy of a stub to another: never changes. */
struct lc_registration {
	const char *name;
	int major;		/* by whose version node the caller asked */
	unsigned words;
	uintptr_t *word;	/* arguments; the handle is the first */
};

struct lc_peer {
	uint32_t size;			/* bytes of this struct */
	_Atomic uint32_t process_major;	/* of the first stub: agreed major, 0 none yet */
	_Atomic uint32_t loaded;	/* lc_version in use by this stub, 0 none */
	const struct lc_library *library;
	int (*load)(void);
	const struct lazycuda_status *(*status)(void);
	const struct lazycuda_error *(*error)(void);
	const struct lc_specifics *specifics;
	/* Records of before November 2026 end here. */
	_Atomic uint32_t looking;	/* of the first stub: a failing call asks ld.so */
	/* Makes a registration whose handle this stub has given; 0: it has not. */
	int (*registered)(const struct lc_registration *call, uintptr_t *result);
};

/* What each record has. */
#define LC_PEER_FIRST offsetof(struct lc_peer, looking)
#define LC_PEER_HAS(peer, field) ((peer)->size >= \
	offsetof(struct lc_peer, field) + sizeof((peer)->field))

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

/* The same for those who only want the records. */
void lc_peers_list(struct lc_peers *peers);

/*
 * Copies: other stubs for this stub's library.  What nvcc registers with one may
 * be launched through another, so once one of them has the library all have.
 */
bool lc_peers_copy_is_loaded(void);
void lc_peers_load_copies(void);

/* Offers a registration to the copies; whether one of them knew the handle. */
bool lc_peers_registered(const struct lc_registration *call, uintptr_t *result);

#endif
