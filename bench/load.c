/* SPDX-License-Identifier: MIT */
/*
 * load.c - what loading libraries costs
 *
 *     load FILE...                 dlopens them; prints microseconds and KiB resident
 *     load --call NAME FILE...     and calls NAME of the first; prints microseconds for
 *                                  dlopen and call together
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!file || fscanf(file, "%*s %ld", &pages) != 1)
		perror("/proc/self/statm");
	if (file)
		fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
	int (*function)(int *) = NULL;
	const char *call = NULL;
	struct timespec start, end;
	int first = 1, version;
	long before;

	if (argc > 3 && !strcmp(argv[1], "--call")) {
		call = argv[2];
		first = 3;
	}
	before = resident_kib();
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = first; i < argc; i++) {
		void *handle = dlopen(argv[i], RTLD_NOW);

		if (!handle) {
			fprintf(stderr, "load: %s\n", dlerror());
			return 1;
		}
		if (call && i == first)
			*(void **)&function = dlsym(handle, call);
	}
	if (function)
		function(&version);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.1f %ld\n", 1e6 * (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e3,
	       resident_kib() - before);
	return 0;
}
