/* SPDX-License-Identifier: MIT */
/*
 * names.c - what cuGetProcAddress() hands out for every name, to callers of each version;
 * names and texts of errors
 *
 * It needs a driver, and no device.
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

/* By the function that drivers have had since 11.3, or by that of 12. */
static void addresses(int version, int since_12)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *function = NULL;
		char key[120], text[300];
		int status = -1;
		int result = since_12 ? cuGetProcAddress_v2(names[i], &function, version, 0, &status) :
					cuGetProcAddress(names[i], &function, version, 0);

		snprintf(key, sizeof(key), "%s-%d", names[i], version);
		value(key, "%d %d %s", result, status, place(function, text, sizeof(text)));
	}
}

static void texts(void)
{
	for (int code = 0; code < 1000; code++) {
		const char *name = NULL, *text = NULL;
		char key[32];

		if (cuGetErrorName(code, &name) || !name)
			continue;
		cuGetErrorString(code, &text);
		snprintf(key, sizeof(key), "%d", code);
		value(key, "%s %s", name, text ? text : "none");
	}
}

int main(void)
{
	static const int versions[] = { 11080, 12000, 12090, 13000, 13050 };
	int driver = 0;

	/* Without a device that is an error, and what follows works all the same. */
	part = "driver";
	RESULT("init", cuInit(0));
	RESULT("version", cuDriverGetVersion(&driver));
	value("library", "%s", file_of("cuda", "cuInit"));
	RUN(texts);
	part = "first";
	addresses(11080, 0);
	part = "second";
	for (int i = 0; i < 5; i++)
		if (driver >= 12000)
			addresses(versions[i], 1);
	if (driver < 12000)
		printf("- second the driver has no cuGetProcAddress_v2\n");
	return finish();
}
