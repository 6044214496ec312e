/* SPDX-License-Identifier: MIT */
/* driver.c - calls one function of each of the driver's libraries */
#include <stdio.h>

int cuInit(unsigned), nvmlInit_v2(void);

int main(void)
{
	printf("%d %d\n", cuInit(0), nvmlInit_v2());
	return 0;
}
