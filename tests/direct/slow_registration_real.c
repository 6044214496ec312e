/* SPDX-License-Identifier: MIT */
/* slow_registration_real.c - a runtime that takes three seconds to register a file; with -DOPENS
 * it asks ld.so for something after half a second, with -DTELLS it tells the program */
#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int registered;

void **__cudaRegisterFatBinary()
{
	static void *handle;

#ifdef OPENS
	usleep(500000);
	dlclose(dlopen("libc.so.6", RTLD_NOW));
#elif defined(TELLS)
	void when_registered(void);
	when_registered();
#else
	sleep(3);
#endif
	return &handle;
}

void __cudaRegisterFatBinaryEnd() { }
void __cudaUnregisterFatBinary() { }

void __cudaRegisterFunction()
{
	registered = 1;
}

int cudaLaunchKernel()
{
	return registered ? 0 : 98;
}

int cudaRuntimeGetVersion(int *version)
{
	*version = 12090;
	return 0;
}

int cudaGetLastError() { return 0; }
int cudaPeekAtLastError() { return 0; }
