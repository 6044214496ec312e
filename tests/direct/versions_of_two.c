/* SPDX-License-Identifier: MIT */
/* An extension that uses two libraries; what it returns is 0 where one is missing. */
int cudaRuntimeGetVersion(int *version);
int nvJitLinkVersion(unsigned *major, unsigned *minor);

int runtime(void);
int linker(void);

int runtime(void)
{
	int version = 0;

	return cudaRuntimeGetVersion(&version) ? 0 : version;
}

int linker(void)
{
	unsigned major = 0, minor = 0;

	return nvJitLinkVersion(&major, &minor) ? 0 : (int)(1000 * major + 10 * minor);
}
