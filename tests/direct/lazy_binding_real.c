/* SPDX-License-Identifier: MIT */
/* lazy_binding_real.c - a runtime that calls a function which nobody has, in one of its functions */
int nobody_has_this(void);

int cudaRuntimeGetVersion(int *version)
{
	*version = 12090;
	return 0;
}

int cudaDeviceReset(void)
{
	return nobody_has_this();
}
