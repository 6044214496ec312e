/* SPDX-License-Identifier: MIT */
/*
 * calls.h - the functions of nvrtc, nvJitLink and the driver that the backends call
 *
 * Handles are opaque.  Results are plain numbers, and 0 is success.  This library
 * is linked to the import libraries of CUDA 13, and the stubs provide the functions
 * by finding the real ones.  So the results are those of the real library, and
 * nvJitLink's unversioned names also work with 12.0 to 12.2, which export only
 * versioned ones.
 */
#ifndef LINK_CALLS_H
#define LINK_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* Functions that hand out data come in pairs: one returns the size, one copies the bytes. */
typedef int lk_size_function(void *handle, size_t *size);
typedef int lk_bytes_function(void *handle, void *into);

int nvJitLinkCreate(void **handle, uint32_t option_count, const char **options);
int nvJitLinkDestroy(void **handle);
int nvJitLinkAddData(void *handle, int kind, const void *bytes, size_t length, const char *name);
int nvJitLinkComplete(void *handle);
lk_size_function nvJitLinkGetLinkedCubinSize, nvJitLinkGetLinkedPtxSize,
		 nvJitLinkGetLinkedLTOIRSize, nvJitLinkGetInfoLogSize, nvJitLinkGetErrorLogSize;
lk_bytes_function nvJitLinkGetLinkedCubin, nvJitLinkGetLinkedPtx, nvJitLinkGetLinkedLTOIR,
		  nvJitLinkGetInfoLog, nvJitLinkGetErrorLog;

int nvrtcCreateProgram(void **program, const char *source, const char *name, int header_count,
		       const char *const *headers, const char *const *include_names);
int nvrtcCompileProgram(void *program, int option_count, const char *const *options);
int nvrtcAddNameExpression(void *program, const char *expression);
int nvrtcGetLoweredName(void *program, const char *expression, const char **name);
int nvrtcDestroyProgram(void **program);
/* From 12.8 on.  The first returns how the making of a precompiled header went. */
int nvrtcGetPCHCreateStatus(void *program);
int nvrtcGetPCHHeapSizeRequired(void *program, size_t *size);
int nvrtcSetPCHHeapSize(size_t size);
lk_size_function nvrtcGetPTXSize, nvrtcGetLTOIRSize, nvrtcGetCUBINSize, nvrtcGetTileIRSize,
		 nvrtcGetProgramLogSize;
lk_bytes_function nvrtcGetPTX, nvrtcGetLTOIR, nvrtcGetCUBIN, nvrtcGetTileIR, nvrtcGetProgramLog;
const char *nvrtcGetErrorString(int result);

/* The newest version of each that all drivers, or nearly all, have. */
int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link);
int cuLinkAddData_v2(void *link, int kind, void *bytes, size_t length, const char *name,
		     unsigned count, int *options, void **values);
int cuLinkComplete(void *link, void **image, size_t *length);
int cuLinkDestroy(void *link);
int cuGetErrorName(int result, const char **name);

#endif
