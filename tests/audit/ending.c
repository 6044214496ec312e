/* SPDX-License-Identifier: MIT */
/* ending.c - for each line of standard input, a stem, a blank and a file name: "no", or
 * the first number, -1 for none, and whether there is a hash; the command line includes
 * stubs/base/library_name.h */
#include <stdio.h>
#include <string.h>

int main(void)
{
	struct lc_ending ending;
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		char *name = strchr(line, ' ');
		size_t length = (size_t)(name++ - line);

		name[strcspn(name, "\n")] = 0;
		if (strncmp(name, line, length) || !lc_read_ending(name + length, &ending))
			puts("no");
		else
			printf("%d %d\n", ending.number, ending.hashed);
	}
	return 0;
}
