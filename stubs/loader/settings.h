/* SPDX-License-Identifier: MIT */
/*
 * settings.h - what the environment asks for
 *
 * Every search reads the environment again: a program may set a variable after a
 * first call that found nothing.  What programs set for their children, and what ld.so
 * and Python read but once, counts as it was when the process started.  In a program
 * that runs with more rights than its caller (setuid, file capabilities), the environment
 * is treated as empty.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "../base/arena.h"
#include "../base/guard.h"
#include "../entry/stub.h"

/* Which of the majors that serve is taken. */
enum lc_order { LC_NEAR, LC_HIGHEST, LC_OWN };

struct lc_settings {
	enum lc_guard guard;	/* LAZYCUDA_GUARD */
	enum lc_order order;	/* LAZYCUDA_ORDER, else what the program says */
	bool ordered;		/* it was said */
	bool everywhere;	/* look also where nothing can be taken any more */
	int major;		/* LAZYCUDA_MAJOR; 0: not pinned */
	const char *constraint;	/* LAZYCUDA_CONSTRAINT; NULL: none */
	const char *program;	/* the program's own constraint, as lc_peers_constraint(); NULL: none */
	bool forward;		/* LAZYCUDA_FORWARD_COMPATIBLE: the driver is not asked */
	const struct lc_library *library;	/* for which they were read */
	const char *wrong;	/* what is wrong with the first invalid variable, or NULL */
};

/* Reads the variables that concern a library; or all, also those that concern only other stubs
 * of the process.  Does not set what lc_peers_settings() adds. */
void lc_settings_read(struct lc_arena *arena, struct lc_settings *settings,
		      const struct lc_library *library, bool all);

/*
 * Returns the variable that hides a library by the value "none", or NULL.  It is the
 * library's own, or LAZYCUDA_MAJOR, which hides every library, whatever the other
 * variables say.  A hidden library is not searched for, and not used even if it is
 * already in the process.
 */
const char *lc_hidden_by(const struct lc_library *library);

/* Returns false for a text that names no order: near, highest or own. */
bool lc_order_read(const char *text, enum lc_order *order);

/* Returns true if LAZYCUDA_EAGER asks to load the library at once. */
bool lc_is_eager(void);

/* Returns true if LAZYCUDA_MAJOR hides every library. */
bool lc_hides_all(void);

/* The value of a variable, or NULL if it is unset, empty or not to be trusted. */
const char *lc_variable(const char *name);

/* The value of a variable when the process was started.  Where the program has written over what it
 * was started with, as it does to show a title, the value now. */
const char *lc_variable_at_start(struct lc_arena *arena, const char *name);

/* Sets the bounds of the arguments and environment that the kernel put on the stack; false: not
 * known. */
bool lc_started_with(const char **from, const char **to);

/* With LAZYCUDA_DEBUG=1, writes one line to stderr, made printable; the library is whose search it is. */
void lc_trace(const struct lc_library *library, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
