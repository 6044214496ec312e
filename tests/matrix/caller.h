/* SPDX-License-Identifier: MIT */
/* caller.h - what callers and fake runtimes of the matrix know of each other */
#ifndef MATRIX_CALLER_H
#define MATRIX_CALLER_H

#include <stdint.h>

/* A parameter of a function as one version's headers have it. */
struct matrix_parameter {
	char kind;		/* v: by value; s: string; i: in; o: out; x: inout; b: buf */
	unsigned size;		/* of it, or of what it points to */
	int count;		/* the parameter that tells how many there are, or -1 */
	const unsigned char *fill;	/* what the runtime writes there, or NULL */
	unsigned fills;		/* how many of them */
	int other;		/* begins with this on matrix_other, unless -1 */
};

/* What the fake functions return, and whether their outputs say something else
 * than usual. */
extern int32_t matrix_status, matrix_other;

/*
 * Writes down that a function of the fake runtime was reached and with which
 * arguments, and fills its outputs.
 */
void matrix_reached(const char *name, int count, const struct matrix_parameter *parameters,
		    const void *const *values);

/* The status that a fake function returns now. */
int32_t matrix_result(void);

/* Puts a function of the fake driver, as a runtime of `version` knows it, where the
 * runtime is to put it; leaves names alone that the driver does not have. */
void matrix_driver_gives(const char *symbol, void **function, int32_t version);

/* A function of the stub, as a caller of one major calls it. */
struct matrix_function {
	const char *name;
	void (*call)(void *const *values, void *result);
	unsigned result;	/* size */
};

#endif
