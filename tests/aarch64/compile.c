/* SPDX-License-Identifier: MIT */
/*
 * compile.c - compile a kernel to PTX with nvrtc and link it with nvJitLink
 *
 * SUFFIX is what nvJitLink's header appends to its names (__nvJitLinkCreate_12_9);
 * without it only nvrtc is called.  Prints what came of each step, ends at one that fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvrtcVersion(int *, int *);
int nvrtcCreateProgram(void **, const char *, const char *, int, const char *const *,
		       const char *const *);
int nvrtcCompileProgram(void *, int, const char *const *), nvrtcDestroyProgram(void **);
int nvrtcGetPTXSize(void *, size_t *), nvrtcGetPTX(void *, char *);

#ifdef SUFFIX
# define JOIN_(a, b) a##b
# define JOIN(a, b) JOIN_(a, b)
# define LINK(name) JOIN(__nvJitLink##name, SUFFIX)
enum { INPUT_PTX = 2 };
int LINK(Create)(void **, unsigned, const char **), LINK(Destroy)(void **);
int LINK(AddData)(void *, int, const void *, size_t, const char *), LINK(Complete)(void *);
int LINK(GetLinkedCubinSize)(void *, size_t *), LINK(GetLinkedCubin)(void *, void *);
#endif

static void must(const char *step, int result)
{
	printf("%s: %d\n", step, result);
	if (result)
		exit(1);
}

#ifdef SUFFIX
static void link(const char *ptx, size_t size)
{
	const char *options[] = { "-arch=sm_75" };
	void *handle, *cubin;

	must("create", LINK(Create)(&handle, 1, options));
	must("add", LINK(AddData)(handle, INPUT_PTX, ptx, size, "axpy"));
	must("complete", LINK(Complete)(handle));
	must("size of the cubin", LINK(GetLinkedCubinSize)(handle, &size));
	cubin = malloc(size);
	must("cubin", LINK(GetLinkedCubin)(handle, cubin));
	must("destroy", LINK(Destroy)(&handle));
	must("linked", size < 500 || memcmp(cubin, "\177ELF", 4));
	free(cubin);
}
#endif

int main(void)
{
	const char *options[] = { "-arch=compute_75" };
	int major, minor;
	void *program;
	size_t size;
	char *ptx;

	must("nvrtc", nvrtcVersion(&major, &minor));
	printf("version: %d.%d\n", major, minor);
	must("program", nvrtcCreateProgram(&program, "extern \"C\" __global__ void axpy("
		"float a, const float *x, float *y) { y[threadIdx.x] += a * x[threadIdx.x]; }\n",
		"axpy.cu", 0, NULL, NULL));
	must("compile", nvrtcCompileProgram(program, 1, options));
	must("size of the PTX", nvrtcGetPTXSize(program, &size));
	ptx = malloc(size);
	must("PTX", nvrtcGetPTX(program, ptx));
	must("end", nvrtcDestroyProgram(&program));
	must("compiled", !strstr(ptx, ".entry axpy"));
#ifdef SUFFIX
	link(ptx, size);
#endif
	free(ptx);
	return 0;
}
