/* SPDX-License-Identifier: MIT */
/*
 * code.h - kernels.cu in a host program, as nvcc puts it there
 *
 * nvcc itself is not needed, and of three majors it is nowhere: a static constructor
 * registers the fat binary, each kernel and each variable, as what nvcc writes does.
 */
#ifndef CODE_H
#define CODE_H

#include "runtime.h"

__asm__(".pushsection .nv_fatbin, \"a\"\n"
	".balign 16\n"
	"code_fatbin: .incbin \"" FATBIN "\"\n"
	".popsection\n");
extern const char code_fatbin[] __attribute__((visibility("hidden")));

struct wrapper {
	int magic, version;
	const void *data;
	void *rest;
};

static const struct wrapper wrapper __attribute__((section(".nvFatBinSegment"), used)) = {
	0x466243b1, 1, code_fatbin, NULL
};

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);

/* Host functions are addresses alone. */
#define KERNELS(X) X(compute) X(add) X(bump) X(stop) X(spin) X(fetch) X(invert)
#define DEFINE(name) static char name;
KERNELS(DEFINE)
#undef DEFINE

static int counter, factor;
static int *total;		/* what nvcc makes of a managed variable */
static void **code_handle;

static void unregister_code(void)
{
	__cudaUnregisterFatBinary(code_handle);
}

static __attribute__((constructor)) void register_code(void)
{
	code_handle = __cudaRegisterFatBinary((void *)(uintptr_t)&wrapper);
#define REGISTER(name) __cudaRegisterFunction(code_handle, &name, (char *)(uintptr_t)#name, #name, \
					      -1, NULL, NULL, NULL, NULL, NULL);
	KERNELS(REGISTER)
#undef REGISTER
	__cudaRegisterVar(code_handle, (char *)&counter, (char *)(uintptr_t)"counter", "counter", 0,
			  sizeof(int), 0, 0);
	__cudaRegisterVar(code_handle, (char *)&factor, (char *)(uintptr_t)"factor", "factor", 0,
			  sizeof(int), 1, 0);
	__cudaRegisterManagedVar(code_handle, (void **)&total, (char *)(uintptr_t)"total", "total",
				 0, sizeof(int), 0, 0);
	__cudaRegisterFatBinaryEnd(code_handle);
	atexit(unregister_code);
}

static int __attribute__((unused)) launch(void *kernel, unsigned blocks, unsigned threads,
					  void **arguments, cudaStream_t stream)
{
	const dim3 grid = { blocks, 1, 1 }, block = { threads, 1, 1 };

	return (int)cudaLaunchKernel(kernel, grid, block, arguments, 0, stream);
}

static int __attribute__((unused)) launch_add(int *out, int n, int amount, cudaStream_t stream)
{
	void *arguments[] = { &out, &n, &amount };

	return launch(&add, (unsigned)(n + 255) / 256, 256, arguments, stream);
}

#endif
