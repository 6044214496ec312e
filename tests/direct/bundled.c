/* SPDX-License-Identifier: MIT */
/* bundled FILE...: opens an extension, and a library that some wheel bundles or brings, in that
 * order, and calls the extension. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	int (*begin)(void) = NULL;

	for (int i = 1; i < count; i++) {
		void *file = dlopen(arguments[i], RTLD_NOW);
		void *found = file ? dlsym(file, "begin") : NULL;

		if (!file) {
			puts(dlerror());
			return 1;
		}
		if (found)
			begin = (int (*)(void))found;
	}
	return begin ? begin() : 2;
}
