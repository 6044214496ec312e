/* SPDX-License-Identifier: MIT */
/* properties.c - what a device is: cudaDeviceProp field for field, every attribute */
#include "runtime.h"

static struct cudaDeviceProp properties;

#define SAME(field) value_bytes(#field, &properties.field, sizeof(properties.field))

/* What the struct of a major has not, its callers ask for as an attribute, if the runtime has
 * that. */
#define ASKED(field, number) do { \
	int got = 0; \
	if (!cudaDeviceGetAttribute(&got, (enum cudaDeviceAttr)(number), 0)) \
		value_bytes(#field, &got, sizeof(got)); \
	cudaGetLastError(); \
} while (0)
#if CUDART_VERSION < 13000
#define UNTIL_12(field, number) SAME(field)
#define SINCE_13(field, number) ASKED(field, number)
#else
#define UNTIL_12(field, number) ASKED(field, number)
#define SINCE_13(field, number) SAME(field)
#endif
#if CUDART_VERSION < 12000
#define SINCE_12(field, number) ASKED(field, number)
#else
#define SINCE_12(field, number) SAME(field)
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
	UNTIL_12(clockRate, 13);
	UNTIL_12(deviceOverlap, 15);
	UNTIL_12(kernelExecTimeoutEnabled, 17);
	UNTIL_12(computeMode, 20);
	UNTIL_12(memoryClockRate, 36);
	UNTIL_12(maxTexture1DLinear, 69);
	UNTIL_12(singleToDoublePrecisionPerfRatio, 87);
#if CUDART_VERSION < 13000
	SAME(cooperativeMultiDeviceLaunch);
#endif
}

/* What 12 and 13 added. */
static void added(void)
{
	memset(&properties, 0xa5, sizeof(properties));
	DO(cudaGetDeviceProperties(&properties, 0));
	SINCE_12(hostRegisterSupported, 99);
	SINCE_12(sparseCudaArraySupported, 112);
	SINCE_12(hostRegisterReadOnlySupported, 113);
	SINCE_12(timelineSemaphoreInteropSupported, 114);
	SINCE_12(memoryPoolsSupported, 115);
	SINCE_12(gpuDirectRDMASupported, 116);
	SINCE_12(gpuDirectRDMAFlushWritesOptions, 117);
	SINCE_12(gpuDirectRDMAWritesOrdering, 118);
	SINCE_12(memoryPoolSupportedHandleTypes, 119);
	SINCE_12(clusterLaunch, 120);
	SINCE_12(deferredMappingCudaArraySupported, 121);
	SINCE_12(ipcEventSupported, 125);
	SINCE_12(unifiedFunctionPointers, 129);
	SINCE_13(deviceNumaConfig, 130);
	SINCE_13(deviceNumaId, 131);
	SINCE_13(mpsEnabled, 133);
	SINCE_13(hostNumaId, 134);
	SINCE_13(gpuPciDeviceID, 139);
	SINCE_13(gpuPciSubsystemID, 140);
	SINCE_13(hostNumaMultinodeIpcSupported, 143);
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

PROGRAM(RUN(fields); RUN(added); RUN(attributes))
