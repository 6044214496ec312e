/* SPDX-License-Identifier: MIT */
/* clock.h - nanoseconds of a clock */
#include <time.h>

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}
