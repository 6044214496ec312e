/* SPDX-License-Identifier: MIT */
/*
 * modules.h - the handles that stand for fat binaries before the library is there
 *
 * A handle may come from elsewhere: where a caller is bound lazily, a real
 * runtime or another copy of the stub may have served its first registration.
 * So a handle is told by its address alone, and nothing is read through one
 * that is not ours.
 */
#ifndef MODULES_H
#define MODULES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_record;

/* One fat binary.  Its address is the handle that the caller has. */
struct lc_module {
	_Atomic bool used;
	_Atomic uintptr_t real;		/* the library's handle, once there is one */
	/* Under the loader's lock: */
	struct lc_record *records, *last;	/* recorded calls about it, oldest first */
	pthread_t replayer;	/* of its registration, while that is being made */
	bool replaying;
	bool gone;		/* unregistered meanwhile */
	struct lc_module *next;	/* the next that is free */
};

/* A new one, all zero but `used`; NULL without memory.  Hold no lock. */
struct lc_module *lc_module_new(void);

/* Its handle is nobody's from now on. */
void lc_module_free(struct lc_module *module);

/* The module of a handle; NULL if the handle is not ours.  Takes no lock. */
struct lc_module *lc_module_of(const void *handle);

/* Whether it was ours, and is no more: nobody else knows it either.  Takes no lock. */
bool lc_module_is_gone(const void *handle);

#endif
