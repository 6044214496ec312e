/* SPDX-License-Identifier: MIT */
/* byte_count.c - parses byte counts on a command line */
#include "byte_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool bytes_read(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	unsigned long long number;
	const char *unit;
	char *end;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit)
		shift = 10 * (int)(unit - units + 1);
	if (errno || !number || end[unit != NULL] || number > UINT64_MAX >> shift)
		return false;
	*bytes = (uint64_t)number << shift;
	return true;
}
