/* SPDX-License-Identifier: MIT */
/* A stand-in for the driver, that has no exit handlers. */
static int contexts;

int cuInit(unsigned flags)
{
	return (int)flags;
}

int cuDriverGetVersion(int *version)
{
	*version = 12090;
	return 0;
}

int cuCtxSynchronize(void)
{
	return contexts ? 0 : 201;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	contexts++;
	*context = &contexts;
	return device;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	contexts--;
	return device;
}
