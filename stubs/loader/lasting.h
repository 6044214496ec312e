/* SPDX-License-Identifier: MIT */
/*
 * lasting.h - the end of a process waits for threads that compile or link
 *
 * exit() shuts the library down before it destroys the objects that existed at the first call: a
 * pool of threads, say, whose destructor waits for them.  A thread that is compiling then would
 * meet a library that is no more.  So the slots of all functions that may take long lead to
 * functions that note who is inside, and exit() waits for these, ten seconds at most.
 * A header, as most stubs have no such function.
 */
#ifndef LASTING_H
#define LASTING_H

#include <stddef.h>
#include <stdint.h>

#include "waits.h"
#include "../base/count.h"
#include "../entry/stub.h"

enum lc_stand { LC_FREE, LC_INSIDE, LC_BEGINS };

static struct {
	_Atomic int stand;
	_Atomic(const void *) owner;	/* the thread that was the last to begin */
	struct lc_work work;	/* once it is LC_INSIDE */
} lc_works[32];

static _Atomic(lc_function) lc_functions[60];

/* Enough for each: none has more than five arguments, and a function ignores what it does not take. */
#define LC_ARGUMENTS uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e

typedef uint64_t lc_lasting_function(LC_ARGUMENTS);

/* Returns true if this thread has left the work by longjmp(): its stack is shorter now. */
static bool lc_was_left(size_t i, const char *frame)
{
	return atomic_load(&lc_works[i].owner) == lc_this_thread() && lc_works[i].work.frame <= frame;
}

static _Atomic int *lc_come_inside(const char *frame)
{
	for (size_t i = 0; i < LC_COUNT(lc_works); i++) {
		int stand = atomic_load(&lc_works[i].stand);

		if (stand == LC_BEGINS || (stand == LC_INSIDE && !lc_was_left(i, frame)) ||
		    !atomic_compare_exchange_strong(&lc_works[i].stand, &stand, LC_BEGINS))
			continue;
		atomic_store(&lc_works[i].owner, lc_this_thread());
		lc_work_begin(&lc_works[i].work, frame);
		atomic_store(&lc_works[i].stand, LC_INSIDE);
		return &lc_works[i].stand;
	}
	return NULL;
}

static uint64_t lc_call_lasting(LC_ARGUMENTS, size_t i)
{
	_Atomic int *inside = lc_come_inside(__builtin_frame_address(0));
	uint64_t result = ((lc_lasting_function *)atomic_load(&lc_functions[i]))(a, b, c, d, e);

	if (inside) {
		atomic_store(inside, LC_FREE);
		lc_wake(inside);
	}
	return result;
}

/* For each function one of these: two instructions, as `i` is the sixth argument. */
#define LC_LASTING(i) \
	static uint64_t lc_lasting_##i(LC_ARGUMENTS) { return lc_call_lasting(a, b, c, d, e, i); }
#define LC_LASTING_ENTRY(i) (lc_function)lc_lasting_##i,

#define LC_TEN(X, t) X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define LC_SIXTY(X) LC_TEN(X, ) LC_TEN(X, 1) LC_TEN(X, 2) LC_TEN(X, 3) LC_TEN(X, 4) LC_TEN(X, 5)

/* nvJitLink has five, each with a name for every minor of 12. */
LC_SIXTY(LC_LASTING)

/* Returns what notes who is inside the function; or the function itself, if there are too many. */
static lc_function lc_note_lasting(lc_function function)
{
	static const lc_function entries[] = { LC_SIXTY(LC_LASTING_ENTRY) };

	for (size_t i = 0; i < LC_COUNT(entries); i++) {
		lc_function known = NULL;

		if (atomic_compare_exchange_strong(&lc_functions[i], &known, function) ||
		    known == function)
			return entries[i];
	}
	return function;
}

#define LC_LASTS_AT_MOST (10 * 1000 / LC_WAIT_MS)

static void lc_await_lasting(void)
{
	for (size_t i = 0; i < LC_COUNT(lc_works); i++)
		for (int waits = 0; waits < LC_LASTS_AT_MOST; )
			if (atomic_load(&lc_works[i].stand) != LC_INSIDE ||
			    atomic_load(&lc_works[i].owner) == lc_this_thread() ||
			    !lc_wait_for(&lc_works[i].work, &lc_works[i].stand, LC_INSIDE, &waits))
				break;
}

#endif
