/* SPDX-License-Identifier: MIT */
/* goes_without NAME: has a plugin for CUDA, and goes on without it if that cannot be opened or finds
 * no driver. */
#include <dlfcn.h>
#include <stdio.h>

#define NO_DRIVER 35

int main(int count, char **arguments)
{
	char path[64];
	void *plugin;
	int status;

	snprintf(path, sizeof(path), "app/lib%s.so", count > 1 ? arguments[1] : "");
	plugin = dlopen(path, RTLD_NOW);
	status = plugin ? ((int (*)(void))dlsym(plugin, "begin"))() : NO_DRIVER;
	if (status && status != NO_DRIVER)
		printf("fails with %d\n", status);
	else
		puts(status ? "goes without" : "uses it");
	return 0;
}
