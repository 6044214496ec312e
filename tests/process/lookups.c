/* SPDX-License-Identifier: MIT */
/*
 * lookups.c - a runtime of which ld.so alone can tell what some names lead to
 *
 *     -DINNER    the part of it that another library has
 */
#ifdef INNER
int cudaFree(void)
{
	return 11;
}
#else
int cudaRuntimeGetVersion(int *version)
{
	*version = 12090;
	return 0;
}

int cudaMalloc(void)
{
	return 12;
}

static int picked(void)
{
	return 13;
}

static void *resolve(void)
{
	return picked;
}

/* The resolver is no function that a caller may call. */
int cudaDeviceSynchronize(void) __attribute__((ifunc("resolve")));
#endif
