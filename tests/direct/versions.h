/* SPDX-License-Identifier: MIT */
/* Two calls that need no driver. */
#ifndef VERSIONS_H
#define VERSIONS_H

#include <stdio.h>

int cudaRuntimeGetVersion(int *version);
int cudaDriverGetVersion(int *version);

static inline int print_versions(void)
{
	int runtime = 0, driver = -1;
	int result = cudaRuntimeGetVersion(&runtime);

	printf("%d %d", result, runtime);
	result = cudaDriverGetVersion(&driver);
	printf(", %d %d\n", result, driver);
	/* The extension of a static program has a libc of its own, which nobody ends. */
	return fflush(stdout);
}

#endif
