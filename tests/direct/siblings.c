/* SPDX-License-Identifier: MIT */
/* siblings.c - calls cuSPARSE and nvJitLink, in the order of its arguments */
#include <stdio.h>
#include <string.h>

int cusparseGetProperty(int type, int *value);
int nvJitLinkDestroy(void **handle);

int main(int argc, char **argv)
{
	int value;

	puts("calls");
	fflush(stdout);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "cusparse"))
			value = nvJitLinkDestroy(0);
		else if (cusparseGetProperty(0, &value))
			value = -1;
		printf("%d\n", value);
	}
	return 0;
}
