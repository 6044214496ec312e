/* SPDX-License-Identifier: MIT */
/* editable again: becomes the Python in env/bin, which is a link to this program, and imports an
 * extension that lies elsewhere, as that of a package that pip calls editable.  SITE is a
 * site-packages that this Python searches. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *import(void)
{
	return dlopen("app/libversions_extension.so", RTLD_NOW);
}

int main(int count, char **arguments)
{
	char python[PATH_MAX + sizeof("/python3")], library[PATH_MAX];
	void *extension;

	(void)arguments;
	if (count > 1)
		return !realpath("env/bin", python) ||
		       execl(strcat(python, "/python3"), "python3", (char *)NULL);
	extension = import();
	if (!extension) {	/* the package looks in sys.path itself */
		snprintf(library, sizeof(library), "%s/nvidia/cuda_runtime/lib/libcudart.so.12",
			 getenv("SITE"));
		dlopen(library, RTLD_NOW | RTLD_GLOBAL);
		extension = import();
	}
	return extension ? ((int (*)(void))dlsym(extension, "begin"))() : puts("no import") < 0;
}
