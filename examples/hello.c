/* SPDX-License-Identifier: MIT */
/* hello.c - prints which CUDA runtime is used here, or why none */
#include <stdio.h>

/* What cuda_runtime.h declares. */
int cudaRuntimeGetVersion(int *version);
const char *cudaGetErrorString(int status);

int main(void)
{
	int version, status = cudaRuntimeGetVersion(&version);

	if (status)
		puts(cudaGetErrorString(status));
	else
		printf("CUDA %d.%d\n", version / 1000, version % 1000 / 10);
	return status != 0;
}
