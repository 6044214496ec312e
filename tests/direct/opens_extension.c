/* SPDX-License-Identifier: MIT */
/* opens_extension FOLDER [PREFIX [GONE]]: opens an extension by a path relative to that folder, or
 * by that prefix, and uses it elsewhere, or in a folder that it makes and removes. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int go_away(const char *gone)
{
	char path[4096];

	if (!gone)
		return chdir("/");
	return mkdir(gone, 0700) || chdir(gone) || !getcwd(path, sizeof(path)) || rmdir(path);
}

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
	return go_away(count > 3 ? arguments[3] : NULL) || begin();
}
