/* SPDX-License-Identifier: MIT */
/* intruder.c - a library that says so when it is loaded, under any name */
#include <string.h>
#include <unistd.h>

static __attribute__((constructor)) void enter(void)
{
	static const char text[] = "intruder " NAME "\n";

	if (write(2, text, strlen(text)) < 0)
		_exit(99);
}

int cuDriverGetVersion(int *version)
{
	*version = 12080;
	return 0;
}

int nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
	static const char text[] = "12.535.104.05";

	if (length < sizeof(text))
		return 7;
	memcpy(version, text, sizeof(text));
	return 0;
}
