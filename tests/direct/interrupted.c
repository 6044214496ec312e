/* SPDX-License-Identifier: MIT */
/* interrupted.c - a first call; with interrupts.c preloaded, signals interrupt it.  It leaves
 * errno and dlerror() alone; with an argument, dlerror() has something to say. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

int main(int count, char **arguments)
{
	int version = 0, status;
	const char *said;

	if (count > 1)
		dlopen(arguments[1], RTLD_LAZY);
	else
		dlerror();
	errno = ERANGE;
	status = cudaRuntimeGetVersion(&version);
	printf("%d %s", status ? status : version, errno == ERANGE ? "errno is kept" : "errno is lost");
	said = dlerror();
	printf(" %s\n", said ? said : "nothing");
	return 0;
}
