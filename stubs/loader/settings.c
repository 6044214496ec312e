/* SPDX-License-Identifier: MIT */
/* settings.c - what the environment asks for */
#include "settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../base/glibc.h"
#include "../base/printable.h"

static const char *const guards[] = {
	[LC_BEST_EFFORT] = "best_effort",
	[LC_STRICT] = "strict",
	[LC_OFF] = "off",
};

const char *lc_guard_name(enum lc_guard guard)
{
	return guards[guard];
}

bool lc_is_privileged(void)
{
	return getauxval(AT_SECURE);
}

const char *lc_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

static bool says_none(const char *value)
{
	return value && !strcmp(value, "none");
}

const char *lc_hidden_by(const struct lc_library *library)
{
	if (says_none(lc_variable("LAZYCUDA_MAJOR")))
		return "LAZYCUDA_MAJOR";
	return says_none(lc_variable(library->variable)) ? library->variable : NULL;
}

static bool read_guard(const char *text, enum lc_guard *guard)
{
	for (size_t i = 0; i < sizeof(guards) / sizeof(*guards); i++) {
		if (!strcmp(text, guards[i])) {
			*guard = (enum lc_guard)i;
			return true;
		}
	}
	return false;
}

/* Reads a plain number that is one of the known majors. */
static bool read_major(const char *text, int *major)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > 1000)
		return false;
	for (size_t i = 0; i < lc_library.known_major_count; i++) {
		if (lc_library.known_majors[i] == value) {
			*major = (int)value;
			return true;
		}
	}
	return false;
}

/* "13, 12 or 11" */
static const char *known_majors(struct lc_arena *arena)
{
	const char *text = "";
	size_t count = lc_library.known_major_count;

	for (size_t i = 0; i < count; i++)
		text = lc_format(arena, "%s%s%d", text,
				 i == 0 ? "" : i + 1 == count ? " or " : ", ",
				 lc_library.known_majors[i]);
	return text;
}

void lc_settings_read(struct lc_arena *arena, struct lc_settings *settings)
{
	const char *guard = lc_variable("LAZYCUDA_GUARD");
	/* LAZYCUDA_MAJOR is CUDA's major. */
	const char *major = lc_library.own_majors ? NULL : lc_variable("LAZYCUDA_MAJOR");

	*settings = (struct lc_settings){ .guard = LC_BEST_EFFORT };
	if (guard && !read_guard(guard, &settings->guard))
		settings->wrong = lc_format(arena,
			"LAZYCUDA_GUARD=%s is not a guard: use strict, best_effort or off",
			lc_printable(arena, guard));
	else if (major && !says_none(major) && !read_major(major, &settings->major))
		settings->wrong = lc_format(arena,
			"LAZYCUDA_MAJOR=%s is not a CUDA major: use %s, or none, or unset it",
			lc_printable(arena, major), known_majors(arena));
}

void lc_trace(const char *format, ...)
{
	const char *debug = lc_variable("LAZYCUDA_DEBUG");
	va_list arguments;
	char *line;

	if (!debug || !strcmp(debug, "0"))
		return;
	va_start(arguments, format);
	if (vasprintf(&line, format, arguments) < 0)
		line = NULL;
	va_end(arguments);
	if (line)
		lc_make_printable(line);
	/* One write, so that the lines of two threads do not mix. */
	dprintf(2, "lazycuda: %s: %s\n", lc_library.name, line ? line : "memory ran out");
	free(line);
}
