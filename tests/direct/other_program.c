/* SPDX-License-Identifier: MIT */
/* To be preloaded: a readlink() that hides which program runs, as wrappers of bundled programs do. */
#include <string.h>
#include <unistd.h>

ssize_t readlink(const char *path, char *target, size_t size)
{
	static const char other[] = "/usr/bin/other";

	(void)path;
	return (ssize_t)(size < sizeof(other) ? 0 : strlen(memcpy(target, other, sizeof(other))));
}
