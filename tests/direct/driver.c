/* SPDX-License-Identifier: MIT */
/* Asks the driver for its version. */
#include <stdio.h>

int cuDriverGetVersion(int *version);

int main(void)
{
	int version = 0, result = cuDriverGetVersion(&version);

	printf("%d %d\n", result, version);
	return 0;
}
