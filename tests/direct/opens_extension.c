/* SPDX-License-Identifier: MIT */
/* opens_extension FOLDER: opens an extension by a relative path from there, and uses it elsewhere. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	int (*begin)(void);
	void *extension;

	if (count != 2 || chdir(arguments[1]))
		return 2;
	extension = dlopen("./libversions_extension.so", RTLD_NOW);
	if (!extension) {
		printf("%s\n", dlerror());
		return 1;
	}
	begin = (int (*)(void))dlsym(extension, "begin");
	return chdir("/") || begin();
}
