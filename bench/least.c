/* SPDX-License-Identifier: MIT */
/*
 * least.c - the least work that answers a caller of CUDA 12 on a runtime of CUDA 13
 *
 * CUDA 13 dropped seven fields of cudaDeviceProp, which cudaDeviceGetAttribute still
 * returns, and moved most others.
 */
#include <string.h>

#define ASKED 7

extern int cudaGetDeviceProperties(void *properties, int device);
extern int cudaDeviceGetAttribute(int *value, int attribute, int device);
extern int least_properties(int *properties, int device);

int least_properties(int *properties, int device)
{
	static char theirs[1008];
	int error = cudaGetDeviceProperties(theirs, device);

	memcpy(properties, theirs, sizeof(theirs));
	for (int i = 0; i < ASKED; i++)
		cudaDeviceGetAttribute(&properties[i], i, device);
	return error;
}
