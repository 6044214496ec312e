/* SPDX-License-Identifier: MIT */
/* adaptors.h - all adaptors; each has the prototype of the slot it stands in */
#ifndef ADAPTORS_H
#define ADAPTORS_H

#include "generated/libcudart_stub.h"

/* How slots are served that the library cannot fill.  If several rows fit, the
 * first one applies. */
extern const struct lc_adaptor lc_adaptors[] LC_HIDDEN;

/* memory.c */
int32_t lc_adapt_cudaMemAdvise_11(void *, uint64_t, int32_t, int32_t);
int32_t lc_adapt_cudaMemAdvise_13(void *, uint64_t, int32_t, struct lc_cudaMemLocation);
int32_t lc_adapt_cudaMemPrefetchAsync_11(void *, uint64_t, int32_t, void *);
int32_t lc_adapt_cudaMemPrefetchAsync_13(void *, uint64_t, struct lc_cudaMemLocation, uint32_t,
	void *);
int32_t lc_adapt_cudaMemPrefetchAsync_ptsz_11(void *, uint64_t, int32_t, void *);
int32_t lc_adapt_cudaMemPrefetchAsync_ptsz_13(void *, uint64_t, struct lc_cudaMemLocation,
	uint32_t, void *);
int32_t lc_adapt_cudaMemcpyBatchAsync_12(void *, void *, void *, uint64_t, void *, void *,
	uint64_t, void *, void *);
int32_t lc_adapt_cudaMemcpyBatchAsync_13(void *, void *, void *, uint64_t, void *, void *,
	uint64_t, void *);
int32_t lc_adapt_cudaMemcpyBatchAsync_ptsz_12(void *, void *, void *, uint64_t, void *, void *,
	uint64_t, void *, void *);
int32_t lc_adapt_cudaMemcpyBatchAsync_ptsz_13(void *, void *, void *, uint64_t, void *, void *,
	uint64_t, void *);
