/* SPDX-License-Identifier: MIT */
/* caller.c - calls a function, NAME, of a library that it was linked with */
#include <stdio.h>

int NAME(long, long, long, long, long, long, long, long);

int main(void)
{
	printf("%d\n", NAME(0, 0, 0, 0, 0, 0, 0, 0));
	return 0;
}
