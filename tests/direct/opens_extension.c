/* SPDX-License-Identifier: MIT */
/* opens_extension FOLDER [PREFIX]: opens an extension by a path relative to that folder, or by that
 * prefix, and uses it elsewhere. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	int (*begin)(void);
	void *extension;
	char path[64];

	if (count < 2 || chdir(arguments[1]))
		return 2;
	snprintf(path, sizeof(path), "%s/libversions_extension.so", count > 2 ? arguments[2] : ".");
	extension = dlopen(path, RTLD_NOW);
	if (!extension) {
		printf("%s\n", dlerror());
		return 1;
	}
	begin = (int (*)(void))dlsym(extension, "begin");
	return chdir("/") || begin();
}