int32_t lc_adapt_cudaMemcpy3DBatchAsync_12(uint64_t, void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaMemcpy3DBatchAsync_13(uint64_t, void *, uint64_t, void *);
int32_t lc_adapt_cudaMemcpy3DBatchAsync_ptsz_12(uint64_t, void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaMemcpy3DBatchAsync_ptsz_13(uint64_t, void *, uint64_t, void *);
int32_t lc_adapt_cudaPointerGetAttributes_11(void *, void *);
int32_t lc_adapt_cudaPointerGetAttributes_13(void *, void *);

/* graphs.c */
int32_t lc_adapt_cudaGraphAddDependencies_11(void *, void *, void *, uint64_t);
int32_t lc_adapt_cudaGraphAddDependencies_13(void *, void *, void *, void *, uint64_t);
int32_t lc_adapt_cudaGraphRemoveDependencies_11(void *, void *, void *, uint64_t);
int32_t lc_adapt_cudaGraphRemoveDependencies_13(void *, void *, void *, void *, uint64_t);
int32_t lc_adapt_cudaGraphGetEdges_11(void *, void *, void *, void *);
int32_t lc_adapt_cudaGraphGetEdges_13(void *, void *, void *, void *, void *);
int32_t lc_adapt_cudaGraphNodeGetDependencies_11(void *, void *, void *);
int32_t lc_adapt_cudaGraphNodeGetDependencies_13(void *, void *, void *, void *);
int32_t lc_adapt_cudaGraphNodeGetDependentNodes_11(void *, void *, void *);
int32_t lc_adapt_cudaGraphNodeGetDependentNodes_13(void *, void *, void *, void *);
int32_t lc_adapt_cudaGraphAddNode_12(void *, void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGraphAddNode_13(void *, void *, void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaStreamUpdateCaptureDependencies_11(void *, void *, uint64_t, uint32_t);
int32_t lc_adapt_cudaStreamUpdateCaptureDependencies_13(void *, void *, void *, uint64_t,
	uint32_t);
int32_t lc_adapt_cudaStreamGetCaptureInfo_11(void *, void *, void *);
int32_t lc_adapt_cudaStreamGetCaptureInfo_v2(void *, void *, void *, void *, void *, void *);
int32_t lc_adapt_cudaStreamGetCaptureInfo_13(void *, void *, void *, void *, void *, void *,
	void *);
int32_t lc_adapt_cudaStreamUpdateCaptureDependencies_ptsz_11(void *, void *, uint64_t,
	uint32_t);
int32_t lc_adapt_cudaStreamUpdateCaptureDependencies_ptsz_13(void *, void *, void *, uint64_t,
	uint32_t);
int32_t lc_adapt_cudaStreamGetCaptureInfo_ptsz_11(void *, void *, void *);
int32_t lc_adapt_cudaStreamGetCaptureInfo_v2_ptsz(void *, void *, void *, void *, void *, void
	*);
int32_t lc_adapt_cudaStreamGetCaptureInfo_ptsz_13(void *, void *, void *, void *, void *, void
	*, void *);
int32_t lc_adapt_cudaGraphInstantiate_11(void *, void *, void *, void *, uint64_t);
int32_t lc_adapt_cudaGraphInstantiate_12(void *, void *, uint64_t);
int32_t lc_adapt_cudaGraphExecUpdate_11(void *, void *, void *, void *);
int32_t lc_adapt_cudaGraphExecUpdate_12(void *, void *, void *);

int32_t lc_adapt_cudaGraphConditionalHandleCreate_v2(void *, void *, void *, uint32_t, uint32_t);

/* textures.c */
int32_t lc_adapt_cudaCreateTextureObject_11_12(void *, void *, void *, void *);
int32_t lc_adapt_cudaCreateTextureObject_11_13(void *, void *, void *, void *);
int32_t lc_adapt_cudaCreateTextureObject_12(void *, void *, void *, void *);
int32_t lc_adapt_cudaCreateTextureObject_13(void *, void *, void *, void *);
int32_t lc_adapt_cudaCreateSurfaceObject_11(void *, void *);
int32_t lc_adapt_cudaCreateSurfaceObject_13(void *, void *);
int32_t lc_adapt_cudaGetTextureObjectResourceDesc_11(void *, uint64_t);
int32_t lc_adapt_cudaGetTextureObjectResourceDesc_13(void *, uint64_t);
int32_t lc_adapt_cudaGetSurfaceObjectResourceDesc_11(void *, uint64_t);
int32_t lc_adapt_cudaGetSurfaceObjectResourceDesc_13(void *, uint64_t);
int32_t lc_adapt_cudaGetTextureObjectResourceViewDesc_11(void *, uint64_t);
int32_t lc_adapt_cudaGetTextureObjectResourceViewDesc_13(void *, uint64_t);
int32_t lc_adapt_cudaGetTextureObjectTextureDesc_11(void *, uint64_t);

/* external.c */
int32_t lc_adapt_cudaImportExternalMemory_11(void *, void *);
int32_t lc_adapt_cudaImportExternalMemory_13(void *, void *);
int32_t lc_adapt_cudaImportExternalSemaphore_11(void *, void *);
int32_t lc_adapt_cudaImportExternalSemaphore_13(void *, void *);
int32_t lc_adapt_cudaExternalMemoryGetMappedBuffer_11(void *, void *, void *);
int32_t lc_adapt_cudaExternalMemoryGetMappedBuffer_13(void *, void *, void *);
int32_t lc_adapt_cudaExternalMemoryGetMappedMipmappedArray_11(void *, void *, void *);
int32_t lc_adapt_cudaExternalMemoryGetMappedMipmappedArray_13(void *, void *, void *);
int32_t lc_adapt_cudaSignalExternalSemaphoresAsync_11(void *, void *, uint32_t, void *);
int32_t lc_adapt_cudaWaitExternalSemaphoresAsync_11(void *, void *, uint32_t, void *);
int32_t lc_adapt_cudaSignalExternalSemaphoresAsync_ptsz_11(void *, void *, uint32_t, void *);
int32_t lc_adapt_cudaWaitExternalSemaphoresAsync_ptsz_11(void *, void *, uint32_t, void *);

/* properties.c */
int32_t lc_adapt_cudaGetDeviceProperties_11_by_cudaGetDeviceProperties_13(void *, int32_t);
int32_t lc_adapt_cudaGetDeviceProperties_v2_by_cudaGetDeviceProperties_11(void *, int32_t);
int32_t lc_adapt_cudaGetDeviceProperties_v2_by_cudaGetDeviceProperties_13(void *, int32_t);
int32_t lc_adapt_cudaGetDeviceProperties_13_by_cudaGetDeviceProperties_v2(void *, int32_t);
int32_t lc_adapt_cudaGetDeviceProperties_13_by_cudaGetDeviceProperties_11(void *, int32_t);
int32_t lc_adapt_cudaChooseDevice_11_by_12(void *, void *);
int32_t lc_adapt_cudaChooseDevice_11_by_13(void *, void *);
int32_t lc_adapt_cudaChooseDevice_12_by_11(void *, void *);
int32_t lc_adapt_cudaChooseDevice_12_by_13(void *, void *);
int32_t lc_adapt_cudaChooseDevice_13_by_11(void *, void *);
int32_t lc_adapt_cudaChooseDevice_13_by_12(void *, void *);

/* functions.c */
int32_t lc_adapt_cudaFuncGetAttributes_11(void *, void *);
int32_t lc_adapt_cudaFuncGetAttributes_12(void *, void *);
int32_t lc_adapt___cudaGetKernel(void *, void *);
int32_t lc_adapt___cudaLaunchKernel(void *, struct lc_dim3, struct lc_dim3, void *, uint64_t,
	void *);
int32_t lc_adapt___cudaLaunchKernel_ptsz(void *, struct lc_dim3, struct lc_dim3, void *,
	uint64_t, void *);
int32_t lc_adapt_cudaStreamGetAttribute_11(void *, int32_t, void *);
int32_t lc_adapt_cudaStreamGetAttribute_12(void *, int32_t, void *);
int32_t lc_adapt_cudaStreamSetAttribute_11(void *, int32_t, void *);
int32_t lc_adapt_cudaStreamSetAttribute_12(void *, int32_t, void *);
int32_t lc_adapt_cudaStreamGetAttribute_ptsz_11(void *, int32_t, void *);
int32_t lc_adapt_cudaStreamGetAttribute_ptsz_12(void *, int32_t, void *);
int32_t lc_adapt_cudaStreamSetAttribute_ptsz_11(void *, int32_t, void *);
int32_t lc_adapt_cudaStreamSetAttribute_ptsz_12(void *, int32_t, void *);
int32_t lc_adapt_cudaGraphKernelNodeGetAttribute_11(void *, int32_t, void *);
int32_t lc_adapt_cudaGraphKernelNodeGetAttribute_12(void *, int32_t, void *);
int32_t lc_adapt_cudaGraphKernelNodeSetAttribute_11(void *, int32_t, void *);
int32_t lc_adapt_cudaGraphKernelNodeSetAttribute_12(void *, int32_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_11_by_version(void *, void *, uint64_t);
int32_t lc_adapt_cudaGetDriverEntryPoint_11(void *, void *, uint64_t);
int32_t lc_adapt_cudaGetDriverEntryPoint_12(void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_13(void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_12_by_version(void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_13_by_version(void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_ptsz_11_by_version(void *, void *, uint64_t);
int32_t lc_adapt_cudaGetDriverEntryPoint_ptsz_11(void *, void *, uint64_t);
int32_t lc_adapt_cudaGetDriverEntryPoint_ptsz_12(void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_ptsz_13(void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_ptsz_12_by_version(void *, void *, uint64_t, void *);
int32_t lc_adapt_cudaGetDriverEntryPoint_ptsz_13_by_version(void *, void *, uint64_t, void *);

int32_t lc_adapt_cudaLaunchHostFunc_v2(void *, void *, void *, uint32_t);
int32_t lc_adapt_cudaLaunchHostFunc_v2_ptsz(void *, void *, void *, uint32_t);

/* registrations.c */
void lc_adapt___cudaRegisterHostVar_11_by_12(void *, void *, void *, uint64_t);
void lc_adapt___cudaRegisterHostVar_11_by_13(void *, void *, void *, uint64_t);
void lc_adapt___cudaRegisterHostVar_12_by_11(void *, void *, void *, uint64_t);
void lc_adapt___cudaRegisterHostVar_12_by_13(void *, void *, void *, uint64_t);
void lc_adapt___cudaRegisterHostVar_13_by_11(void *, void *, void *, uint64_t);
void lc_adapt___cudaRegisterHostVar_13_by_12(void *, void *, void *, uint64_t);
void lc_adapt___cudaRegisterUnifiedTable_12(void *, void *, void *, void *, void *);
void lc_adapt___cudaRegisterUnifiedTable_13(void *, void *, void *, void *, void *);

#endif
