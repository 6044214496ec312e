/* SPDX-License-Identifier: MIT */
/* fails.c - tries to open what is not there: returns 0 if nothing else happens */
#include <dlfcn.h>
#include <stddef.h>

int user_call(void)
{
	return dlopen("libnowhere.so", RTLD_NOW) != NULL;
}
