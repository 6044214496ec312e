/* SPDX-License-Identifier: MIT */
/* constructor.c - an extension whose constructor makes a call */
#include "asks.h"

#include <stdio.h>

static __attribute__((constructor)) void begin(void)
{
	/* A process that is kept waiting says so in another order. */
	fprintf(stderr, "constructor: %d\n", ask());
}
