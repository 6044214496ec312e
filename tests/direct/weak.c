/* SPDX-License-Identifier: MIT */
/* Asks whether the runtime has a function, by its address. */
#include <stdio.h>

int cudaMemcpyBatchAsync(void) __attribute__((weak));
int cudaRuntimeGetVersion(int *version);

int main(void)
{
	int version = 0, status = cudaRuntimeGetVersion(&version);

	printf("%d %s\n", status, cudaMemcpyBatchAsync ? "there" : "not there");
	return 0;
}
