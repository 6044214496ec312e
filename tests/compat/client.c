/* SPDX-License-Identifier: MIT */
/*
 * client.c - a program that uses the CUDA libraries it was linked with
 *
 * It is linked against the real ones and run elsewhere.  Prints a
 * line for each thing it does.  SUFFIX as in nvJitLink's header; without it
 * there is no nvJitLink.
 */
#include <stdio.h>
#include <stdlib.h>

int cudaRuntimeGetVersion(int *), cudaDriverGetVersion(int *), cudaGetDeviceCount(int *);
int cudaGetLastError(void), cudaPeekAtLastError(void), cudaMalloc(void **, size_t);
const char *cudaGetErrorName(int);
int nvrtcVersion(int *, int *);
int nvrtcCreateProgram(void **, const char *, const char *, int, const char *const *,
		       const char *const *);
int nvrtcDestroyProgram(void **);
const char *nvrtcGetErrorString(int);

#ifdef SUFFIX
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LINK(name) CONCAT(__nvJitLink##name, SUFFIX)
int LINK(Create)(void **, unsigned, const char **), LINK(Destroy)(void **);
#endif

int main(void)
{
	int version = -1, driver = -1, count = -1, major = -1, minor = -1, status;
	void *memory = &memory, *program = &program;

	status = cudaRuntimeGetVersion(&version);
	printf("runtime %d %d\n", status, version);
	status = cudaDriverGetVersion(&driver);
	printf("driver %d %d\n", status, driver);
	status = cudaGetDeviceCount(&count);
	printf("devices %d %s\n", status, cudaGetErrorName(status));
	printf("malloc %d\n", cudaMalloc(&memory, 4096));
	printf("last %d", cudaPeekAtLastError());
	printf(" %d", cudaGetLastError());
	printf(" %d\n", cudaGetLastError());
	status = nvrtcVersion(&major, &minor);
	printf("nvrtc %d %d.%d %s\n", status, major, minor, nvrtcGetErrorString(0) ? "ok" : "?");
	status = nvrtcCreateProgram(&program, "", "empty.cu", 0, NULL, NULL);
	printf("program %d %d\n", status, status ? 0 : nvrtcDestroyProgram(&program));
#ifdef SUFFIX
	const char *options[] = { "-arch=sm_75" };
	void *handle = NULL;
	status = LINK(Create)(&handle, 1, options);
	printf("link %d %d\n", status, status ? 0 : LINK(Destroy)(&handle));
#endif
	return 0;
}
