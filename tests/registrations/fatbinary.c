/* SPDX-License-Identifier: MIT */
/*
 * fatbinary.c - registers an empty but well-formed fat binary, which a real
 * runtime accepts
 */
#include <stddef.h>
#include <stdlib.h>

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
int cudaGetDeviceCount(int *);

static const struct { unsigned magic; unsigned short version, header; unsigned long long size; }
	contents = { 0xba55ed50, 1, 16, 0 };
static const struct { int magic, version; const void *data; void *filename; }
	wrapper = { 0x466243b1, 1, &contents, NULL };

static void **handle;
static char kernel;

static void unregister(void)
{
	__cudaUnregisterFatBinary(handle);
}

static __attribute__((constructor)) void enregister(void)
{
	handle = __cudaRegisterFatBinary((void *)&wrapper);
	__cudaRegisterFunction(handle, &kernel, "kernel", "kernel", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(handle);
	atexit(unregister);
}

int user_call(void);
int user_call(void)
{
	int count;

	return cudaGetDeviceCount(&count);
}
