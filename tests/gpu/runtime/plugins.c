/* SPDX-License-Identifier: MIT */
/*
 * plugins.c - libraries with device code that come and go: argv[1] and argv[2] are two
 * copies of plugin.c, which is made as an extension is
 */
#include "runtime.h"

static void use(const char *key, const char *path, int times)
{
	int (*compute_here)(int) = NULL;
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!plugin) {
		value(key, "%s wrong", dlerror());
		return;
	}
	compute_here = (int (*)(int))(uintptr_t)dlsym(plugin, "compute_here");
	for (int i = 0; i < times; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s-%d", key, i);
		value(name, "%d", compute_here ? compute_here(i) : -1);
	}
	dlclose(plugin);
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	begin();
	part = "opened";
	use("first", words[1], 2);
	use("second", words[2], 2);
	use("first-again", words[1], 2);
	part = "round";
	for (int i = 0; i < 20; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		use(key, words[1 + i % 2], 1);
	}
	RESULT("last", cudaGetLastError());
	return finish();
}
