/* SPDX-License-Identifier: MIT */
/* nvml.c - a fake libnvidia-ml.so.1: BRANCH is its display driver's version */
#include <string.h>

static int ready;

int nvmlInit_v2(void)
{
	ready++;
	return 0;
}

int nvmlShutdown(void)
{
	ready--;
	return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
	if (!ready)
		return 1;
	if (length < sizeof BRANCH)
		return 7;
	memcpy(version, BRANCH, sizeof BRANCH);
	return 0;
}
