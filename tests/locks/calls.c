/* SPDX-License-Identifier: MIT */
/* calls.c - calls a function of each of two stubs, and the API of both */
#include <stdio.h>

#include <lazycuda.h>

int cudaDeviceSynchronize(void), nvrtcDestroyProgram(void **);
const char *cudaGetErrorString(int);

int main(void)
{
	printf("%d\n", cudaDeviceSynchronize());
	printf("%d\n", nvrtcDestroyProgram(NULL));
	cudaGetErrorString(303);
	lazycuda_get_error("cudart");
	lazycuda_get_error("nvrtc");
	printf("%d\n", lazycuda_load(NULL));
	return 0;
}
