/* SPDX-License-Identifier: MIT */
/* interrupted.c - a first call; with interrupts.c preloaded, signals interrupt it.  It leaves
 * errno and dlerror() alone; with an argument, dlerror() has something to say. */
#include "asks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	int version;
	const char *said;

	if (count > 1)
		dlopen(arguments[1], RTLD_LAZY);
	else
		dlerror();
	errno = ERANGE;
	version = ask();
	printf("%d %s", version, errno == ERANGE ? "errno is kept" : "errno is lost");
	said = dlerror();
	printf(" %s\n", said ? said : "nothing");
	return 0;
}
