/* SPDX-License-Identifier: MIT */
/* comes_later PLUGIN...: opens these, uses each that can be opened, and says how the last one fared.
 * A plugin is made of this source, too. */
#include <dlfcn.h>
#include <stdio.h>

int begin(void);

#ifdef PLUGIN
int cudaRuntimeGetVersion(int *version);

int begin(void)
{
	int version;

	return cudaRuntimeGetVersion(&version);
}
#else
int main(int count, char **arguments)
{
	int status = -1;

	for (int i = 1; i < count; i++) {
		void *plugin = dlopen(arguments[i], RTLD_NOW);

		status = plugin ? ((int (*)(void))dlsym(plugin, "begin"))() : -1;
	}
	printf("%d\n", status);
	return 0;
}
#endif
