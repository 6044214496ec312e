/* SPDX-License-Identifier: MIT */
/* context.c - device, context, module, memory, launch and events of the driver */
#include "driver.h"

enum { COUNT = 1024 };

/* Assembled here, so that any driver takes it. */
static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .global .u32 number = 77;\n"
	".visible .entry add(.param .u64 p, .param .u32 n) {\n"
	" .reg .u32 %r<6>; .reg .u64 %d<4>;\n"
	" ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n];\n"
	" cvta.to.global.u64 %d0, %d0;\n"
	" mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
	" mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	" mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1;\n"
	" ld.global.u32 %r4, [%d1]; add.u32 %r4, %r4, %r0; st.global.u32 [%d1], %r4;\n"
	" ret;\n}\n";

static void *module, *function, *stream;
static address memory;

static int launch(unsigned number)
{
	void *parameters[] = { &memory, &number };

	return cuLaunchKernel(function, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}

static void sum(const char *key)
{
	unsigned values[COUNT];
	unsigned long long all = 0;

	DO(cuStreamSynchronize(stream));
	DO(cuMemcpyDtoH_v2(values, memory, sizeof(values)));
	for (int i = 0; i < COUNT; i++)
		all += values[i];
	value(key, "%llu", all);
}

static void devices(void)
{
	char name[256] = "", uuid[16] = "";
	size_t bytes = 0;
	int version = 0, active = -1;
	unsigned flags = 99;

	DO(cuDriverGetVersion(&version));
	value("version", "%d", version);
	DO(cuDeviceGetName(name, sizeof(name), device));
	value("name", "%s", name);
	DO(cuDeviceGetUuid(uuid, device));
	value_bytes("uuid", uuid, sizeof(uuid));
	DO(cuDeviceTotalMem_v2(&bytes, device));
	value("memory", "%zu", bytes);
	DO(cuDevicePrimaryCtxGetState(device, &flags, &active));
	value("primary", "%u %d", flags, active);
	for (int i = 1; i < 160; i++) {
		int got = -1, result = cuDeviceGetAttribute(&got, i, device);
		char key[32];

		snprintf(key, sizeof(key), "attribute-%d", i);
		value(key, "%d %d", result, got);
	}
}

static void modules(void)
{
	address number = 0;
	size_t size = 0;
	unsigned got = 0;
	void *none;

	DO(cuModuleLoadData(&module, ptx));
	DO(cuModuleGetFunction(&function, module, "add"));
	RESULT("no-function", cuModuleGetFunction(&none, module, "subtract"));
	DO(cuModuleGetGlobal_v2(&number, &size, module, "number"));
	DO(cuMemcpyDtoH_v2(&got, number, sizeof(got)));
	value("global", "%zu %u", size, got);
	for (int i = 0; i < 8; i++) {
		int attribute = -1, result = cuFuncGetAttribute(&attribute, i, function);
		char key[32];

		snprintf(key, sizeof(key), "function-%d", i);
		value(key, "%d %d", result, attribute);
	}
	RESULT("bad-image", cuModuleLoadData(&none, "no image"));
}

static void launches(void)
{
	void *before, *after;
	float elapsed = -1;
	address base = 0;
	size_t size = 0;
	unsigned type = 0;

	/* It waits for the standard stream, on which memory is set. */
	DO(cuStreamCreate(&stream, 0));
	DO(cuMemAlloc_v2(&memory, COUNT * 4));
	DO(cuMemGetAddressRange_v2(&base, &size, memory + 16));
	value("range", "%s %zu", base == memory ? "right" : "wrong", size);
	DO(cuPointerGetAttribute(&type, 2, memory));
	value("type", "%u", type);
	DO(cuMemsetD32_v2(memory, 1, COUNT));
	DO(cuEventCreate(&before, 0));
	DO(cuEventCreate(&after, 0));
	DO(cuEventRecord(before, stream));
	DO(launch(1));
	DO(cuEventRecord(after, stream));
	DO(cuEventSynchronize(after));
	DO(cuEventElapsedTime(&elapsed, before, after));
	is_right("elapsed", elapsed >= 0);
	RESULT("query", cuEventQuery(after));
	sum("launched");
	DO(cuEventDestroy_v2(before));
	DO(cuEventDestroy_v2(after));
}

static void ended(void)
{
	DO(cuMemFree_v2(memory));
	RESULT("free-twice", cuMemFree_v2(memory));
	DO(cuStreamDestroy_v2(stream));
	DO(cuModuleUnload(module));
	DO(cuDevicePrimaryCtxRelease_v2(device));
}

int main(void)
{
	begin();
	RUN(devices);
	RUN(modules);
	RUN(launches);
	RUN(ended);
	return finish();
}
