/* SPDX-License-Identifier: MIT */
/* installs FILE...: installs what an extension needs after the extension was wanted in vain. */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

typedef int call(void);

static int ask(const char *name)
{
	void *extension = dlopen("app/libversions_of_two.so", RTLD_NOW);

	return extension ? ((call *)dlsym(extension, name))() : 0;
}

int main(int count, char **arguments)
{
	const struct timespec installing = { .tv_sec = 1, .tv_nsec = 200 * 1000 * 1000 };
	char from[100], to[100];

	ask("runtime");
	ask("linker");
	for (int i = 1; i < count; i++) {
		snprintf(from, sizeof(from), "later/%s", arguments[i]);
		snprintf(to, sizeof(to), "cuda/%s", arguments[i]);
		if (rename(from, to))
			return 2;
	}
	nanosleep(&installing, NULL);
	printf("%d", ask("runtime"));
	printf(" %d\n", ask("linker"));
	return 0;
}
