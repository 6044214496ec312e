/* SPDX-License-Identifier: MIT */
/*
 * gpu.c - the driver's API on a GPU, through the stub: a context, a module, memory,
 * a launch, events, a graph, and a function that cuGetProcAddress() hands out.
 * Prints what each step came to; skipped where there is no GPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t address;

int cuInit(unsigned), cuDriverGetVersion(int *), cuDeviceGetCount(int *), cuDeviceGet(int *, int);
int cuDevicePrimaryCtxRetain(void **, int), cuDevicePrimaryCtxRelease_v2(int);
int cuCtxSetCurrent(void *), cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *), cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(address *, size_t), cuMemFree_v2(address);
int cuMemcpyHtoD_v2(address, const void *, size_t), cuMemcpyDtoH_v2(void *, address, size_t);
int cuStreamCreate(void **, unsigned), cuStreamDestroy_v2(void *), cuStreamSynchronize(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuEventCreate(void **, unsigned), cuEventRecord(void *, void *), cuEventSynchronize(void *);
int cuEventElapsedTime(float *, void *, void *), cuEventDestroy_v2(void *);
int cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphLaunch(void *, void *);
int cuGraphExecDestroy(void *), cuGraphDestroy(void *);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuGetErrorName(int, const char **);
int nvmlInit_v2(void), nvmlShutdown(void), nvmlDeviceGetCount_v2(unsigned *);

#define DO(call) check(#call, call)

static void check(const char *call, int result)
{
	const char *name = "?";

	if (!result)
		return;
	cuGetErrorName(result, &name);
	printf("%s: %d %s\n", call, result, name);
	exit(1);
}

enum { COUNT = 1024 };

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry add(.param .u64 p, .param .u32 n) {\n"
	" .reg .u32 %r<6>; .reg .u64 %d<4>;\n"
	" ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n];\n"
	" cvta.to.global.u64 %d0, %d0;\n"
	" mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
	" mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	" mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1;\n"
	" ld.global.u32 %r4, [%d1]; add.u32 %r4, %r4, %r0; st.global.u32 [%d1], %r4;\n"
	" ret;\n}\n";

static void launch(void *function, address memory, unsigned number, void *stream)
{
	void *parameters[] = { &memory, &number };

	DO(cuLaunchKernel(function, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
}

int main(void)
{
	void *context, *module, *function, *stream, *before, *after, *graph, *exec;
	int version, devices = 0, device, status, result = cuInit(0), wrong = 0;
	int (*count)(int *) = NULL;
	unsigned values[COUNT], cards = 0;
	address memory;
	float elapsed = -1;

	if (result) {
		const char *name = "?";

		cuGetErrorName(result, &name);
		printf("there is no GPU: cuInit says %s\n", name);
		return 77;
	}
	DO(cuDriverGetVersion(&version));
	DO(cuDeviceGetCount(&devices));
	DO(cuDeviceGet(&device, 0));
	DO(cuDevicePrimaryCtxRetain(&context, device));
	DO(cuCtxSetCurrent(context));
	DO(cuModuleLoadData(&module, ptx));
	DO(cuModuleGetFunction(&function, module, "add"));
	DO(cuStreamCreate(&stream, 1));
	DO(cuMemAlloc_v2(&memory, sizeof(values)));
	for (unsigned i = 0; i < COUNT; i++)
		values[i] = i;
	DO(cuMemcpyHtoD_v2(memory, values, sizeof(values)));
	DO(cuEventCreate(&before, 0));
	DO(cuEventCreate(&after, 0));
	DO(cuEventRecord(before, stream));
	launch(function, memory, 1, stream);
	DO(cuEventRecord(after, stream));
	DO(cuEventSynchronize(after));
	DO(cuEventElapsedTime(&elapsed, before, after));
	DO(cuStreamBeginCapture_v2(stream, 0));
	launch(function, memory, 10, stream);
	DO(cuStreamEndCapture(stream, &graph));
	DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		DO(cuGraphLaunch(exec, stream));
	DO(cuStreamSynchronize(stream));
	DO(cuMemcpyDtoH_v2(values, memory, sizeof(values)));
	for (unsigned i = 0; i < COUNT; i++)
		wrong += values[i] != i + 31;
	printf("values %s\n", wrong ? "wrong" : "right");
	printf("time %s\n", elapsed >= 0 ? "measured" : "missing");
	DO(cuGetProcAddress_v2("cuDeviceGetCount", (void **)&count, 12000, 0, &status));
	result = 0;
	printf("cuGetProcAddress %s\n", count && !count(&result) && result == devices ? "right" : "wrong");
	DO(cuGraphExecDestroy(exec));
	DO(cuGraphDestroy(graph));
	DO(cuEventDestroy_v2(before));
	DO(cuEventDestroy_v2(after));
	DO(cuMemFree_v2(memory));
	DO(cuStreamDestroy_v2(stream));
	DO(cuModuleUnload(module));
	DO(cuDevicePrimaryCtxRelease_v2(device));
	if (!nvmlInit_v2() && !nvmlDeviceGetCount_v2(&cards))
		nvmlShutdown();
	printf("NVML %s\n", cards >= (unsigned)devices ? "right" : "wrong");
	fprintf(stderr, "driver %d, %d device(s), %g ms, NVML sees %u\n", version, devices,
		(double)elapsed, cards);
	return 0;
}
