/* SPDX-License-Identifier: MIT */
/* memory.c - allocations, every kind of copy, and what a pointer is */
#include "runtime.h"

enum { COUNT = 4096 };

static int source[COUNT], target[COUNT];

static void clear(void)
{
	for (int i = 0; i < COUNT; i++) {
		source[i] = i * 7 + 1;
		target[i] = -1;
	}
}

static void is_copied(const char *key)
{
	is_right(key, !memcmp(source, target, sizeof(source)));
	clear();
}

static void copies(void)
{
	int *a, *b;

	clear();
	DO(cudaMalloc((void **)&a, sizeof(source)));
	DO(cudaMalloc((void **)&b, sizeof(source)));
	DO(cudaMemcpy(a, source, sizeof(source), cudaMemcpyHostToDevice));
	DO(cudaMemcpy(b, a, sizeof(source), cudaMemcpyDeviceToDevice));
	DO(cudaMemcpy(target, b, sizeof(source), cudaMemcpyDeviceToHost));
	is_copied("there-and-back");
	DO(cudaMemcpy(target, b, sizeof(source), cudaMemcpyDefault));
	is_copied("default");
	DO(cudaMemset(a, 0x2b, sizeof(source)));
	DO(cudaMemcpy(target, a, sizeof(source), cudaMemcpyDeviceToHost));
	value("memset", "%x %x", target[0], target[COUNT - 1]);
	clear();
	DO(cudaMemcpyAsync(a, source, sizeof(source), cudaMemcpyHostToDevice, NULL));
	DO(cudaMemcpyPeerAsync(b, 0, a, 0, sizeof(source), NULL));
	DO(cudaMemcpyAsync(target, b, sizeof(source), cudaMemcpyDeviceToHost, NULL));
	DO(cudaStreamSynchronize(NULL));
	is_copied("async");
	DO(cudaFree(a));
	DO(cudaFree(b));
}

/* Addresses differ from run to run, and so do not count; where they lie does. */
static void print_attributes(const char *key, const void *pointer)
{
	struct cudaPointerAttributes got;
	int result;

	memset(&got, 0xa5, sizeof(got));
	result = (int)cudaPointerGetAttributes(&got, pointer);
	value(key, "%d type %d device %d %s %s", result, (int)got.type, got.device,
	      got.devicePointer == pointer ? "device" : got.devicePointer ? "other" : "none",
	      got.hostPointer == pointer ? "host" : got.hostPointer ? "other" : "none");
	cudaGetLastError();
}

static void pointers(void)
{
	void *device, *pinned, *managed = NULL, *mapped = NULL;
	static char page[8192] __attribute__((aligned(4096)));
	unsigned flags = 99;
	int stack;

	DO(cudaMalloc(&device, 1000));
	print_attributes("device", device);
	print_attributes("inside", (char *)device + 100);
	DO(cudaHostAlloc(&pinned, 1000, cudaHostAllocMapped));
	print_attributes("pinned", pinned);
	DO(cudaHostGetFlags(&flags, pinned));
	value("flags", "%u", flags);
	DO(cudaHostGetDevicePointer(&mapped, pinned, 0));
	is_right("mapped", mapped != NULL);
	print_attributes("stack", &stack);
	DO(cudaHostRegister(page, sizeof(page), cudaHostRegisterDefault));
	print_attributes("registered", page);
	DO(cudaHostUnregister(page));
	if (attribute(83) == 1) {
		DO(cudaMallocManaged(&managed, 1000, cudaMemAttachGlobal));
		print_attributes("managed", managed);
		DO(cudaFree(managed));
	}
	DO(cudaFreeHost(pinned));
	DO(cudaFree(device));
}

PROGRAM(RUN(copies); RUN(pointers))
