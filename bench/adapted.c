/* SPDX-License-Identifier: MIT */
/*
 * adapted.c - what a call across a difference of interface costs
 *
 *     adapted advise|properties ROUNDS      prints nanoseconds for that many calls
 *
 * Compiled twice: with -DCALLER=13 it is linked to a library of 13 itself, with
 * -DCALLER=12 to the stub, which adapts both calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct location { int type, id; };

#if CALLER == 13
extern int cudaMemAdvise(const void *pointer, size_t count, int advice, struct location location);
extern int cudaGetDeviceProperties(void *properties, int device);
# define ADVISE() cudaMemAdvise(&rounds, 1, 1, (struct location){ 1, 0 })
# define PROPERTIES() cudaGetDeviceProperties(properties, 0)
#else
extern int cudaMemAdvise(const void *pointer, size_t count, int advice, int device);
extern int cudaGetDeviceProperties_v2(void *properties, int device);
# define ADVISE() cudaMemAdvise(&rounds, 1, 1, 0)
# define PROPERTIES() cudaGetDeviceProperties_v2(properties, 0)
#endif

int main(int argc, char **argv)
{
	long rounds = argc > 2 ? atol(argv[2]) : 0;
	int advise = argc > 1 && !strcmp(argv[1], "advise");
	static char properties[2048];
	struct timespec start, end;

	ADVISE();	/* the first call finds the library */
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < rounds; i++)
		advise ? ADVISE() : PROPERTIES();
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n", 1e9 * (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec));
	return 0;
}
