/* SPDX-License-Identifier: MIT */
/*
 * modules.h - handles for fat binaries that are registered before the library is loaded
 *
 * A handle may be foreign: if a caller is bound lazily, a real runtime or another
 * copy of the stub may have served its first registration.  So a handle is
 * recognised by its address alone, and a foreign one is never dereferenced.
 */
#ifndef MODULES_H
#define MODULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../loader/waits.h"

struct lc_record;

enum { NOT_REPLAYED, REPLAYED, AWAITED };

/* One fat binary.  Its address is the handle that the caller has. */
struct lc_module {
	_Atomic bool used;
	_Atomic uintptr_t real;		/* the library's handle; 0 until there is one */
	/* Under the loader's lock: */
	struct lc_record *records, *last;	/* recorded calls about it, oldest first */
	struct lc_work replayer;	/* the thread that replays a call about it */
	_Atomic int replaying;	/* there is such a thread: REPLAYED, AWAITED by another one */
	bool gone;		/* unregistered while a call was being replayed */
	struct lc_module *next;	/* the next free module, while this one is free */
};

/* A new module, without records or a real handle; NULL on allocation failure.  Hold
 * no lock. */
struct lc_module *lc_module_new(void);

/* Frees a module.  Its handle is nobody's from then on. */
void lc_module_free(struct lc_module *module);

/* The module of a handle; NULL if it is not a handle of this stub.  Takes no lock. */
struct lc_module *lc_module_of(const void *handle);

/* Returns true if the handle was this stub's and has been freed: nobody else knows it
 * either.  Takes no lock. */
bool lc_module_is_gone(const void *handle);

#endif
