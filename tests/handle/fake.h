/* SPDX-License-Identifier: MIT */
/*
 * fake.h - what the fakes of this folder have in common
 *
 * Each counts its calls and what it has alive, fails the call it is told to
 * fail, and checks every argument: a wrong one ends the program.  It is told
 * through functions that a test looks up in it.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For tests. */
struct fake {
	int fail_at;		/* this call fails, 1 is the first; 0: none */
	int status;		/* with this */
	int calls;		/* made since */
	int alive;		/* what was made and not yet undone */
	const char *failed;	/* which call it was */
	const void *image;	/* what comes out */
	size_t length;
	const char *info, *error;	/* logs */
};

__attribute__((visibility("default"))) struct fake fake = { .status = 6 };

#define MUST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, \
				#condition); \
			abort(); \
		} \
	} while (0)

/* To be called first: whether this call is the one to fail. */
static inline int fails(const char *name)
{
	if (__atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED) != fake.fail_at)
		return 0;
	fake.failed = name;
	return fake.status;
}

#define MAY_FAIL() \
	do { \
		int status_ = fails(__func__); \
		if (status_) \
			return status_; \
	} while (0)

/* Of a library whose other names are in the file NAMES: nobody calls those here. */
#define ABSENT(name) int name(void); int name(void) { MUST(!"called"); return 0; }

/* Two functions: the size of something, and that. */
#define PAIR(name, bytes, length) \
	int name##Size(const void *owner, size_t *size) \
	{ \
		MUST(owner); \
		MAY_FAIL(); \
		*size = length; \
		return 0; \
	} \
	int name(const void *owner, void *into) \
	{ \
		MUST(owner); \
		MAY_FAIL(); \
		memcpy(into, bytes, length); \
		return 0; \
	}

#endif
