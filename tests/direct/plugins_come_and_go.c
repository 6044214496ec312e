/* SPDX-License-Identifier: MIT */
/* A real library is in the process; plugins come and go, with a call after each. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 400

int cudaDeviceSynchronize(void);

/* Returns how much memory is resident, in kB. */
static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long total, pages = 0;

	if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2)
		return 0;
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static int round_of(void)
{
	void *plugin = dlopen("app/libplugin.so", RTLD_NOW);

	if (!plugin)
		return 1;
	cudaDeviceSynchronize();
	return dlclose(plugin);
}

int main(void)
{
	long first = 0;

	if (!dlopen("libcudart.so.12", RTLD_NOW))
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		if (round_of())
			return 1;
		if (i == ROUNDS / 10)
			first = resident();
	}
	printf("%s\n", resident() - first < 2 * ROUNDS ? "flat" : "it grows");
	return 0;
}
