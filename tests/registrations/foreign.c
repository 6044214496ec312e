/* SPDX-License-Identifier: MIT */
/*
 * foreign.c - registrations whose handle somebody else has given:
 * `foreign STUB [FROM [twice]]`
 *
 * Registers with FROM, a real runtime or a copy of the stub, and does the rest
 * through STUB, as a file does that is bound lazily and changes sides: a kernel,
 * the end, a launch, and that all is gone.  Without FROM the handle is a page
 * that cannot be read.  Prints what the two that return something returned.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NODE "libcudart.so.12"

static void *open_file(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return handle;
}

static long call(void *in, const char *name, long first, long second)
{
	long (*function)(long, long, long, long, long, long, long, long, long, long) =
		(long (*)(long, long, long, long, long, long, long, long, long, long))
		dlvsym(in, name, NODE);

	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return function(first, second, 0x22, 0x33, -1, 0, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
	void *stub = open_file(argv[1]), *from = argc > 2 ? open_file(argv[2]) : NULL;
	long handle;

	if (from)
		handle = call(from, "__cudaRegisterFatBinary", 0x1000, 0);
	else
		handle = (long)mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	call(stub, "__cudaRegisterFunction", handle, 0x11);
	call(stub, "__cudaRegisterFatBinaryEnd", handle, 0);
	printf("%d\n", (char)call(stub, "__cudaInitModule", handle, 0));
	printf("%d\n", (int)call(stub, "cudaDeviceSynchronize", 0, 0));
	call(stub, "__cudaUnregisterFatBinary", handle, 0);
	if (argc > 3)
		call(stub, "__cudaUnregisterFatBinary", handle, 0);
	return 0;
}
