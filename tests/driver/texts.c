/* SPDX-License-Identifier: MIT */
/* texts.c - names|strings VALUE,VALUE... [fail]: what the driver's stub calls its
 * results, one a line; with `fail` a call fails first */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned);
int cuGetErrorName(int, const char **);
int cuGetErrorString(int, const char **);

int main(int count, char **words)
{
	int (*ask)(int, const char **) = strcmp(words[1], "names") ? cuGetErrorString : cuGetErrorName;

	if (count > 3)
		cuInit(0);
	for (char *value = strtok(words[2], ","); value; value = strtok(NULL, ",")) {
		const char *text = "untouched";
		int result = ask(atoi(value), &text);

		printf("%d %s\n", result, text ? text : "NULL");
	}
	return 0;
}
