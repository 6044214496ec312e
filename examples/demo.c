/* SPDX-License-Identifier: MIT */
/*
 * demo.c - one binary, any CUDA
 *
 * Asks the runtime for its version and the number of devices, compiles a kernel
 * with nvrtc, links it with nvJitLink, and prints which files did that.  Built
 * against lib/cuda12, without a CUDA header, as if compiled for CUDA 12.
 *
 *     demo [VERSION]
 *
 * With the fake libraries that `make demo` makes if it cannot fetch the real ones,
 * it prints what they returned.
 *
 * Exit status: 0 if the runtime in use has VERSION ("none": there is no runtime),
 * or if no VERSION was given; else 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../include/lazycuda.h"

/* What the CUDA headers would declare. */
extern int cudaRuntimeGetVersion(int *version);
extern int cudaGetDeviceCount(int *count);
extern const char *cudaGetErrorName(int error);
extern const char *cudaGetErrorString(int error);

typedef struct program *nvrtcProgram;
extern int nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
			      int headers, const char *const *texts, const char *const *names);
extern int nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options);
extern int nvrtcGetPTXSize(nvrtcProgram program, size_t *size);
extern int nvrtcGetPTX(nvrtcProgram program, char *ptx);
extern int nvrtcDestroyProgram(nvrtcProgram *program);
extern const char *nvrtcGetErrorString(int result);

typedef struct linker *nvJitLinkHandle;
enum { NVJITLINK_INPUT_PTX = 2 };
extern int nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t count, const char **options);
extern int nvJitLinkAddData(nvJitLinkHandle handle, int kind, const void *data, size_t size,
			    const char *name);
extern int nvJitLinkComplete(nvJitLinkHandle handle);
extern int nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size);
extern int nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin);
extern int nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size);
extern int nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log);
extern int nvJitLinkDestroy(nvJitLinkHandle *handle);

/* Answers of the libraries in tests/fakes have this bit; no status of CUDA is that large. */
enum { FAKE_ANSWER = 0x40000000 };

static const char kernel[] =
	"extern \"C\" __global__ void add(int n, const float *x, float *y)\n"
	"{\n"
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		y[i] += x[i];\n"
	"}\n";

/* A fake library returns numbers and has no names for them. */
static const char *name_of(int error)
{
	const char *name = cudaGetErrorName(error);

	if (strncmp(name, "fake ", 5))
		return name;
	return error ? "a fake has no names" : "success";
}

static void print_arrival(const char *library, const char *does)
{
	printf("  %-25s the call arrived in the fake one, which %s nothing\n", library, does);
}

static void ask_runtime(void)
{
	int version = -1, devices = -1;
	int error = cudaRuntimeGetVersion(&version);

	printf("  cudaRuntimeGetVersion     %d (%s), version %d\n", error,
	       name_of(error), version);
	if (error && strncmp(cudaGetErrorName(error), "fake ", 5))
		printf("      %s%s\n", cudaGetErrorString(error),
		       error == 35 ? ": NVIDIA's own answer where there is no driver" : "");
	error = cudaGetDeviceCount(&devices);
	printf("  cudaGetDeviceCount        %d (%s)\n", error, name_of(error));
}

/* Returns the PTX, which the caller frees, or NULL. */
static char *compile(void)
{
	const char *options[] = { "--gpu-architecture=compute_80" };
	nvrtcProgram program;
	size_t size = 0;
	char *ptx = NULL;
	int result = nvrtcCreateProgram(&program, kernel, "add.cu", 0, NULL, NULL);

	if (!result)
		result = nvrtcCompileProgram(program, 1, options);
	if (!result)
		result = nvrtcGetPTXSize(program, &size);
	if (!result && (ptx = calloc(1, size + 1)))
		result = nvrtcGetPTX(program, ptx);
	if (result >= FAKE_ANSWER)
		print_arrival("nvrtc", "compiles");
	else if (result)
		printf("  nvrtc                     %d: %s\n", result, nvrtcGetErrorString(result));
	nvrtcDestroyProgram(&program);
	if (result) {
		free(ptx);
		return NULL;
	}
	printf("  nvrtc                     compiled a kernel: %zu bytes of PTX\n", strlen(ptx));
	return ptx;
}

static void print_link_error(nvJitLinkHandle handle, int result)
{
	size_t size = 0;
	char *log = NULL;

	if (!nvJitLinkGetErrorLogSize(handle, &size) && (log = calloc(1, size + 1)))
		nvJitLinkGetErrorLog(handle, log);
	printf("  nvJitLink                 %d: %s\n", result, log ? log : "");
	free(log);
}

static void link_ptx(const char *ptx)
{
	const char *options[] = { "-arch=sm_80" };
	nvJitLinkHandle handle;
	size_t size = 0;
	int result = nvJitLinkCreate(&handle, 1, options);

	if (!result)
		result = nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, ptx, strlen(ptx) + 1, "add.ptx");
	if (!result)
		result = nvJitLinkComplete(handle);
	if (!result)
		result = nvJitLinkGetLinkedCubinSize(handle, &size);
	void *cubin = result ? NULL : malloc(size);
	if (cubin)
		result = nvJitLinkGetLinkedCubin(handle, cubin);
	if (result >= FAKE_ANSWER)
		print_arrival("nvJitLink", "links");
	else if (result)
		print_link_error(handle, result);
	else
		printf("  nvJitLink                 linked it: %zu bytes of cubin\n", size);
	nvJitLinkDestroy(&handle);
	free(cubin);
}

static void print_choice(const char *library)
{
	const struct lazycuda_status *status = lazycuda_get_status(library);

	if (!status)
		return;
	if (status->state == LAZYCUDA_STATE_USABLE)
		printf("  %-9s %-5s %s\n            found by %s: %s\n", library, status->version,
		       status->path, status->found_by, status->reason);
	else
		printf("  %-9s none\n", library);
}

static int is_expected(const char *version)
{
	const char *used = lazycuda_get_status("cudart")->version;

	if (!strcmp(used ? used : "none", version))
		return 1;
	printf("  expected %s, and the runtime in use is %s\n", version, used ? used : "none");
	return 0;
}

int main(int argc, char **argv)
{
	char *ptx;

	ask_runtime();
	ptx = compile();
	link_ptx(ptx ? ptx : "");
	free(ptx);
	print_choice("cudart");
	print_choice("nvrtc");
	print_choice("nvJitLink");
	return argc > 1 && !is_expected(argv[1]);
}
