/* SPDX-License-Identifier: MIT */
/*
 * written_text.c - calls a function that writes a text for a status
 *
 *	written_text STUB FUNCTION NODE STATUS...
 *
 * For each status a line: what it returned, and the text.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *stub = dlopen(argv[1], RTLD_NOW);
	int (*function)(int, const char **) = stub ?
		(int (*)(int, const char **))dlvsym(stub, argv[2], argv[3]) : NULL;

	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	for (int i = 4; i < argc; i++) {
		const char *text = argv[0];
		int status = function(atoi(argv[i]), &text);

		printf("%d %s\n", status, text);
		function(atoi(argv[i]), NULL);
	}
	return 0;
}
