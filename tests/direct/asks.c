/* SPDX-License-Identifier: MIT */
/* asks.c - asks what asks.h says: a program, and an extension that host.c opens */
#include "asks.h"

#include <stdio.h>

int begin(void)
{
	return ask();
}

int second(void)
{
#ifdef SECOND
	return ask_second();
#else
	return 0;
#endif
}

int main(void)
{
	printf("%d", begin());
	printf(" %d\n", second());
	return 0;
}
