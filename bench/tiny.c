/* SPDX-License-Identifier: MIT */
/* tiny.c - a runtime of CUDA 13 whose functions do next to nothing */
#include <stddef.h>
#include <string.h>

struct location { int type, id; };

int cudaRuntimeGetVersion(int *version) { *version = 13000; return 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cudaGetLastError(void) { return 0; }
int cudaPeekAtLastError(void) { return 0; }

int cudaMemAdvise(const void *pointer, size_t count, int advice, struct location location)
{
	return !pointer || !count || advice < 0 || location.type < 0;
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = attribute + device;
	return 0;
}

int cudaGetDeviceProperties(void *properties, int device)
{
	memset(properties, device, 1008);
	return 0;
}

/* For a caller of CUDA 12 the stub calls another function, which this library lacks. */
int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
			    int *result)
{
	*function = NULL;
	*result = 1;
	return !symbol || flags;
}
