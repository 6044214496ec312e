/* SPDX-License-Identifier: MIT */
/*
 * calls.c - what one forwarded call costs
 *
 *     calls ROUNDS        prints nanoseconds for that many calls
 *
 * Linked once to a library itself and once to its stub; the same code else.
 * Prints nothing with 0 rounds, for callgrind to count what starting costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern int cudaDeviceSynchronize(void);

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0;
	struct timespec start, end;

	cudaDeviceSynchronize();	/* the first call finds the library */
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < rounds; i++)
		cudaDeviceSynchronize();
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (rounds)
		printf("%.0f\n", 1e9 * (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec));
	return 0;
}
