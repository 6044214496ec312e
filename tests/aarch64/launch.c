/* SPDX-License-Identifier: MIT */
/* launch.c - a call with structs by value, as <<<>>> makes it */
#include <stddef.h>
#include <stdio.h>

struct dim3 { unsigned x, y, z; };

int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);

int main(void)
{
	struct dim3 grid = { 1, 2, 3 }, block = { 4, 5, 6 };

	printf("%d\n", cudaLaunchKernel((void *)0x1000, grid, block, (void **)0x2000, 7, NULL));
	return 0;
}
