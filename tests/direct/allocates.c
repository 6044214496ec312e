/* SPDX-License-Identifier: MIT */
/* Allocates, of which a machine without a driver says 35. */
#include <stdio.h>

int cudaMalloc(void **memory, size_t size);

int main(void)
{
	void *memory;
	int result = cudaMalloc(&memory, 16);

	printf("%d\n", result);
	return result != 35;
}
