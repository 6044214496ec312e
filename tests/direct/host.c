/* SPDX-License-Identifier: MIT */
/* host.c - opens a plugin; with an argument, after a call */
#include <dlfcn.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

int main(int argc, char **argv)
{
	int version = 0;

	(void)argv;
	if (argc > 1)
		cudaRuntimeGetVersion(&version);
	puts(dlopen("app/libhosted.so", RTLD_NOW) ? "opened" : "cannot open");
	cudaRuntimeGetVersion(&version);
	printf("%d\n", version);
	return 0;
}
