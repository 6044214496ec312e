/* SPDX-License-Identifier: MIT */
/*
 * least.c - the least that it takes to answer a caller of 12 on a runtime of 13
 *
 * 13 has not kept seven fields of cudaDeviceProp, which cudaDeviceGetAttribute
 * tells, and has moved most others.
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
