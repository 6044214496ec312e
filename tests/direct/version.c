/* SPDX-License-Identifier: MIT */
/* Prints which nvJitLink it got: version [NAME FOLDER], which first sets a variable for children to
 * a folder beside the one that the program lies in. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nvJitLinkVersion(unsigned *major, unsigned *minor);

int main(int argc, char **argv)
{
	unsigned major = 0, minor = 0;
	char value[PATH_MAX + 100] = "";
	int result;

	if (argc > 2) {
		if (readlink("/proc/self/exe", value, PATH_MAX) < 0)
			return 2;
		*strrchr(value, '/') = 0;
		strcpy(strrchr(value, '/') + 1, argv[2]);
		setenv(argv[1], value, 1);
	}
	result = nvJitLinkVersion(&major, &minor);
	printf("%d %u.%u\n", result, major, minor);
	return 0;
}
