/* SPDX-License-Identifier: MIT */
/*
 * library_name.h - the grammar of the file names of libraries
 *
 *	name	stem [hash] ".so" ["." number [digits and points]]
 *	hash	"-" or ".", and six or more digits of 0-9a-f
 *	number	one to nine digits
 *
 *	libcuda.so				what a linker is given
 *	libcudart.so.12				a SONAME
 *	libcudart-d7c32a86.so.12.6.77		from auditwheel, which adds a hash
 *	libcudart.782fcab0.so.11.0		from other tools that add one
 *
 * tools/retarget/lazycuda/names.py has the same grammar for files of wheels.
 */
#ifndef LIBRARY_NAME_H
#define LIBRARY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What follows the stem in a name. */
struct lc_ending {
	bool hashed;
	const char *numbers;	/* in the name: "12.6.77"; NULL if there are none */
	int number;		/* the first of them, 12; -1 if there are none */
};

/* Reads a name from the end of its stem on; false if it is not the name of a library. */
static inline bool lc_read_ending(const char *text, struct lc_ending *ending)
{
	size_t digits = *text == '-' || *text == '.' ? strspn(text + 1, "0123456789abcdef") : 0;

	*ending = (struct lc_ending){ .hashed = digits >= 6, .number = -1 };
	if (ending->hashed)
		text += 1 + digits;
	if (strncmp(text, ".so", 3))
		return false;
	text += 3;
	if (!*text)
		return true;
	digits = *text == '.' ? strspn(text + 1, "0123456789") : 0;
	if (digits < 1 || digits > 9)
		return false;
	ending->numbers = text + 1;
	ending->number = 0;
	for (size_t i = 0; i < digits; i++)
		ending->number = 10 * ending->number + ending->numbers[i] - '0';
	return !ending->numbers[strspn(ending->numbers, "0123456789.")];
}

/* Reads a name of any library.  Returns the length of the stem, which includes a hash,
 * as nothing tells the hash from the library's own name; 0 if it is not the name of a library. */
static inline size_t lc_read_name(const char *name, struct lc_ending *ending)
{
	for (const char *at = name; (at = strstr(at, ".so")); at += 3)
		if (at > name && lc_read_ending(at, ending))
			return (size_t)(at - name);
	return 0;
}

#endif
