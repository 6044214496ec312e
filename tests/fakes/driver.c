/* SPDX-License-Identifier: MIT */
/* driver.c - a fake libcuda.so.1: DRIVER is its CUDA version as cuDriverGetVersion
 * tells it, RESULT what that returns (34 in NVIDIA's link-time stub), INIT what
 * cuInit() does */
#ifndef RESULT
#define RESULT 0
#endif
#ifndef INIT
#define INIT 100
#endif

int cuDriverGetVersion(int *version)
{
	if (!RESULT)
		*version = DRIVER;
	return RESULT;
}

int cuInit(unsigned flags)
{
	(void)flags;
	return RESULT ? RESULT : INIT;
}
