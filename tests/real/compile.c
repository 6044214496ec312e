/* SPDX-License-Identifier: MIT */
/*
 * compile.c - compile a kernel with nvrtc and link it with nvJitLink, as a
 * program of CUDA's own samples would: `compile KIND ARCH...`, KIND ptx, lto or cubin
 *
 * No header of CUDA's is needed.  SUFFIX is what nvJitLink's header appends to
 * its names (__nvJitLinkCreate_12_9).  Prints, for each step, what came of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvrtcVersion(int *, int *);
int nvrtcCreateProgram(void **, const char *, const char *, int, const char *const *,
		       const char *const *);
int nvrtcCompileProgram(void *, int, const char *const *);
int nvrtcDestroyProgram(void **);
int nvrtcGetPTXSize(void *, size_t *), nvrtcGetPTX(void *, char *);
int nvrtcGetCUBINSize(void *, size_t *), nvrtcGetCUBIN(void *, char *);
int nvrtcGetProgramLogSize(void *, size_t *), nvrtcGetProgramLog(void *, char *);
const char *nvrtcGetErrorString(int);

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#ifdef SUFFIX
int nvrtcGetLTOIRSize(void *, size_t *), nvrtcGetLTOIR(void *, char *);
# define LINK(name) CONCAT(__nvJitLink##name, SUFFIX)
int LINK(Create)(void **, unsigned, const char **), LINK(Destroy)(void **);
int LINK(AddData)(void *, int, const void *, size_t, const char *), LINK(Complete)(void *);
int LINK(GetLinkedCubinSize)(void *, size_t *), LINK(GetLinkedCubin)(void *, void *);
int LINK(GetErrorLogSize)(void *, size_t *), LINK(GetErrorLog)(void *, char *);
#endif

enum { INPUT_CUBIN = 1, INPUT_PTX = 2, INPUT_LTOIR = 3 };

static const char source[] =
	"extern \"C\" __global__ void axpy(float a, const float *x, float *y)\n"
	"{\n"
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	y[i] += a * x[i];\n"
	"}\n";

static char *get(const char *what, int (*size)(void *, size_t *), int (*data)(void *, char *),
		 void *program, size_t *length)
{
	char *bytes = size(program, length) == 0 ? malloc(*length + 1) : NULL;

	if (!bytes || data(program, bytes)) {
		printf("%s: failed\n", what);
		exit(1);
	}
	printf("%s: %s\n", what, *length > 100 ? "ok" : "too short");
	return bytes;
}

#ifdef SUFFIX
static void link(int kind, const char *data, size_t length, const char *arch)
{
	char option[64];
	const char *options[] = { option, "-lto" };
	void *handle, *cubin;
	size_t size = 0;
	int result;

	snprintf(option, sizeof option, "-arch=%s", arch);
	result = LINK(Create)(&handle, kind == INPUT_LTOIR ? 2 : 1, options);
	if (result) {
		printf("nvJitLinkCreate: %d\n", result);
		exit(1);
	}
	result = LINK(AddData)(handle, kind, data, length, "axpy");
	if (!result)
		result = LINK(Complete)(handle);
	if (result) {
		LINK(GetErrorLogSize)(handle, &size);
		char *log = calloc(1, size + 1);
		LINK(GetErrorLog)(handle, log);
		printf("nvJitLinkComplete: %d %s\n", result, log);
		exit(1);
	}
	LINK(GetLinkedCubinSize)(handle, &size);
	cubin = malloc(size);
	result = LINK(GetLinkedCubin)(handle, cubin);
	printf("linked: %s\n", !result && size > 500 && !memcmp(cubin, "\177ELF", 4) ? "ok" : "bad");
	printf("destroyed: %d\n", LINK(Destroy)(&handle));
	free(cubin);
}
#endif

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "ptx", *arch = argc > 2 ? argv[2] : "75";
	int lto = !strcmp(kind, "lto"), cubin = !strcmp(kind, "cubin");
	int major = -1, minor = -1, result;
	char option[64];
	const char *options[] = { option, "-dlto" };
	char *data;
	void *program;
	size_t length;

	result = nvrtcVersion(&major, &minor);
	printf("nvrtc: %d %d.%d\n", result, major, minor);
	if (result) {
		puts(nvrtcGetErrorString(result));
		return 1;
	}
	snprintf(option, sizeof option, "-arch=%s_%s", cubin ? "sm" : "compute", arch);
	nvrtcCreateProgram(&program, source, "axpy.cu", 0, NULL, NULL);
	result = nvrtcCompileProgram(program, 1 + lto, options);
	if (result) {
		nvrtcGetProgramLogSize(program, &length);
		data = calloc(1, length + 1);
		nvrtcGetProgramLog(program, data);
		printf("nvrtcCompileProgram: %d %s\n%s\n", result, nvrtcGetErrorString(result), data);
		return 1;
	}
#ifdef SUFFIX
	data = lto ? get("LTO-IR", nvrtcGetLTOIRSize, nvrtcGetLTOIR, program, &length) :
	       cubin ? get("cubin", nvrtcGetCUBINSize, nvrtcGetCUBIN, program, &length) :
	       get("PTX", nvrtcGetPTXSize, nvrtcGetPTX, program, &length);
	snprintf(option, sizeof option, "sm_%s", arch);
	if (!cubin)
		link(lto ? INPUT_LTOIR : INPUT_PTX, data, length, option);
#else
	data = cubin ? get("cubin", nvrtcGetCUBINSize, nvrtcGetCUBIN, program, &length) :
	       get("PTX", nvrtcGetPTXSize, nvrtcGetPTX, program, &length);
#endif
	free(data);
	printf("program: %d\n", nvrtcDestroyProgram(&program));
	return 0;
}
