/* SPDX-License-Identifier: MIT */
/* Tells the stub from the real library, and so has a difference for the tests of this room. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int nvJitLinkVersion(unsigned *major, unsigned *minor);

int main(void)
{
	unsigned major = 0, minor = 0;
	int result = nvJitLinkVersion(&major, &minor);

	printf("%d %s\n", result, dlsym(RTLD_DEFAULT, "lazycuda_get_status") ? "stub" : "real");
	return 0;
}
