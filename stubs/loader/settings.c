/* SPDX-License-Identifier: MIT */
/* settings.c - what the environment asks for */
#include "settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/auxiliary.h"
#include "../base/constraint.h"
#include "../base/count.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "../base/printable.h"

#define MAX_VALUE 1000

/* Linux starts no program with more arguments and environment: three quarters of 8 MiB. */
#define STARTED_WITH (6 << 20)

const char *lc_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

bool lc_started_with(const char **from, const char **to)
{
	*from = (const char *)lc_auxval(AT_RANDOM);
	*to = (const char *)lc_auxval(AT_EXECFN);
	return *from && *to > *from && *to - *from <= STARTED_WITH;
}

/* Returns true if some variable is still as the process was started with it: then all others are
 * still there, too. */
static bool is_there_still(const char *from, const char *to)
{
	for (char **variable = environ; variable && *variable; variable++)
		if ((uintptr_t)*variable > (uintptr_t)from && (uintptr_t)*variable < (uintptr_t)to)
			return true;
	return false;
}

const char *lc_variable_at_start(struct lc_arena *arena, const char *name)
{
	const char *now = lc_variable(name), *from, *to, *found;
	size_t length = strlen(name);
	char *text;

	if (lc_is_privileged() || !lc_started_with(&from, &to) || !is_there_still(from, to))
		return now ? lc_text(arena, now) : NULL;
	text = lc_alloc(arena, length + 2);	/* it begins with the end of another */
	if (!text)
		return NULL;
	memcpy(text + 1, name, length);
	text[length + 1] = '=';
	found = memmem(from, (size_t)(to - from), text, length + 2);
	return found && found[length + 2] ? lc_text(arena, found + length + 2) : NULL;
}

bool lc_is_eager(void)
{
	const char *eager = lc_variable(LC_EAGER_VARIABLE);
	bool is = false;

	return eager && lc_switch_read(eager, &is) && is;
}

static bool says_none(const char *value)
{
	return value && !strcmp(value, "none");
}

bool lc_hides_all(void)
{
	return says_none(lc_variable("LAZYCUDA_MAJOR"));
}

const char *lc_hidden_by(const struct lc_library *library)
{
	if (lc_hides_all())
		return "LAZYCUDA_MAJOR";
	return says_none(lc_variable(library->variable)) ? library->variable : NULL;
}

/* Returns true for a major of CUDA that a library is known to be in. */
static bool is_known(const struct lc_library *library, long major)
{
	for (size_t i = 0; i < library->known_major_count && !library->own_majors; i++)
		if (library->known_majors[i] == major)
			return true;
	for (size_t i = 0; library->cuda && i < library->major_count; i++)
		if (major > 0 && major <= LC_MAX_CUDA && library->cuda[i] >> major & 1)
			return true;
	/* One that goes with any CUDA is in no list of majors. */
	return library->own_majors && !library->cuda && major > 0 && major <= LC_MAX_CUDA;
}

/* Reads a plain number that is one of the known majors. */
static bool read_major(const struct lc_library *library, const char *text, int *major)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > MAX_VALUE)
		return false;
	if (!is_known(library, value))
		return false;
	*major = (int)value;
	return true;
}

/* "13, 12 or 11" */
static const char *name_majors(struct lc_arena *arena, const struct lc_library *library)
{
	const char *text = "", *last = NULL;

	for (int major = MAX_VALUE; major > 0; major--) {
		if (!is_known(library, major))
			continue;
		if (last)
			text = lc_format(arena, "%s%s%s", text, *text ? ", " : "", last);
		last = lc_format(arena, "%d", major);
	}
	return *text ? lc_format(arena, "%s or %s", text, last) : last;
}

/* Each of these reads a variable, and returns what is wrong with it, or NULL. */

static const char *read_guard(struct lc_arena *arena, struct lc_settings *settings)
{
	const char *guard = lc_variable(LC_GUARD_VARIABLE);

	if (!guard || lc_guard_read(guard, &settings->guard))
		return NULL;
	return lc_format(arena, LC_GUARD_VARIABLE "=%s is not a guard: use " LC_GUARDS,
			 lc_printable(arena, guard));
}

