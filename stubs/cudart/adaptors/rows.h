/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the table of adaptors; define SERVE_BY before you include it
 *
 * SERVE(slot, needs): lc_adapt_SLOT stands in for SLOT if the library fills slot
 * NEEDS.  SERVE_BY names the function, for slots that have several.  If several
 * rows fit, the first one applies.
 */
#undef SERVE
#define SERVE(slot, needs) SERVE_BY(slot, needs, slot)

	/* memory.c */
	SERVE(cudaMemAdvise_11, cudaMemAdvise_13)
	SERVE(cudaMemAdvise_13, cudaMemAdvise_11)
	SERVE(cudaMemPrefetchAsync_11, cudaMemPrefetchAsync_13)
	SERVE(cudaMemPrefetchAsync_13, cudaMemPrefetchAsync_11)
	SERVE(cudaMemPrefetchAsync_ptsz_11, cudaMemPrefetchAsync_ptsz_13)
	SERVE(cudaMemPrefetchAsync_ptsz_13, cudaMemPrefetchAsync_ptsz_11)
	SERVE(cudaMemcpyBatchAsync_12, cudaMemcpyBatchAsync_13)
	SERVE(cudaMemcpyBatchAsync_13, cudaMemcpyBatchAsync_12)
	SERVE(cudaMemcpyBatchAsync_ptsz_12, cudaMemcpyBatchAsync_ptsz_13)
	SERVE(cudaMemcpyBatchAsync_ptsz_13, cudaMemcpyBatchAsync_ptsz_12)
	SERVE_BY(cudaMemcpyBatchAsync_12, cudaMemcpyAsync,
		 cudaMemcpyBatchAsync_12_one_by_one)
	SERVE_BY(cudaMemcpyBatchAsync_13, cudaMemcpyAsync,
		 cudaMemcpyBatchAsync_13_one_by_one)
	SERVE_BY(cudaMemcpyBatchAsync_ptsz_12, cudaMemcpyAsync_ptsz,
		 cudaMemcpyBatchAsync_ptsz_12_one_by_one)
	SERVE_BY(cudaMemcpyBatchAsync_ptsz_13, cudaMemcpyAsync_ptsz,
		 cudaMemcpyBatchAsync_ptsz_13_one_by_one)
	SERVE(cudaMemcpy3DBatchAsync_12, cudaMemcpy3DBatchAsync_13)
	SERVE(cudaMemcpy3DBatchAsync_13, cudaMemcpy3DBatchAsync_12)
	SERVE(cudaMemcpy3DBatchAsync_ptsz_12, cudaMemcpy3DBatchAsync_ptsz_13)
	SERVE(cudaMemcpy3DBatchAsync_ptsz_13, cudaMemcpy3DBatchAsync_ptsz_12)
	SERVE(cudaPointerGetAttributes_11, cudaPointerGetAttributes_13)
	SERVE(cudaPointerGetAttributes_13, cudaPointerGetAttributes_11)
	/* graphs.c */
	SERVE(cudaGraphAddDependencies_11, cudaGraphAddDependencies_13)
	SERVE(cudaGraphAddDependencies_13, cudaGraphAddDependencies_11)
	SERVE(cudaGraphRemoveDependencies_11, cudaGraphRemoveDependencies_13)
	SERVE(cudaGraphRemoveDependencies_13, cudaGraphRemoveDependencies_11)
	SERVE(cudaGraphGetEdges_11, cudaGraphGetEdges_13)
	SERVE(cudaGraphGetEdges_13, cudaGraphGetEdges_11)
	SERVE(cudaGraphNodeGetDependencies_11, cudaGraphNodeGetDependencies_13)
	SERVE(cudaGraphNodeGetDependencies_13, cudaGraphNodeGetDependencies_11)
	SERVE(cudaGraphNodeGetDependentNodes_11, cudaGraphNodeGetDependentNodes_13)
	SERVE(cudaGraphNodeGetDependentNodes_13, cudaGraphNodeGetDependentNodes_11)
	SERVE(cudaGraphConditionalHandleCreate_v2, cudaGraphConditionalHandleCreate)
	SERVE(cudaGraphAddNode_12, cudaGraphAddNode_13)
	SERVE(cudaGraphAddNode_13, cudaGraphAddNode_12)
	SERVE(cudaStreamUpdateCaptureDependencies_11, cudaStreamUpdateCaptureDependencies_13)
	SERVE(cudaStreamUpdateCaptureDependencies_13, cudaStreamUpdateCaptureDependencies_11)
	SERVE(cudaStreamGetCaptureInfo_11, cudaStreamGetCaptureInfo_13)
	SERVE(cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_13)
	SERVE(cudaStreamGetCaptureInfo_13, cudaStreamGetCaptureInfo_v2)
	SERVE(cudaStreamUpdateCaptureDependencies_ptsz_11, cudaStreamUpdateCaptureDependencies_ptsz_13)
	SERVE(cudaStreamUpdateCaptureDependencies_ptsz_13, cudaStreamUpdateCaptureDependencies_ptsz_11)
	SERVE(cudaStreamGetCaptureInfo_ptsz_11, cudaStreamGetCaptureInfo_ptsz_13)
	SERVE(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo_ptsz_13)
	SERVE(cudaStreamGetCaptureInfo_ptsz_13, cudaStreamGetCaptureInfo_v2_ptsz)
	SERVE(cudaGraphInstantiate_11, cudaGraphInstantiateWithParams)
	SERVE(cudaGraphInstantiate_12, cudaGraphInstantiateWithFlags)
	SERVE(cudaGraphExecUpdate_11, cudaGraphExecUpdate_12)
	SERVE(cudaGraphExecUpdate_12, cudaGraphExecUpdate_11)
	/* textures.c */
	SERVE_BY(cudaCreateTextureObject_11, cudaCreateTextureObject_12,
		 cudaCreateTextureObject_11_12)
	SERVE_BY(cudaCreateTextureObject_11, cudaCreateTextureObject_13,
		 cudaCreateTextureObject_11_13)
	SERVE(cudaCreateTextureObject_12, cudaCreateTextureObject_13)
	SERVE(cudaCreateTextureObject_13, cudaCreateTextureObject_12)
	SERVE(cudaCreateSurfaceObject_11, cudaCreateSurfaceObject_13)
	SERVE(cudaCreateSurfaceObject_13, cudaCreateSurfaceObject_11)
	SERVE(cudaGetTextureObjectResourceDesc_11, cudaGetTextureObjectResourceDesc_13)
	SERVE(cudaGetTextureObjectResourceDesc_13, cudaGetTextureObjectResourceDesc_11)
	SERVE(cudaGetSurfaceObjectResourceDesc_11, cudaGetSurfaceObjectResourceDesc_13)
	SERVE(cudaGetSurfaceObjectResourceDesc_13, cudaGetSurfaceObjectResourceDesc_11)
	SERVE(cudaGetTextureObjectResourceViewDesc_11, cudaGetTextureObjectResourceViewDesc_13)
	SERVE(cudaGetTextureObjectResourceViewDesc_13, cudaGetTextureObjectResourceViewDesc_11)
	SERVE(cudaGetTextureObjectTextureDesc_11, cudaGetTextureObjectTextureDesc_12)
	/* external.c */
	SERVE(cudaImportExternalMemory_11, cudaImportExternalMemory_13)
	SERVE(cudaImportExternalMemory_13, cudaImportExternalMemory_11)
	SERVE(cudaImportExternalSemaphore_11, cudaImportExternalSemaphore_13)
	SERVE(cudaImportExternalSemaphore_13, cudaImportExternalSemaphore_11)
	SERVE(cudaExternalMemoryGetMappedBuffer_11, cudaExternalMemoryGetMappedBuffer_13)
	SERVE(cudaExternalMemoryGetMappedBuffer_13, cudaExternalMemoryGetMappedBuffer_11)
	SERVE(cudaExternalMemoryGetMappedMipmappedArray_11, cudaExternalMemoryGetMappedMipmappedArray_13)
	SERVE(cudaExternalMemoryGetMappedMipmappedArray_13, cudaExternalMemoryGetMappedMipmappedArray_11)
	SERVE(cudaSignalExternalSemaphoresAsync_11, cudaSignalExternalSemaphoresAsync_13)
	SERVE(cudaWaitExternalSemaphoresAsync_11, cudaWaitExternalSemaphoresAsync_13)
	SERVE(cudaSignalExternalSemaphoresAsync_ptsz_11, cudaSignalExternalSemaphoresAsync_ptsz_13)
	SERVE(cudaWaitExternalSemaphoresAsync_ptsz_11, cudaWaitExternalSemaphoresAsync_ptsz_13)
	/* properties.c */
	SERVE_BY(cudaGetDeviceProperties_11, cudaGetDeviceProperties_13,
		 cudaGetDeviceProperties_11_by_cudaGetDeviceProperties_13)
	SERVE_BY(cudaGetDeviceProperties_v2, cudaGetDeviceProperties_11,
		 cudaGetDeviceProperties_v2_by_cudaGetDeviceProperties_11)
	SERVE_BY(cudaGetDeviceProperties_v2, cudaGetDeviceProperties_13,
		 cudaGetDeviceProperties_v2_by_cudaGetDeviceProperties_13)
	SERVE_BY(cudaGetDeviceProperties_13, cudaGetDeviceProperties_v2,
		 cudaGetDeviceProperties_13_by_cudaGetDeviceProperties_v2)
	SERVE_BY(cudaGetDeviceProperties_13, cudaGetDeviceProperties_11,
		 cudaGetDeviceProperties_13_by_cudaGetDeviceProperties_11)
	SERVE_BY(cudaChooseDevice_11, cudaChooseDevice_12,
		 cudaChooseDevice_11_by_12)
	SERVE_BY(cudaChooseDevice_11, cudaChooseDevice_13,
		 cudaChooseDevice_11_by_13)
	SERVE_BY(cudaChooseDevice_12, cudaChooseDevice_11,
		 cudaChooseDevice_12_by_11)
	SERVE_BY(cudaChooseDevice_12, cudaChooseDevice_13,
		 cudaChooseDevice_12_by_13)
	SERVE_BY(cudaChooseDevice_13, cudaChooseDevice_11,
		 cudaChooseDevice_13_by_11)
	SERVE_BY(cudaChooseDevice_13, cudaChooseDevice_12,
		 cudaChooseDevice_13_by_12)
	/* functions.c */
	SERVE(cudaFuncGetAttributes_11, cudaFuncGetAttributes_12)
	SERVE(cudaFuncGetAttributes_12, cudaFuncGetAttributes_11)
	SERVE(__cudaGetKernel, cudaLaunchKernel)
	SERVE(cudaLaunchHostFunc_v2, cudaLaunchHostFunc)
	SERVE(cudaLaunchHostFunc_v2_ptsz, cudaLaunchHostFunc_ptsz)
	SERVE(__cudaLaunchKernel, cudaLaunchKernel)
	SERVE(__cudaLaunchKernel_ptsz, cudaLaunchKernel_ptsz)
	SERVE(cudaStreamGetAttribute_11, cudaStreamGetAttribute_12)
	SERVE(cudaStreamGetAttribute_12, cudaStreamGetAttribute_11)
	SERVE(cudaStreamSetAttribute_11, cudaStreamSetAttribute_12)
	SERVE(cudaStreamSetAttribute_12, cudaStreamSetAttribute_11)
	SERVE(cudaStreamGetAttribute_ptsz_11, cudaStreamGetAttribute_ptsz_12)
	SERVE(cudaStreamGetAttribute_ptsz_12, cudaStreamGetAttribute_ptsz_11)
	SERVE(cudaStreamSetAttribute_ptsz_11, cudaStreamSetAttribute_ptsz_12)
	SERVE(cudaStreamSetAttribute_ptsz_12, cudaStreamSetAttribute_ptsz_11)
	SERVE(cudaGraphKernelNodeGetAttribute_11, cudaGraphKernelNodeGetAttribute_12)
	SERVE(cudaGraphKernelNodeGetAttribute_12, cudaGraphKernelNodeGetAttribute_11)
	SERVE(cudaGraphKernelNodeSetAttribute_11, cudaGraphKernelNodeSetAttribute_12)
	SERVE(cudaGraphKernelNodeSetAttribute_12, cudaGraphKernelNodeSetAttribute_11)
	/* by_driver.c */
	SERVE_BY(cudaGetDriverEntryPoint_11, cudaGetDriverEntryPointByVersion,
		 cudaGetDriverEntryPoint_11_by_version)
	SERVE_BY(cudaGetDriverEntryPoint_11, cudaGetDriverEntryPoint_12,
		 cudaGetDriverEntryPoint_11_by_driver_of_12)
	SERVE_BY(cudaGetDriverEntryPoint_12, cudaGetDriverEntryPointByVersion,
		 cudaGetDriverEntryPoint_12_by_version)
	SERVE_BY(cudaGetDriverEntryPoint_12, cudaGetDriverEntryPoint_11,
		 cudaGetDriverEntryPoint_12_by_driver_of_11)
	SERVE_BY(cudaGetDriverEntryPoint_13, cudaGetDriverEntryPointByVersion,
		 cudaGetDriverEntryPoint_13_by_version)
	SERVE_BY(cudaGetDriverEntryPoint_13, cudaGetDriverEntryPoint_12,
		 cudaGetDriverEntryPoint_13_by_driver_of_12)
	SERVE_BY(cudaGetDriverEntryPoint_13, cudaGetDriverEntryPoint_11,
		 cudaGetDriverEntryPoint_13_by_driver_of_11)
	SERVE_BY(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPoint_12,
		 cudaGetDriverEntryPointByVersion_by_driver_of_12)
	SERVE_BY(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPoint_11,
		 cudaGetDriverEntryPointByVersion_by_driver_of_11)
	SERVE(cudaStreamGetId, cudaGetDriverEntryPoint_11)
	SERVE_BY(cudaStreamGetDevice, cudaGetDriverEntryPoint_12,
		 cudaStreamGetDevice_by_driver_of_12)
	SERVE_BY(cudaStreamGetDevice, cudaGetDriverEntryPoint_11,
		 cudaStreamGetDevice_by_driver_of_11)
	SERVE_BY(cudaGetDriverEntryPoint_ptsz_11, cudaGetDriverEntryPointByVersion_ptsz,
		 cudaGetDriverEntryPoint_ptsz_11_by_version)
	SERVE_BY(cudaGetDriverEntryPoint_ptsz_11, cudaGetDriverEntryPoint_ptsz_12,
		 cudaGetDriverEntryPoint_ptsz_11_by_driver_of_12)
	SERVE_BY(cudaGetDriverEntryPoint_ptsz_12, cudaGetDriverEntryPointByVersion_ptsz,
		 cudaGetDriverEntryPoint_ptsz_12_by_version)
	SERVE_BY(cudaGetDriverEntryPoint_ptsz_12, cudaGetDriverEntryPoint_ptsz_11,
		 cudaGetDriverEntryPoint_ptsz_12_by_driver_of_11)
	SERVE_BY(cudaGetDriverEntryPoint_ptsz_13, cudaGetDriverEntryPointByVersion_ptsz,
		 cudaGetDriverEntryPoint_ptsz_13_by_version)
	SERVE_BY(cudaGetDriverEntryPoint_ptsz_13, cudaGetDriverEntryPoint_ptsz_12,
		 cudaGetDriverEntryPoint_ptsz_13_by_driver_of_12)
	SERVE_BY(cudaGetDriverEntryPoint_ptsz_13, cudaGetDriverEntryPoint_ptsz_11,
		 cudaGetDriverEntryPoint_ptsz_13_by_driver_of_11)
	SERVE_BY(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPoint_ptsz_12,
		 cudaGetDriverEntryPointByVersion_ptsz_by_driver_of_12)
	SERVE_BY(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPoint_ptsz_11,
		 cudaGetDriverEntryPointByVersion_ptsz_by_driver_of_11)
	SERVE(cudaStreamGetId_ptsz, cudaGetDriverEntryPoint_11)
	SERVE_BY(cudaStreamGetDevice_ptsz, cudaGetDriverEntryPoint_12,
		 cudaStreamGetDevice_ptsz_by_driver_of_12)
	SERVE_BY(cudaStreamGetDevice_ptsz, cudaGetDriverEntryPoint_11,
		 cudaStreamGetDevice_ptsz_by_driver_of_11)
	SERVE(cudaInitDevice, cudaGetDriverEntryPoint_11)
	SERVE_BY(cudaKernelSetAttributeForDevice, cudaGetDriverEntryPoint_12,
		 cudaKernelSetAttributeForDevice_by_driver_of_12)
	SERVE_BY(cudaKernelSetAttributeForDevice, cudaGetDriverEntryPoint_11,
		 cudaKernelSetAttributeForDevice_by_driver_of_11)
	SERVE_BY(cudaProfilerInitialize, cudaGetDriverEntryPointByVersion,
		 cudaProfilerInitialize_by_version)
	SERVE_BY(cudaProfilerInitialize, cudaGetDriverEntryPoint_12,
		 cudaProfilerInitialize_by_driver_of_12)
	/* nvcc.c */
	SERVE_BY(__cudaRegisterHostVar_11, __cudaRegisterHostVar_12,
		 __cudaRegisterHostVar_11_by_12)
	SERVE_BY(__cudaRegisterHostVar_11, __cudaRegisterHostVar_13,
		 __cudaRegisterHostVar_11_by_13)
	SERVE_BY(__cudaRegisterHostVar_12, __cudaRegisterHostVar_11,
		 __cudaRegisterHostVar_12_by_11)
	SERVE_BY(__cudaRegisterHostVar_12, __cudaRegisterHostVar_13,
		 __cudaRegisterHostVar_12_by_13)
	SERVE_BY(__cudaRegisterHostVar_13, __cudaRegisterHostVar_11,
		 __cudaRegisterHostVar_13_by_11)
	SERVE_BY(__cudaRegisterHostVar_13, __cudaRegisterHostVar_12,
		 __cudaRegisterHostVar_13_by_12)
	SERVE(__cudaRegisterUnifiedTable_12, __cudaRegisterUnifiedTable_13)
	SERVE(__cudaRegisterUnifiedTable_13, __cudaRegisterUnifiedTable_12)
