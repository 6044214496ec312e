/* SPDX-License-Identifier: MIT */
/*
 * code.c - kernels and variables that a static constructor has registered, before any
 * CUDA was loaded: launches, __constant__, __device__ and __managed__ variables
 */
#include "code.h"

enum { COUNT = 1000 };

static void computed(void)
{
	static int got[COUNT];
	int n = COUNT, *out, right = 0;
	void *arguments[] = { &out, &n };

	DO(cudaMalloc((void **)&out, sizeof(got)));
	DO(launch(&compute, 4, 256, arguments, NULL));
	DO(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		right += got[i] == 5 * i + 3 + 7;
	are_right("values", right, COUNT);
	DO(cudaFree(out));
}

static void variables(void)
{
	int got = 0, set = 9;
	size_t size = 0;
	void *address = NULL;

	DO(cudaMemcpyFromSymbol(&got, &counter, sizeof(got), 0, cudaMemcpyDeviceToHost));
	value("device", "%d", got);
	DO(cudaMemcpyFromSymbol(&got, &factor, sizeof(got), 0, cudaMemcpyDeviceToHost));
	value("constant", "%d", got);
	DO(cudaMemcpyToSymbol(&factor, &set, sizeof(set), 0, cudaMemcpyHostToDevice));
	DO(cudaMemcpyFromSymbol(&got, &factor, sizeof(got), 0, cudaMemcpyDeviceToHost));
	value("constant-set", "%d", got);
	DO(cudaGetSymbolAddress(&address, &counter));
	DO(cudaGetSymbolSize(&size, &counter));
	value("symbol", "%s %zu", address ? "address" : "none", size);
	set = 5;
	DO(cudaMemcpyToSymbol(&factor, &set, sizeof(set), 0, cudaMemcpyHostToDevice));
	RESULT("no-symbol", cudaGetSymbolAddress(&address, &set));
	cudaGetLastError();
}

static void managed_variable(void)
{
	int got = 0;

	__cudaInitModule(code_handle);
	if (!total) {
		printf("- managed_variable the runtime gave it no address\n");
		return;
	}
	value("before", "%d", *total);
	DO(launch(&bump, 1, 1, NULL, NULL));
	DO(cudaDeviceSynchronize());
	value("after", "%d", *total);
	DO(cudaMemcpyFromSymbol(&got, &counter, sizeof(got), 0, cudaMemcpyDeviceToHost));
	value("counter", "%d", got);
	*total = 7;
}

int main(void)
{
	begin();
	RUN(computed);
	RUN(variables);
	RUN(managed_variable);
	return finish();
}
