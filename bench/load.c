/* SPDX-License-Identifier: MIT */
/*
 * load.c - the cost of loading libraries
 *
 *	load FILE...	dlopen()s the files; prints microseconds of wall time and of CPU time,
 *			and by how many KiB the resident memory and the private dirty memory
 *			of the process grew
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

struct memory { long resident, own; };

static struct memory memory(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	struct memory memory = { 0, 0 };
	char line[256];

	if (!file) {
		perror("/proc/self/smaps_rollup");
		exit(1);
	}
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Rss: %ld", &memory.resident);
		sscanf(line, "Private_Dirty: %ld", &memory.own);
	}
	fclose(file);
	return memory;
}

int main(int argc, char **argv)
{
	struct memory before, after;
	double wall, busy;

	(void)argc;
	memory();		/* so that the memory for reading smaps is resident before */
	before = memory();
	wall = now(CLOCK_MONOTONIC);
	busy = now(CLOCK_PROCESS_CPUTIME_ID);
	for (argv++; *argv; argv++) {
		if (!dlopen(*argv, RTLD_NOW)) {
			fprintf(stderr, "load: %s\n", dlerror());
			return 1;
		}
	}
	wall = now(CLOCK_MONOTONIC) - wall;
	busy = now(CLOCK_PROCESS_CPUTIME_ID) - busy;
	after = memory();
	printf("%.1f %.1f %ld %ld\n", wall / 1e3, busy / 1e3,
	       after.resident - before.resident, after.own - before.own);
	return 0;
}
