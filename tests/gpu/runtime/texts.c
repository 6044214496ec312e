/* SPDX-License-Identifier: MIT */
/*
 * texts.c - names and texts of errors, and what the first calls say: on any machine
 *
 * Where there is no device the runtime's answers to all calls are those errors; where
 * there is one they are good.
 */
#include "code.h"

enum { LAST = 1000, COUNT = 16 };

/* Of the runtime in use; what is newer than it, the stub knows too. */
static int is_known(const char *name)
{
	return name && strncmp(name, "unrecognized", 12) != 0;
}

static void names(void)
{
	for (int code = 0; code < LAST; code++) {
		const char *name = cudaGetErrorName((cudaError_t)code);
		char key[32];

		snprintf(key, sizeof(key), "%d", code);
		if (is_known(name))
			value(key, "%s: %s", name, cudaGetErrorString((cudaError_t)code));
	}
}

static void calls(void)
{
	struct cudaPointerAttributes attributes;
	struct cudaDeviceProp properties;
	cudaStream_t stream;
	cudaEvent_t event;
	int count = -1, device = -1, driver = -1, n = COUNT;
	void *p = NULL, *arguments[] = { &p, &n };

	RESULT("last", cudaGetLastError());
	RESULT("driver", cudaDriverGetVersion(&driver));
	value("driver-version", "%d", driver);
	RESULT("devices", cudaGetDeviceCount(&count));
	value("count", "%d", count);
	RESULT("last-of-devices", cudaGetLastError());
	RESULT("set", cudaSetDevice(0));
	RESULT("get", cudaGetDevice(&device));
	RESULT("properties", cudaGetDeviceProperties(&properties, 0));
	RESULT("attribute", cudaDeviceGetAttribute(&n, cudaDevAttrMaxThreadsPerBlock, 0));
	n = COUNT;
	RESULT("malloc", cudaMalloc(&p, COUNT * sizeof(int)));
	RESULT("launch", launch(&compute, 1, COUNT, arguments, NULL));
	RESULT("peek", cudaPeekAtLastError());
	RESULT("synchronize", cudaDeviceSynchronize());
	RESULT("pointer", cudaPointerGetAttributes(&attributes, &count));
	RESULT("stream", cudaStreamCreate(&stream));
	RESULT("event", cudaEventCreate(&event));
	RESULT("symbol", cudaMemcpyToSymbol(&factor, &n, sizeof(n), 0, cudaMemcpyHostToDevice));
	RESULT("free", cudaFree(p));
	RESULT("last-of-all", cudaGetLastError());
}

int main(void)
{
	int version = 0;

	/* Some call has to be the first for the stub to say which file it uses. */
	cudaRuntimeGetVersion(&version);
	printf("# %s\n", file_of("cudart", "cudaMalloc"));
	part = "runtime";
	value("version", "%d", version);
	RUN(calls);
	RUN(names);
	return finish();
}
