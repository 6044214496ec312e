/* SPDX-License-Identifier: MIT */
/* versions.c - prints which CUDA runtime and compiler are used here, or why none */
#include <stdio.h>

/* Declared here so that the example builds without CUDA's headers. */
int cudaRuntimeGetVersion(int *version);
const char *cudaGetErrorString(int status);
int nvrtcVersion(int *major, int *minor);
const char *nvrtcGetErrorString(int status);

static int runtime(void)
{
	int version = 0;
	int status = cudaRuntimeGetVersion(&version);

	if (status)
		printf("cudart: %s\n", cudaGetErrorString(status));
	else
		printf("cudart: %d.%d\n", version / 1000, version % 1000 / 10);
	return status;
}

static int compiler(void)
{
	int major = 0, minor = 0;
	int status = nvrtcVersion(&major, &minor);

	if (status)
		printf("nvrtc: %s\n", nvrtcGetErrorString(status));
	else
		printf("nvrtc: %d.%d\n", major, minor);
	return status;
}

/* Exit status 0: both are usable here. */
int main(void)
{
	int missing = runtime() != 0;

	missing += compiler() != 0;
	return missing != 0;
}
