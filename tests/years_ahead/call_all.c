/* SPDX-License-Identifier: MIT */
/*
 * call_all.c - calls every name that a file tells of, through the stubs
 *
 *     call_all FILE STUB...
 *
 * A line is STUB-NUMBER NAME NODE VALUE, and VALUE what six zeros are to give.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	FILE *calls = fopen(argv[1], "r");
	char name[64], node[64];
	void *stubs[32];
	int stub, value, wrong = 0, made = 0;

	for (int i = 2; i < argc; i++) {
		stubs[i - 2] = dlopen(argv[i], RTLD_NOW);
		if (!stubs[i - 2])
			return fprintf(stderr, "%s\n", dlerror()), 2;
	}
	while (fscanf(calls, "%d %63s %63s %d", &stub, name, node, &value) == 4) {
		int (*call)(long, long, long, long, long, long) = NULL;
		int said;

		*(void **)&call = dlvsym(stubs[stub], name, node);
		said = call ? call(0, 0, 0, 0, 0, 0) : -1;
		made++;
		if (said != value && wrong++ < 20)
			printf("%s@%s gave %d, not %d\n", name, node, said, value);
	}
	printf("%d calls, %d wrong\n", made, wrong);
	return wrong != 0;
}
