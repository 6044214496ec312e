/* SPDX-License-Identifier: MIT */
/*
 * own.h - what each stub has of its own, and what it is called
 *
 * One file may hold several stubs (`lazycuda embed`).  Each then has these names, and all of the
 * files that include this one, with the library's name behind them; what knows no stub is there once,
 * and means the first.
 */
#ifndef OWN_H
#define OWN_H

#include "stub.h"

/* What a stub exports; in an embedded one it is hidden, and the first of several files has it. */
#ifdef LC_EMBEDDED
#define LC_PUBLIC __attribute__((weak, visibility("hidden")))
#else
#define LC_PUBLIC __attribute__((visibility("default")))
#endif

struct lc_peer;		/* loader/peers.h */
struct lc_specifics;	/* loader/specifics.h */

/* Generated. */
extern const struct lc_library lc_library LC_HIDDEN;

/*
 * The table of slots, lc_library.slot_count function pointers, is generated as
 * `struct lc_slots lc_slots`, whose members have the real prototypes; the
 * loader sees it as an array.  The table is in RELRO, so it is read-only except
 * while the loader fills it.
 */
extern lc_function lc_slot_table[] LC_HIDDEN;

/* What a slot leads to now: another thread's exit() may be writing it. */
#define LC_REAL(slot) __atomic_load_n(&lc_slot_table[slot], __ATOMIC_RELAXED)

/*
 * Called by a slot's slow function.  Finds and loads the real library if that
 * has not been done.  Returns 0 if the slot now leads to a real function.
 * Otherwise records the refusal as the calling thread's last one, and returns
 * the status to return.  Thread-safe; takes no lock once the library is loaded.
 */
int32_t lc_slow(unsigned slot) LC_HIDDEN LC_USED;

/* The status that callers of a slot get for a call that is refused for this reason. */
int32_t lc_status_of(unsigned slot, enum lc_refusal why) LC_HIDDEN;

/* This stub's record.  record.c defines it, as it points to functions there; peers.c and others use
 * it.  It is exported as lazycuda_stub_1, but inside the stub that name might resolve to another
 * stub's record, so it is not used. */
extern struct lc_peer lc_self LC_HIDDEN;

/* What this stub's library needs.  Its room, or gen, defines it; the loader uses it. */
extern const struct lc_specifics lc_specifics LC_HIDDEN;

#endif
