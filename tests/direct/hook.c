/* SPDX-License-Identifier: MIT */
/* To be preloaded, with the version node of the runtime: one function, which asks for the next. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version)
{
	static int depth;
	int (*next)(int *) = (int (*)(int *))dlsym(RTLD_NEXT, "cudaRuntimeGetVersion");
	int result = -1;

	if (next && depth++ < 3)
		result = next(version);
	depth--;
	*version = -*version;
	return result;
}
