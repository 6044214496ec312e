/* SPDX-License-Identifier: MIT */
/* runtime.h - for programs of the runtime, of any major */
#ifndef RUNTIME_H
#define RUNTIME_H

#include "../claim.h"
#include <cuda_runtime_api.h>

enum { REFUSED = 801, ABSENT = 302 };

static void __attribute__((unused)) gave_up(const char *call, int result)
{
	const int refusal = (result == REFUSED || result == ABSENT) && stub_status("cudart");

	give_up(call, result, cudaGetErrorName((cudaError_t)result), refusal);
	cudaGetLastError();
}

static void __attribute__((unused)) begin(void)
{
	int count = 0, result = (int)cudaGetDeviceCount(&count);

	if (result)
		skip("no device: cudaGetDeviceCount says %d %s", result,
		     cudaGetErrorName((cudaError_t)result));
	if (!count)
		skip("no device: cudaGetDeviceCount says 0 devices");
	result = (int)cudaFree(NULL);
	if (result)
		skip("no context on device 0: cudaFree(NULL) says %d %s", result,
		     cudaGetErrorName((cudaError_t)result));
	printf("# %s\n", file_of("cudart", "cudaMalloc"));
}

static int __attribute__((unused)) attribute(int number)
{
	int got = -1;

	return cudaDeviceGetAttribute(&got, (enum cudaDeviceAttr)number, 0) ? -1 : got;
}

#endif
