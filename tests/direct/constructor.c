/* SPDX-License-Identifier: MIT */
/* constructor.c - an extension whose constructor makes a call */
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

static __attribute__((constructor)) void begin(void)
{
	int version = 0, status = cudaRuntimeGetVersion(&version);

	/* A process that is kept waiting says so in another order. */
	fprintf(stderr, "constructor: %d\n", status ? status : version);
}
