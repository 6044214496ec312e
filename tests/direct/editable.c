/* SPDX-License-Identifier: MIT */
/* editable again|relative [SCRIPT]: becomes the Python in env/bin, which is a link to this program and
 * is told to run that, by an absolute path or a relative one; and imports an extension that lies
 * elsewhere, as that of a package that pip calls editable.  SITE is a site-packages that this
 * Python searches. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *import(void)
{
	return dlopen("app/libasks.so", RTLD_NOW);
}

int main(int count, char **arguments)
{
	char python[PATH_MAX + sizeof("/python3")], script[PATH_MAX + 100], library[PATH_MAX];
	void *extension;

	if (count > 1 && !strcmp(arguments[1], "relative"))
		return execl("./env/bin/python3", "./env/bin/python3", "dev", (char *)NULL);
	if (count > 1 && !strcmp(arguments[1], "again"))
		return !realpath("env/bin", python) || !realpath(".", script) ||
		       execl(strcat(python, "/python3"), "python3", count > 2 ? "-sEX" : NULL, "dev",
			     strcat(strcat(script, "/"), arguments[count - 1]), (char *)NULL);
	setenv("PYTHONUSERBASE", "/nowhere", 1);	/* for children */
	extension = import();
	if (!extension) {	/* the package looks in sys.path itself */
		snprintf(library, sizeof(library), "%s/nvidia/cuda_runtime/lib/libcudart.so.12",
			 getenv("SITE"));
		dlopen(library, RTLD_NOW | RTLD_GLOBAL);
		extension = import();
	}
	return extension ? printf("%d\n", ((int (*)(void))dlsym(extension, "begin"))()) < 0 :
	       puts("no import") < 0;
}
