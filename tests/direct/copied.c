/* SPDX-License-Identifier: MIT */
/* Asks the runtime for its version, and cuDNN for that of the runtime that it was made with: first,
 * if there is an argument. */
#include <stddef.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);
size_t cudnnGetCudartVersion(void);

int main(int count, char **arguments)
{
	size_t asked = count > 1 ? cudnnGetCudartVersion() : 0;
	int version = 0;

	(void)arguments;
	cudaRuntimeGetVersion(&version);
	printf("%d %zu\n", version, asked ? asked : cudnnGetCudartVersion());
	return 0;
}
