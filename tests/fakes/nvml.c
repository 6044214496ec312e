/* SPDX-License-Identifier: MIT */
/* nvml.c - a fake libnvidia-ml.so.1: BRANCH is its display driver's version, which
 * NVML's own version ends in; RESULT what functions return (12 in a stand-in) */
#include <string.h>

#ifndef RESULT
#define RESULT 0
#endif

static int answer(char *into, unsigned length, const char *text)
{
	if (RESULT)
		return RESULT;
	if (length <= strlen(text))
		return 7;
	strcpy(into, text);
	return 0;
}

int nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
	return answer(version, length, "12." BRANCH);
}
