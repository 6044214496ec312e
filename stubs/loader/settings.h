/* SPDX-License-Identifier: MIT */
/*
 * settings.h - what the environment asks for
 *
 * Read afresh by every search: a program may set a variable after a first call
 * that found nothing.  In a program that runs with more rights than its caller
 * (setuid, file capabilities) the environment is as good as empty.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "../base/arena.h"
#include "../entry/stub.h"

enum lc_guard { LC_BEST_EFFORT, LC_STRICT, LC_OFF };

struct lc_settings {
	enum lc_guard guard;	/* LAZYCUDA_GUARD */
	int major;		/* LAZYCUDA_MAJOR; 0: not pinned */
	const char *wrong;	/* the first variable that makes no sense, or NULL */
};

void lc_settings_read(struct lc_arena *arena, struct lc_settings *settings);

const char *lc_guard_name(enum lc_guard guard);

/*
 * Whether this program runs with more rights than its caller.  Then where it
 * lies tells nothing either: anybody may have made a link to it.
 */
bool lc_is_privileged(void);

/*
 * The variable that hides a library, by the value "none": its own, or LAZYCUDA_MAJOR,
 * which hides every one, whatever the others say; NULL: none does.  What is hidden is
 * not looked for, and not used where it is in the process already.
 */
const char *lc_hidden_by(const struct lc_library *library);

/* The value of a variable, or NULL where it is unset, empty or not to be trusted. */
const char *lc_variable(const char *name);

/* With LAZYCUDA_DEBUG=1, one line on stderr, made printable. */
void lc_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
