/* SPDX-License-Identifier: MIT */
/* Installs the runtime that an extension needs after the extension was wanted in vain. */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

typedef int call(int *version);

int main(void)
{
	const struct timespec installing = { .tv_sec = 1, .tv_nsec = 200 * 1000 * 1000 };
	void *extension = dlopen("app/libversions_extension.so", RTLD_NOW);
	int version;

	if (extension)
		((call *)dlsym(extension, "cudaRuntimeGetVersion"))(&version);
	if (rename("later/libcudart.so.12", "cuda/libcudart.so.12") || nanosleep(&installing, NULL))
		return 2;
	extension = dlopen("app/libversions_extension.so", RTLD_NOW);
	if (!extension)
		return puts(dlerror());
	return ((int (*)(void))dlsym(extension, "begin"))();
}
