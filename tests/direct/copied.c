/* SPDX-License-Identifier: MIT */
/* Asks the runtime for its version, and cuDNN for that of the runtime that it was made with. */
#include <stddef.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);
size_t cudnnGetCudartVersion(void);

int main(void)
{
	int version = 0;

	cudaRuntimeGetVersion(&version);
	printf("%d %zu\n", version, cudnnGetCudartVersion());
	return 0;
}
