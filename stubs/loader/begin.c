/* SPDX-License-Identifier: MIT */
/* begin.c - what runs when a stub is loaded: all that there is to it */
#include "forks.h"

static __attribute__((constructor)) void begin(void)
{
	lc_handle_forks();
}
