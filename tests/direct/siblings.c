/* SPDX-License-Identifier: MIT */
/* siblings.c - calls a library and the one that it needs, in the order of its arguments */
#include <stdio.h>
#include <string.h>

int NEEDING(int type, int *value);
int NEEDED(void **handle);

int main(int argc, char **argv)
{
	int value;

	puts("calls");
	fflush(stdout);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "needing"))
			value = NEEDED(0);
		else if (NEEDING(0, &value))
			value = -1;
		printf("%d\n", value);
	}
	return 0;
}
