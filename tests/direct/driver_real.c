/* SPDX-License-Identifier: MIT */
/* A driver of one function. */
int cuDriverGetVersion(int *version);

int cuDriverGetVersion(int *version)
{
	*version = 12090;
	return 0;
}
