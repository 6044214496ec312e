/* SPDX-License-Identifier: MIT */
/*
 * claim.h - what every program here prints, and how; judge.c reads it
 *
 * The same source is compiled for each major, and linked twice: against the stub's
 * import library, and against the real library.
 */
#ifndef CLAIM_H
#define CLAIM_H

#ifndef _GNU_SOURCE		/* C++ has it */
# define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lazycuda.h"

static const char *part = "all";	/* what is being shown */

/* Keys have no blanks. */
static void __attribute__((format(printf, 2, 3))) value(const char *key, const char *format, ...)
{
	va_list list;

	printf("= %s.%s ", part, key);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	/* What comes before a crash is not lost. */
	fflush(stdout);
}

static void __attribute__((unused)) value_bytes(const char *key, const void *what, size_t size)
{
	printf("= %s.%s ", part, key);
	for (size_t i = 0; i < size; i++)
		printf("%02x", ((const unsigned char *)what)[i]);
	printf("\n");
	fflush(stdout);
}

static void __attribute__((unused)) is_right(const char *key, int right)
{
	value(key, "%s", right ? "right" : "wrong");
}

static void __attribute__((unused)) are_right(const char *key, int right, int count)
{
	value(key, "%d of %d %s", right, count, right == count ? "right" : "wrong");
}

/* In a function that returns nothing: without this call the rest of the part is nothing.  Those
 * who include this define gave_up(). */
#define DO(call) do { \
	int did = (int)(call); \
	if (did) { \
		gave_up(#call, did); \
		return; \
	} \
} while (0)

/* The result is what is to be compared. */
#define RESULT(key, call) value(key, "%d", (int)(call))

#define RUN(name) do { \
	part = #name; \
	name(); \
} while (0)

static int __attribute__((unused)) finish(void)
{
	printf("end\n");
	return 0;
}

/* A program of these RUN()s.  Those who include this define begin(). */
#define PROGRAM(...) \
int main(void) \
{ \
	begin(); \
	__VA_ARGS__; \
	return finish(); \
}

static void __attribute__((unused, noreturn, format(printf, 1, 2))) skip(const char *format, ...)
{
	va_list list;

	printf("skip ");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	fflush(stdout);
	_Exit(0);
}

static const struct lazycuda_status *stub_status(const char *library)
{
	const struct lazycuda_status *(*get)(const char *) = (const struct lazycuda_status *(*)
		(const char *))(uintptr_t)dlsym(RTLD_DEFAULT, "lazycuda_get_status");

	return get ? get(library) : NULL;
}

/* The real library in use: the stub's, or the one that has this function.  Links are
 * followed. */
static __attribute__((unused)) const char *file_of(const char *library, const char *function)
{
	static char real[PATH_MAX];
	const struct lazycuda_status *status = stub_status(library);
	const char *path = status ? status->path : NULL;
	Dl_info info;

	if (!status && dladdr(dlsym(RTLD_DEFAULT, function), &info))
		path = info.dli_fname;
	return path && realpath(path, real) ? real : "none";
}

/* This program again, with that word: how it ended.  One that has begun with CUDA may not go on
 * with it after fork(). */
static int __attribute__((unused)) run_again(const char *self, const char *word)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		execl(self, self, word, (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

/* The part could not be done: this call said that. */
static void __attribute__((unused)) give_up(const char *call, int result, const char *name,
					     int is_refusal)
{
	printf("- %s %s%d %s: %s\n", part, is_refusal ? "refused " : "", result, name, call);
	fflush(stdout);
}

#endif
