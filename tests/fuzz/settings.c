/* SPDX-License-Identifier: MIT */
/*
 * settings.c - fuzzing what the environment says
 *
 * An input is the values of a few variables, one behind the other, each with a
 * NUL.  It is compiled with secure_getenv and dprintf replaced by those here.
 */
#include "../../stubs/loader/settings.h"

#include <stdarg.h>
#include <stdio.h>

#include "fuzzing.h"

const struct lc_library lc_library = FUZZ_LIBRARY("cudart");

static struct {
	const char *name, *value;
} variables[] = { { "LAZYCUDA_GUARD", NULL }, { "LAZYCUDA_MAJOR", NULL },
		  { "LAZYCUDA_CUDART", NULL }, { "LAZYCUDA_DEBUG", NULL },
		  { "LAZYCUDA_CONSTRAINT", NULL }, { "LAZYCUDA_FORWARD_COMPATIBLE", NULL },
		  { "LAZYCUDA_ORDER", NULL } };

char *fuzz_getenv(const char *name)
{
	for (size_t i = 0; i < COUNT(variables); i++)
		if (!strcmp(variables[i].name, name))
			return (char *)variables[i].value;
	return NULL;
}

/* A trace line is one line. */
int fuzz_dprintf(int fd, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	must(fd == 2);
	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	must(length > 0 && text[length - 1] == '\n');
	text[length - 1] = 0;
	must_be_shown(text);
	free(text);
	return length;
}

static void see_override(struct lc_arena *arena, const char *path)
{
	const char *shown = lc_printable(arena, path);

	must_be_shown(shown);
	must(strlen(shown) <= strlen(path) && (*shown || !*path));
	must(!strcmp(lc_printable(arena, shown), shown));
	lc_trace(&lc_library, "found %s by %s", path, "override");
}

static void see_settings(struct lc_arena *arena)
{
	struct lc_settings settings;

	lc_settings_read(arena, &settings, &lc_library, false);
	must(lc_guard_name(settings.guard) != NULL);
	must(!settings.major || (settings.major >= 11 && settings.major <= 13));
	if (settings.wrong) {
		must(strstr(settings.wrong, "LAZYCUDA_") == settings.wrong);
		must_be_shown(settings.wrong);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_arena arena = { .failed = false };
	char *copies[COUNT(variables)] = { NULL };

	for (size_t i = 0; i < COUNT(variables); i++) {
		bool is_set = size;

		copies[i] = next_text(&data, &size);
		variables[i].value = is_set ? copies[i] : NULL;
	}
	see_settings(&arena);
	if (lc_variable("LAZYCUDA_CUDART"))
		see_override(&arena, lc_variable("LAZYCUDA_CUDART"));
	lc_arena_free(&arena);
	for (size_t i = 0; i < COUNT(variables); i++)
		free(copies[i]);
	return 0;
}
