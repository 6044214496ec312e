/* SPDX-License-Identifier: MIT */
/* Looks up every function that app/names lists, in the global scope. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	FILE *names = fopen("app/names", "r");
	int count = 0, missing = 0;
	char name[256];

	if (!names)
		return 2;
	while (fgets(name, sizeof(name), names)) {
		name[strcspn(name, "\n")] = 0;
		count++;
		if (!dlsym(RTLD_DEFAULT, name)) {
			printf("%s\n", name);
			missing++;
		}
	}
	fclose(names);
	printf("%d of %d missing\n", missing, count);
	return 0;
}
