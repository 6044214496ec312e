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
	value("values", "%d of %d %s", right, COUNT, right == COUNT ? "right" : "wrong");
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

static void functions(void)
{
	struct cudaFuncAttributes attributes;
	int blocks = 0, least = 0;

	memset(&attributes, 0xa5, sizeof(attributes));
	DO(cudaFuncGetAttributes(&attributes, &compute));
	value("sizes", "%zu %zu %zu", attributes.sharedSizeBytes, attributes.constSizeBytes,
	      attributes.localSizeBytes);
	value("numbers", "%d %d %d %d", attributes.maxThreadsPerBlock, attributes.numRegs,
	      attributes.ptxVersion, attributes.binaryVersion);
	DO(cudaFuncSetAttribute(&compute, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096));
	DO(cudaFuncGetAttributes(&attributes, &compute));
	value("dynamic", "%d", attributes.maxDynamicSharedSizeBytes);
	DO(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &compute, 256, 0));
	value("occupancy", "%d", blocks);
	DO(cudaFuncSetCacheConfig(&compute, cudaFuncCachePreferL1));
	RESULT("no-kernel", launch(&least, 1, 1, NULL, NULL));
	RESULT("last", cudaGetLastError());
}

static void cooperative(void)
{
	int blocks = 0, *numbers, got[2] = { 0 };
	const dim3 block = { 32, 1, 1 };
	dim3 grid = { 1, 1, 1 };
	int *out;
	void *arguments[] = { &numbers, &out };

	if (attribute(95) != 1) {	/* cooperativeLaunch */
		printf("- cooperative the device has no cooperative launch\n");
		return;
	}
	DO(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &together, 32, 0));
	DO(cudaMalloc((void **)&numbers, sizeof(got)));
	DO(cudaMemset(numbers, 0, sizeof(got)));
	out = numbers + 1;
	grid.x = blocks ? (unsigned)attribute(16) : 1;	/* multiProcessorCount */
	DO(cudaLaunchCooperativeKernel(&together, grid, block, arguments, 0, NULL));
	DO(cudaMemcpy(got, numbers, sizeof(got), cudaMemcpyDeviceToHost));
	is_right("all", got[1] == (int)grid.x);
	grid.x = (unsigned)(blocks * attribute(16) + 1000);
	RESULT("too-many", cudaLaunchCooperativeKernel(&together, grid, block, arguments, 0, NULL));
	cudaGetLastError();
	DO(cudaFree(numbers));
}

static void cluster(void)
{
	cudaLaunchAttribute attribute_of_launch;
	cudaLaunchConfig_t config;
	int *out, got[8] = { 0 };
	void *arguments[] = { &out };

	if (attribute(75) < 9) {	/* computeCapabilityMajor */
		printf("- cluster the device is older than sm_90\n");
		return;
	}
	DO(cudaMalloc((void **)&out, sizeof(got)));
	memset(&attribute_of_launch, 0, sizeof(attribute_of_launch));
	attribute_of_launch.id = cudaLaunchAttributeClusterDimension;
	attribute_of_launch.val.clusterDim.x = 2;
	attribute_of_launch.val.clusterDim.y = attribute_of_launch.val.clusterDim.z = 1;
	memset(&config, 0, sizeof(config));
	config.gridDim.x = 8;
	config.gridDim.y = config.gridDim.z = 1;
	config.blockDim = config.gridDim;
	config.attrs = &attribute_of_launch;
	config.numAttrs = 1;
	DO(cudaLaunchKernelExC(&config, &clusters, arguments));
	DO(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
	DO(cudaFree(out));
	if (got[0] < 0)		/* kernels.cu */
		printf("- cluster the device runs the code for sm_75, which has no clusters\n");
	else
		value("blocks", "%d %d %s", got[0], got[7],
		      got[0] == 2 && got[7] == 2 ? "right" : "wrong");
}

int main(void)
{
	begin();
	RUN(computed);
	RUN(variables);
	RUN(managed_variable);
	RUN(functions);
	RUN(cooperative);
	RUN(cluster);
	return finish();
}
