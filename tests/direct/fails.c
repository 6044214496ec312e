/* SPDX-License-Identifier: MIT */
/* To be preloaded: a function of libc, NAME, that always fails. */
#include <errno.h>

long NAME(void)
{
	errno = EACCES;
	return -1;
}
