/* SPDX-License-Identifier: MIT */
/*
 * names.c - what cuGetProcAddress() hands out for every name, to callers of each version
 *
 * names.h is made from symbols.txt.  Where a function lies in the driver is the same
 * in two processes, its address is not.
 */
#include "driver.h"
#include "names.h"

static const char *place(void *function, char *into, size_t size)
{
	Dl_info info;

	if (!function)
		return "none";
	if (!dladdr(function, &info))
		return "unknown";
	snprintf(into, size, "%s+%#lx", strrchr(info.dli_fname, '/') ?
		 strrchr(info.dli_fname, '/') + 1 : info.dli_fname,
		 (unsigned long)((char *)function - (char *)info.dli_fbase));
	return into;
}

static void first(int version)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *function = NULL;
		char key[120], text[300];
		int result = cuGetProcAddress(names[i], &function, version, 0);

		snprintf(key, sizeof(key), "%s-%d", names[i], version);
		value(key, "%d %s", result, place(function, text, sizeof(text)));
	}
}

static void second(int version)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *function = NULL;
		char key[120], text[300];
		int status = -1, result = cuGetProcAddress_v2(names[i], &function, version, 0, &status);

		snprintf(key, sizeof(key), "%s-%d", names[i], version);
		value(key, "%d %d %s", result, status, place(function, text, sizeof(text)));
	}
}

int main(void)
{
	static const int versions[] = { 11080, 12000, 12090, 13000, 13050 };
	int driver = 0;

	begin();
	cuDriverGetVersion(&driver);
	part = "first";
	first(11080);
	part = "second";
	for (int i = 0; i < 5; i++)
		if (driver >= 12000)
			second(versions[i]);
	if (driver < 12000)
		printf("- second the driver has no cuGetProcAddress_v2\n");
	return finish();
}
