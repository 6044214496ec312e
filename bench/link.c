/* SPDX-License-Identifier: MIT */
/*
 * link.c - what a link costs through the handle, and through nvJitLink alone
 *
 *     link KIND ARCH NVJITLINK ROUNDS
 *
 * Compiles two sources to KIND (ptx, ltoir or cubin) and links them ROUNDS
 * times, in turn through lazycuda_link_run() and by calling the library of that
 * name itself.  Prints the nanoseconds of each, a line a round.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lazycuda_link.h>

#include "../stubs/link/calls.h"

static const char *const sources[2] = {
	"extern \"C\" __device__ float twice(float);\n"
	"template <int N> __device__ float power(float x) { return x * power<N - 1>(x); }\n"
	"template <> __device__ float power<0>(float x) { return 1; }\n"
	"extern \"C\" __global__ void all(float *x, int n)\n"
	"{\n"
	"	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x)\n"
	"		x[i] = twice(power<9>(x[i])) / (1 + power<5>(x[i]));\n"
	"}\n",
	"extern \"C\" __device__ float twice(float x) { return 2 * x; }\n",
};
static const char *const names[2] = { "kernel.cu", "helper.cu" };

static const struct kind {
	const char *name;
	enum lazycuda_kind kind;
	int number;		/* nvJitLink's */
	const char *option;	/* of nvrtc */
	lc_size_function *size;
	lc_bytes_function *get;
} kinds[] = {
	{ "ptx", LAZYCUDA_KIND_PTX, 2, "-rdc=true", nvrtcGetPTXSize, nvrtcGetPTX },
	{ "cubin", LAZYCUDA_KIND_CUBIN, 1, "-rdc=true", nvrtcGetCUBINSize, nvrtcGetCUBIN },
	{ "ltoir", LAZYCUDA_KIND_LTOIR, 3, "-dlto", nvrtcGetLTOIRSize, nvrtcGetLTOIR },
};

static const struct kind *kind;
static char arch_option[32];
static const char *arch;
static struct { char *bytes; size_t length; } code[2];

static void must(int worked, const char *what)
{
	if (worked)
		return;
	fprintf(stderr, "link: %s\n", what);
	exit(1);
}

static void compile(int i)
{
	const char *options[] = { arch_option, kind->option };
	void *program;

	must(!nvrtcCreateProgram(&program, sources[i], names[i], 0, NULL, NULL), "nvrtc");
	must(!nvrtcCompileProgram(program, 2, options), "the compiler failed");
	must(!kind->size(program, &code[i].length), "no code");
	code[i].bytes = malloc(code[i].length);
	must(!kind->get(program, code[i].bytes), "no code");
	nvrtcDestroyProgram(&program);
}

/* ---- the two ways ---- */

static void through_handle(void)
{
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = arch, .lto = kind->number == 3,
	};
	struct lazycuda_link *link = lazycuda_link_new(&request, NULL);
	struct lazycuda_input inputs[2];
	const struct lazycuda_result *result;

	for (int i = 0; i < 2; i++) {
		inputs[i] = (struct lazycuda_input){
			.size = sizeof(*inputs), .name = names[i],
			.bytes = code[i].bytes, .length = code[i].length,
		};
		lazycuda_link_add(link, &inputs[i]);
	}
	result = lazycuda_link_run(link);
	must(result->code == LAZYCUDA_CODE_OK, result->message);
	lazycuda_link_free(link);
}

static struct {
	int (*create)(void **handle, unsigned count, const char **options);
	int (*add)(void *handle, int kind, const void *bytes, size_t length, const char *name);
	int (*complete)(void *handle);
	int (*size)(void *handle, size_t *size);
	int (*get)(void *handle, void *into);
	int (*destroy)(void **handle);
} alone;

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	must(function != NULL, name);
	return function;
}

static void open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	must(library != NULL, "the library cannot be loaded");
	*(void **)&alone.create = find(library, "nvJitLinkCreate");
	*(void **)&alone.add = find(library, "nvJitLinkAddData");
	*(void **)&alone.complete = find(library, "nvJitLinkComplete");
	*(void **)&alone.size = find(library, "nvJitLinkGetLinkedCubinSize");
	*(void **)&alone.get = find(library, "nvJitLinkGetLinkedCubin");
	*(void **)&alone.destroy = find(library, "nvJitLinkDestroy");
}

static void through_library(void)
{
	const char *options[] = { arch_option, "-lto" };
	void *handle, *cubin;
	size_t size;

	must(!alone.create(&handle, 1 + (kind->number == 3), options), "nvJitLinkCreate");
	for (int i = 0; i < 2; i++)
		must(!alone.add(handle, kind->number, code[i].bytes, code[i].length, names[i]),
		     "nvJitLinkAddData");
	must(!alone.complete(handle), "nvJitLinkComplete");
	must(!alone.size(handle, &size), "nvJitLinkGetLinkedCubinSize");
	cubin = malloc(size);
	must(!alone.get(handle, cubin), "nvJitLinkGetLinkedCubin");
	alone.destroy(&handle);
	free(cubin);
}

static double nanoseconds(void (*link)(void))
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	link();
	clock_gettime(CLOCK_MONOTONIC, &end);
	return 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
}

int main(int argc, char **argv)
{
	must(argc == 5, "usage: link KIND ARCH NVJITLINK ROUNDS");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	must(kind != NULL, "there is no such kind");
	arch = argv[2];
	snprintf(arch_option, sizeof(arch_option), "-arch=%s", arch);
	for (int i = 0; i < 2; i++)
		compile(i);
	open_library(argv[3]);
	for (int i = 0; i < 3; i++) {
		through_handle();
		through_library();
	}
	for (long i = 0, rounds = atol(argv[4]); i < rounds; i++) {
		double handle = nanoseconds(through_handle);

		printf("%.0f %.0f\n", handle, nanoseconds(through_library));
	}
	return 0;
}
