/* SPDX-License-Identifier: MIT */
/* A plugin that was opened by name is closed by an exit handler from before: closes FILE */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *plugin;

static void close_plugin(void)
{
	printf("close %d\n", dlclose(plugin));
}

int main(int argc, char **argv)
{
	int (*begin)(void) = NULL;

	atexit(close_plugin);
	if (argc > 1)
		plugin = dlopen(argv[1], RTLD_NOW);
	if (plugin)
		begin = (int (*)(void))dlsym(plugin, "begin");
	if (!begin) {
		puts(dlerror());
		return 1;
	}
	return begin();
}
