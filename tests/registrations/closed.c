/* SPDX-License-Identifier: MIT */
/*
 * closed.c - an extension whose fat binary is part of it, and goes with it
 *
 * SIZE bytes, so that nothing else is on their pages.
 */
#include <stdlib.h>

enum { SIZE = 3 << 16 };

void **__cudaRegisterFatBinary(void *);
void __cudaUnregisterFatBinary(void **);

static char binary[SIZE] = { 1 };
static void **handle;

/* nvcc's code does this in an exit handler; the thread sanitizer calls those of a library
 * that is closed when it is gone. */
#ifdef __SANITIZE_THREAD__
#define atexit(handler) (void)(handler)
__attribute__((destructor))
#endif
static void unregister(void)
{
	__cudaUnregisterFatBinary(handle);
}

static __attribute__((constructor)) void enregister(void)
{
	handle = __cudaRegisterFatBinary(binary + SIZE / 2);
	atexit(unregister);
}
