/* SPDX-License-Identifier: MIT */
/*
 * link.c - the cost of a link through lazycuda_link and through nvJitLink alone
 *
 *     link KIND KERNELS|FOLDER ARCH NVJITLINK ROUNDS [isolated]
 *     link KIND KERNELS ARCH serve FOLDER
 *
 * Compiles two sources, the first with KERNELS kernels, to KIND (ptx, ltoir or
 * cubin), or reads them from an absolute FOLDER that `serve` wrote, and links them
 * ROUNDS times through lazycuda_link_run(), and ROUNDS times by calling the library
 * NVJITLINK itself; or, `isolated`, in a process of its own and in this one, both
 * through lazycuda_link_run().  The two take turns to go first, since the first in a
 * round is a percent or two slower.  Prints the nanoseconds of each, one line per round.
 *
 * `serve` writes what it compiled to FOLDER/0 and FOLDER/1, for a program in another
 * language, and then reads numbers of rounds: it prints the nanoseconds that so many
 * links through lazycuda_link_run() took.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lazycuda_link.h>

#include "../link/run/calls.h"

static const char head[] =
	"extern \"C\" __device__ float twice(float);\n"
	"template <int N> __device__ float power(float x) { return x * power<N - 1>(x); }\n"
	"template <> __device__ float power<0>(float x) { return 1; }\n";
static const char kernel[] =
	"extern \"C\" __global__ void all%d(float *x, int n)\n"
	"{\n"
	"	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x)\n"
	"		x[i] = twice(power<9>(x[i] + %d)) / (1 + power<5>(x[i]));\n"
	"}\n";
static const char helper[] = "extern \"C\" __device__ float twice(float x) { return 2 * x; }\n";

static const struct kind {
	const char *name;
	enum lazycuda_kind kind;
	int number;		/* nvJitLink's */
	const char *option;	/* nvrtc's */
	const char *names[2];	/* of the two inputs */
	lk_size_function *size;
	lk_bytes_function *get;
} kinds[] = {
	{ "ptx", LAZYCUDA_KIND_PTX, 2, "-rdc=true", { "kernel.ptx", "helper.ptx" },
	  nvrtcGetPTXSize, nvrtcGetPTX },
	{ "cubin", LAZYCUDA_KIND_CUBIN, 1, "-rdc=true", { "kernel.cubin", "helper.cubin" },
	  nvrtcGetCUBINSize, nvrtcGetCUBIN },
	{ "ltoir", LAZYCUDA_KIND_LTOIR, 3, "-dlto", { "kernel.ltoir", "helper.ltoir" },
	  nvrtcGetLTOIRSize, nvrtcGetLTOIR },
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

static char *write_kernels(int count)
{
	const size_t room = sizeof(head) + (size_t)count * (sizeof(kernel) + 16);
	char *text = malloc(room), *at = text;

	must(text != NULL, "no memory");
	at += snprintf(at, room, "%s", head);
	for (int i = 0; i < count; i++)
		at += snprintf(at, room - (size_t)(at - text), kernel, i, i);
	return text;
}

static void compile(int i, const char *source)
{
	const char *options[] = { arch_option, kind->option };
	void *program;

	must(!nvrtcCreateProgram(&program, source, NULL, 0, NULL, NULL), "nvrtc");
	must(!nvrtcCompileProgram(program, 2, options), "the compiler failed");
	must(!kind->size(program, &code[i].length), "no code");
	code[i].bytes = malloc(code[i].length);
	must(code[i].bytes && !kind->get(program, code[i].bytes), "no code");
	nvrtcDestroyProgram(&program);
}

/* ---- the two ways ---- */

static void through_run(unsigned flags)
{
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = arch, .lto = kind->number == 3, .flags = flags,
	};
	struct lazycuda_link *link = lazycuda_link_new(&request, NULL);
	struct lazycuda_input inputs[2];
	const struct lazycuda_result *result;

	for (int i = 0; i < 2; i++) {
		inputs[i] = (struct lazycuda_input){
			.size = sizeof(*inputs), .name = kind->names[i],
			.bytes = code[i].bytes, .length = code[i].length,
		};
		lazycuda_link_add(link, &inputs[i]);
	}
	result = lazycuda_link_run(link);
	must(result->code == LAZYCUDA_CODE_OK, result->message);
	lazycuda_link_free(link);
}

static void through_handle(void)
{
	through_run(0);
}

static void through_child(void)
{
	through_run(LAZYCUDA_LINK_ISOLATED);
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
		must(!alone.add(handle, kind->number, code[i].bytes, code[i].length,
				kind->names[i]), "nvJitLinkAddData");
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

static FILE *open_code(const char *folder, int i, const char *mode)
{
	char path[4096];
	FILE *file;

	must(snprintf(path, sizeof(path), "%s/%d", folder, i) < (int)sizeof(path),
	     "the folder's name is too long");
	file = fopen(path, mode);
	must(file != NULL, path);
	return file;
}

static void write_code(const char *folder)
{
	for (int i = 0; i < 2; i++) {
		FILE *file = open_code(folder, i, "wb");

		must(fwrite(code[i].bytes, 1, code[i].length, file) == code[i].length &&
		     !fclose(file), folder);
	}
}

static void read_code(const char *folder)
{
	for (int i = 0; i < 2; i++) {
		FILE *file = open_code(folder, i, "rb");
		long length;

		must(!fseek(file, 0, SEEK_END) && (length = ftell(file)) > 0, folder);
		rewind(file);
		code[i].length = (size_t)length;
		code[i].bytes = malloc(code[i].length);
		must(code[i].bytes && fread(code[i].bytes, code[i].length, 1, file) == 1, folder);
		fclose(file);
	}
}

static void compile_both(int count)
{
	char *kernels = write_kernels(count);

	compile(0, kernels);
	compile(1, helper);
	free(kernels);
}

static void serve(void)
{
	long rounds;

	while (scanf("%ld", &rounds) == 1) {
		double time = 0;

		for (long i = 0; i < rounds; i++)
			time += nanoseconds(through_handle);
		printf("%.0f\n", time);
		fflush(stdout);
	}
}

static void take_turns(long rounds, void (*const ways[2])(void))
{
	double (*times)[2] = calloc((size_t)rounds, sizeof(*times));

	must(times != NULL, "no memory");
	for (long i = -3; i < rounds; i++)
		for (int k = 0; k < 2; k++) {
			int way = (i & 1) ^ k;
			double time = nanoseconds(ways[way]);

			if (i >= 0)
				times[i][way] = time;
		}
	for (long i = 0; i < rounds; i++)
		printf("%.0f %.0f\n", times[i][0], times[i][1]);
	free(times);
}

int main(int argc, char **argv)
{
	must(argc == 6 || argc == 7,
	     "usage: link KIND KERNELS|FOLDER ARCH (NVJITLINK ROUNDS [isolated] | serve FOLDER)");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	must(kind != NULL, "there is no such kind");
	arch = argv[3];
	snprintf(arch_option, sizeof(arch_option), "-arch=%s", arch);
	if (*argv[2] == '/')
		read_code(argv[2]);
	else
		compile_both(atoi(argv[2]));
	if (!strcmp(argv[4], "serve")) {
		write_code(argv[5]);
		serve();
		return 0;
	}
	open_library(argv[4]);
	take_turns(atol(argv[5]), argc == 7 ?
		   (void (*[])(void)){ through_child, through_handle } :
		   (void (*[])(void)){ through_handle, through_library });
	return 0;
}
