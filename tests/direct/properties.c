/* SPDX-License-Identifier: MIT */
/* Calls a function whose interface differs between majors. */
#include <stdio.h>

int cudaGetDeviceProperties(void *properties, int device);

int main(void)
{
	static char properties[4096];

	printf("%d\n", cudaGetDeviceProperties(properties, 0));
	return 0;
}
