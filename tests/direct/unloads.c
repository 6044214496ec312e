/* SPDX-License-Identifier: MIT */
/* An extension that calls what CUDA 12.0 has not yet. */
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);
int cudaLibraryUnload(void *library);
int begin(void);

int begin(void)
{
	int version = 0;

	cudaRuntimeGetVersion(&version);
	printf("%d %s\n", version, cudaLibraryUnload(NULL) == 302 ? "lacks it" : "has it");
	return fflush(stdout);
}
