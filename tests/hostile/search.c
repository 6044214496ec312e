/* SPDX-License-Identifier: MIT */
/*
 * search.c - `search LIBRARIES USER CODE...`: visit, once USER is loaded
 *
 * With -DELSEWHERE, `search LIBRARIES USER FOLDER`: goes there in between.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "visitor.h"

int main(int argc, char **argv)
{
	const char *libraries = argv[1];

	if (argc < 3)
		return 2;
	if (!dlopen(argv[2], RTLD_NOW)) {
		puts(dlerror());
		return 1;
	}
#ifdef ELSEWHERE
	if (argc < 4 || chdir(argv[3]))
		return 2;
	argv++;
#endif
	visit(libraries, argv + 3);
	return 0;
}
