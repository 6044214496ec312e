/* SPDX-License-Identifier: MIT */
/* properties.c - what a device is: cudaDeviceProp field for field, every attribute, limits */
#include "runtime.h"

static struct cudaDeviceProp properties;

#define SAME(field) value_bytes(#field, &properties.field, sizeof(properties.field))

/* What 13's struct has no longer, its callers ask for as an attribute. */
#if CUDART_VERSION < 13000
#define GONE(field, number) SAME(field)
#else
#define GONE(field, number) do { \
	int got = attribute(number); \
	value_bytes(#field, &got, sizeof(got)); \
} while (0)
#endif

static void fields(void)
{
	memset(&properties, 0xa5, sizeof(properties));
	DO(cudaGetDeviceProperties(&properties, 0));
	value("name", "%s", properties.name);
	SAME(uuid); SAME(totalGlobalMem); SAME(sharedMemPerBlock); SAME(regsPerBlock);
	SAME(warpSize); SAME(memPitch); SAME(maxThreadsPerBlock); SAME(maxThreadsDim);
	SAME(maxGridSize); SAME(totalConstMem); SAME(major); SAME(minor); SAME(textureAlignment);
	SAME(texturePitchAlignment); SAME(multiProcessorCount); SAME(integrated);
	SAME(canMapHostMemory); SAME(maxTexture1D); SAME(maxTexture1DMipmap); SAME(maxTexture2D);
	SAME(maxTexture2DMipmap); SAME(maxTexture2DLinear); SAME(maxTexture2DGather);
	SAME(maxTexture3D); SAME(maxTexture3DAlt); SAME(maxTextureCubemap);
	SAME(maxTexture1DLayered); SAME(maxTexture2DLayered); SAME(maxTextureCubemapLayered);
	SAME(maxSurface1D); SAME(maxSurface2D); SAME(maxSurface3D); SAME(maxSurface1DLayered);
	SAME(maxSurface2DLayered); SAME(maxSurfaceCubemap); SAME(maxSurfaceCubemapLayered);
	SAME(surfaceAlignment); SAME(concurrentKernels); SAME(ECCEnabled); SAME(pciBusID);
	SAME(pciDeviceID); SAME(pciDomainID); SAME(tccDriver); SAME(asyncEngineCount);
	SAME(unifiedAddressing); SAME(memoryBusWidth); SAME(l2CacheSize);
	SAME(persistingL2CacheMaxSize); SAME(maxThreadsPerMultiProcessor);
	SAME(streamPrioritiesSupported); SAME(globalL1CacheSupported); SAME(localL1CacheSupported);
	SAME(sharedMemPerMultiprocessor); SAME(regsPerMultiprocessor); SAME(managedMemory);
	SAME(isMultiGpuBoard); SAME(multiGpuBoardGroupID); SAME(hostNativeAtomicSupported);
	SAME(pageableMemoryAccess); SAME(concurrentManagedAccess);
	SAME(computePreemptionSupported); SAME(canUseHostPointerForRegisteredMem);
	SAME(cooperativeLaunch); SAME(sharedMemPerBlockOptin);
	SAME(pageableMemoryAccessUsesHostPageTables); SAME(directManagedMemAccessFromHost);
	SAME(maxBlocksPerMultiProcessor); SAME(accessPolicyMaxWindowSize);
	SAME(reservedSharedMemPerBlock);
	GONE(clockRate, 13);
	GONE(deviceOverlap, 15);
	GONE(kernelExecTimeoutEnabled, 17);
	GONE(computeMode, 20);
	GONE(memoryClockRate, 36);
	GONE(singleToDoublePrecisionPerfRatio, 87);
}

/* What 12 added. */
static void added(void)
{
#if CUDART_VERSION >= 12000
	memset(&properties, 0xa5, sizeof(properties));
	DO(cudaGetDeviceProperties(&properties, 0));
	SAME(hostRegisterSupported); SAME(sparseCudaArraySupported);
	SAME(hostRegisterReadOnlySupported); SAME(timelineSemaphoreInteropSupported);
	SAME(memoryPoolsSupported); SAME(gpuDirectRDMASupported);
	SAME(gpuDirectRDMAFlushWritesOptions); SAME(gpuDirectRDMAWritesOrdering);
	SAME(memoryPoolSupportedHandleTypes); SAME(deferredMappingCudaArraySupported);
	SAME(ipcEventSupported); SAME(clusterLaunch); SAME(unifiedFunctionPointers);
#endif
}

/* Those of CUDA 11, which every major has. */
static void attributes(void)
{
	for (int number = 1; number <= 119; number++) {
		char key[32];

		snprintf(key, sizeof(key), "%d", number);
		value(key, "%d", attribute(number));
		cudaGetLastError();
	}
}

static void limits(void)
{
	static const enum cudaLimit all[] = {
		cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize,
	};
	size_t got;
	size_t free_bytes, all_bytes;

	for (int i = 0; i < 3; i++) {
		char key[32];

		DO(cudaDeviceGetLimit(&got, all[i]));
		snprintf(key, sizeof(key), "%d", (int)all[i]);
		value(key, "%zu", got);
	}
	DO(cudaMemGetInfo(&free_bytes, &all_bytes));
	value("memory", "%zu", all_bytes);
}

static void place(void)
{
	char bus[32] = "";
	int device = -1, count = 0, driver = 0, runtime = 0, low, high;

	DO(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0));
	value("bus", "%s", bus);
	DO(cudaDeviceGetByPCIBusId(&device, bus));
	value("device", "%d", device);
	DO(cudaGetDeviceCount(&count));
	value("count", "%d", count);
	DO(cudaDriverGetVersion(&driver));
	value("driver", "%d", driver);
	DO(cudaRuntimeGetVersion(&runtime));
	value("runtime", "%d", runtime);
	DO(cudaDeviceGetStreamPriorityRange(&low, &high));
	value("priorities", "%d %d", low, high);
}

/* Of every pair of devices; of a device and itself where there is one. */
static void peers(void)
{
	int count = 0;

	DO(cudaGetDeviceCount(&count));
	for (int a = 0; a < count && a < 8; a++)
		for (int b = 0; b < count && b < 8; b++) {
			char key[32];
			int can = -1, result = (int)cudaDeviceCanAccessPeer(&can, a, b);

			snprintf(key, sizeof(key), "%d-%d", a, b);
			value(key, "%d %d", result, can);
			cudaGetLastError();
		}
}

static void choice(void)
{
	int device = -1;

	memset(&properties, 0, sizeof(properties));
	properties.major = 5;
	DO(cudaChooseDevice(&device, &properties));
	value("device", "%d", device);
}

int main(void)
{
	begin();
	RUN(fields);
	RUN(added);
	RUN(attributes);
	RUN(limits);
	RUN(place);
	RUN(peers);
	RUN(choice);
	return finish();
}
