/* SPDX-License-Identifier: MIT */
/* main.c - squares numbers on the GPU, or on the CPU where the GPU cannot be used */
#include <stdio.h>

/* Declared here so that the example builds without CUDA's headers. */
int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceCount(int *count);
const char *cudaGetErrorString(int status);

#ifdef WITH_KERNEL
int square_on_gpu(float *values, int count);
#else
/* The kernel was not built: there was no CUDA compiler. */
static int square_on_gpu(float *values, int count)
{
	enum { NOT_SUPPORTED = 801 };
	int devices;
	int status = cudaGetDeviceCount(&devices);

	(void)values, (void)count;
	return status ? status : NOT_SUPPORTED;
}
#endif

static void square_on_cpu(float *values, int count)
{
	for (int i = 0; i < count; i++)
		values[i] *= values[i];
}

int main(void)
{
	float values[] = { 1, 2, 3, 4 };
	int count = sizeof(values) / sizeof(values[0]);
	int version = 0;
	int status;

	if (cudaRuntimeGetVersion(&version) == 0)
		printf("CUDA runtime %d.%d\n", version / 1000, version % 1000 / 10);
	status = square_on_gpu(values, count);
	if (status) {
		printf("not on the GPU: %s\n", cudaGetErrorString(status));
		square_on_cpu(values, count);
	}
	printf("on the %s:", status ? "CPU" : "GPU");
	for (int i = 0; i < count; i++)
		printf(" %g", values[i]);
	putchar('\n');
	return 0;
}
