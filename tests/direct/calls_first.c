/* SPDX-License-Identifier: MIT */
/* Makes a call, and opens an extension that makes another. */
#include <dlfcn.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

int main(int count, char **arguments)
{
	int version = 0, (*begin)(void);
	void *extension;

	printf("%d\n", cudaRuntimeGetVersion(&version));
	fflush(stdout);
	extension = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
	if (!extension) {
		puts(dlerror());
		return 1;
	}
	begin = (int (*)(void))dlsym(extension, "begin");
	return begin();
}