bool lc_order_read(const char *text, enum lc_order *order)
{
	static const char orders[][8] = {
		[LC_NEAR] = "near", [LC_HIGHEST] = "highest", [LC_OWN] = "own",
	};

	for (size_t i = 0; i < LC_COUNT(orders); i++) {
		if (!strcmp(text, orders[i])) {
			*order = (enum lc_order)i;
			return true;
		}
	}
	return false;
}

static const char *read_order(struct lc_arena *arena, struct lc_settings *settings)
{
	const char *order = lc_variable("LAZYCUDA_ORDER");

	settings->ordered = order;
	if (!order || lc_order_read(order, &settings->order))
		return NULL;
	return lc_format(arena, "LAZYCUDA_ORDER=%s is not an order: use near, highest or own, or unset it",
			 lc_printable(arena, order));
}

static const char *read_pin(struct lc_arena *arena, struct lc_settings *settings)
{
	const char *major = lc_variable("LAZYCUDA_MAJOR");

	if (!major || says_none(major) || read_major(settings->library, major, &settings->major))
		return NULL;
	return lc_format(arena,
			 "LAZYCUDA_MAJOR=%s is not a CUDA major: use %s, or none, or unset it",
			 lc_printable(arena, major), name_majors(arena, settings->library));
}

static const char *read_constraint(struct lc_arena *arena, struct lc_settings *settings)
{
	const char *constraint = lc_variable(LC_CONSTRAINT_VARIABLE), *wrong;

	if (!constraint)
		return NULL;
	settings->constraint = lc_text(arena, constraint);
	if (lc_constraint_holds(constraint, LC_CUDA(1, 0), &wrong) >= 0)
		return NULL;
	return lc_format(arena, LC_CONSTRAINT_VARIABLE "=%s makes no sense from character %zu (%s) on:"
			 " write it like >=13.2,<14, or unset it", lc_printable(arena, constraint),
			 (size_t)(wrong - constraint) + 1,
			 *wrong ? lc_printable(arena, wrong) : "its end");
}

static const char *read_switch(struct lc_arena *arena, const char *name, bool *on)
{
	const char *value = lc_variable(name);

	if (!value || lc_switch_read(value, on))
		return NULL;
	return lc_format(arena, "%s=%s is not a switch: use " LC_SWITCHES ", or unset it", name,
			 lc_printable(arena, value));
}

static const char *read_forward(struct lc_arena *arena, struct lc_settings *settings)
{
	return read_switch(arena, LC_FORWARD_VARIABLE, &settings->forward);
}

/* lc_is_eager() has acted on it. */
static const char *read_eager(struct lc_arena *arena, struct lc_settings *settings)
{
	bool eager;

	(void)settings;
	return read_switch(arena, LC_EAGER_VARIABLE, &eager);
}

static const struct {
	const char *(*read)(struct lc_arena *arena, struct lc_settings *settings);
	bool of_cuda;		/* means nothing for a library that goes with any CUDA */
} readers[] = {
	{ read_guard, false },
	{ read_order, false },
	{ read_pin, true },
	{ read_constraint, true },
	{ read_forward, false },
	{ read_eager, false },
};

void lc_settings_read(struct lc_arena *arena, struct lc_settings *settings,
		      const struct lc_library *library, bool all)
{
	const bool of_cuda = all || !library->own_majors || library->cuda;

	*settings = (struct lc_settings){ .guard = LC_BEST_EFFORT, .library = library };
	for (size_t i = 0; i < LC_COUNT(readers) && !settings->wrong; i++)
		if (of_cuda || !readers[i].of_cuda)
			settings->wrong = readers[i].read(arena, settings);
}

void lc_trace(const struct lc_library *library, const char *format, ...)
{
	const char *debug = lc_variable("LAZYCUDA_DEBUG");
	struct lc_arena arena = { 0 };
	va_list arguments;
	char *line;

	if (!debug || !strcmp(debug, "0"))
		return;
	va_start(arguments, format);
	line = lc_format_list(&arena, format, arguments);
	va_end(arguments);
	lc_make_printable(line);
	/* One write, so that the lines of two threads do not mix. */
	dprintf(2, "lazycuda: %s: %s\n", library->name, arena.failed ? "memory ran out" : line);
	lc_arena_free(&arena);
}
