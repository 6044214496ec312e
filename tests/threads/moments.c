/* SPDX-License-Identifier: MIT */
/*
 * moments.c - a library that makes the first call at an odd moment
 *
 *     -DCONSTRUCTOR    when it is loaded
 *     -DATEXIT         from an exit handler
 *     -DDESTRUCTOR     when it is unloaded or the program ends
 */
#include <stdio.h>
#include <stdlib.h>

int cudaDeviceSynchronize(void);

static void call(void)
{
	printf("%d\n", cudaDeviceSynchronize());
	fflush(stdout);
}

#ifdef CONSTRUCTOR
static __attribute__((constructor)) void start(void)
{
	call();
}
#endif

#ifdef DESTRUCTOR
static __attribute__((destructor)) void end(void)
{
	call();
}
#endif

#ifdef ATEXIT
static __attribute__((constructor)) void start(void)
{
	atexit(call);
}
#endif
