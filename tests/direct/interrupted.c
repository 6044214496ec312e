/* SPDX-License-Identifier: MIT */
/* interrupted.c - a first call; with interrupts.c preloaded, signals interrupt it.  It leaves
 * errno and dlerror() alone. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

int main(void)
{
	int version = 0, status;
	const char *said;

	dlerror();
	errno = ERANGE;
	status = cudaRuntimeGetVersion(&version);
	printf("%d %s", status ? status : version, errno == ERANGE ? "errno is kept" : "errno is lost");
	said = dlerror();
	printf(" %s\n", said ? said : "nothing");
	return 0;
}
