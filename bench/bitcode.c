/* SPDX-License-Identifier: MIT */
/*
 * bitcode.c - the cost of a link with a large library of bitcode, and of libnvvm alone
 *
 *     bitcode LIBRARY ARCH LIBNVVM ROUNDS
 *
 * Links a kernel that calls one function of the library, as LLVM IR, through
 * lazycuda_link_run(), which has libnvvm compile it and nvJitLink link it; and has LIBNVVM
 * itself verify and compile the same, as cuda.core does.  The two take turns to go first.
 * Prints the nanoseconds of each, one line per round.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lazycuda_link.h>

static const char kernel[] =
	"target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
	"f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
	"target triple = \"nvptx64-nvidia-cuda\"\n"
	"declare i32 @nvshmem_my_pe()\n"
	"define void @kernel(ptr %out) {\n"
	"  %pe = call i32 @nvshmem_my_pe()\n"
	"  store i32 %pe, ptr %out\n"
	"  ret void\n"
	"}\n"
	"!nvvm.annotations = !{!0}\n"
	"!0 = !{ptr @kernel, !\"kernel\", i32 1}\n"
	"!nvvmir.version = !{!1}\n"
	"!1 = !{i32 2, i32 0}\n";

static struct { char *bytes; size_t length; } library;
static const char *arch;

static void must(int worked, const char *what)
{
	if (worked)
		return;
	fprintf(stderr, "bitcode: %s\n", what);
	exit(1);
}

static void read_library(const char *path)
{
	FILE *file = fopen(path, "rb");

	must(file && !fseek(file, 0, SEEK_END), path);
	library.length = (size_t)ftell(file);
	library.bytes = malloc(library.length);
	rewind(file);
	must(library.bytes && fread(library.bytes, 1, library.length, file) == library.length, path);
	fclose(file);
}

/* ---- the two ways ---- */

static void through_handle(void)
{
	const struct lazycuda_request request = { .size = sizeof(request), .arch = arch };
	const struct lazycuda_input inputs[] = {
		{ .size = sizeof(*inputs), .name = "kernel.ll", .bytes = kernel,
		  .length = sizeof(kernel) - 1 },
		{ .size = sizeof(*inputs), .name = "library.bc", .bytes = library.bytes,
		  .length = library.length, .flags = LAZYCUDA_INPUT_LIBRARY },
	};
	struct lazycuda_link *link = lazycuda_link_new(&request, NULL);
	const struct lazycuda_result *result;

	must(link && !lazycuda_link_add(link, &inputs[0]) && !lazycuda_link_add(link, &inputs[1]),
	     "no memory");
	result = lazycuda_link_run(link);
	must(result->code == LAZYCUDA_CODE_OK, result->message);
	lazycuda_link_free(link);
}

static struct {
	int (*create)(void **program);
	int (*add)(void *program, const char *bytes, size_t length, const char *name);
	int (*add_lazily)(void *program, const char *bytes, size_t length, const char *name);
	int (*verify)(void *program, int count, const char **options);
	int (*compile)(void *program, int count, const char **options);
	int (*size)(void *program, size_t *size);
	int (*get)(void *program, char *into);
	int (*destroy)(void **program);
} alone;

static void *find(void *nvvm, const char *name)
{
	void *function = dlsym(nvvm, name);

	must(function != NULL, name);
	return function;
}

static void open_nvvm(const char *path)
{
	void *nvvm = dlopen(path, RTLD_NOW);

	must(nvvm != NULL, "the library cannot be loaded");
	*(void **)&alone.create = find(nvvm, "nvvmCreateProgram");
	*(void **)&alone.add = find(nvvm, "nvvmAddModuleToProgram");
	*(void **)&alone.add_lazily = find(nvvm, "nvvmLazyAddModuleToProgram");
	*(void **)&alone.verify = find(nvvm, "nvvmVerifyProgram");
	*(void **)&alone.compile = find(nvvm, "nvvmCompileProgram");
	*(void **)&alone.size = find(nvvm, "nvvmGetCompiledResultSize");
	*(void **)&alone.get = find(nvvm, "nvvmGetCompiledResult");
	*(void **)&alone.destroy = find(nvvm, "nvvmDestroyProgram");
}

static void through_library(void)
{
	char option[32];
	const char *options[] = { option };
	void *program;
	size_t size;
	char *ptx;

	snprintf(option, sizeof(option), "-arch=compute_%s", arch + strlen("sm_"));
	must(!alone.create(&program), "nvvmCreateProgram");
	must(!alone.add(program, kernel, sizeof(kernel) - 1, "kernel.ll"), "nvvmAddModuleToProgram");
	must(!alone.add_lazily(program, library.bytes, library.length, "library.bc"),
	     "nvvmLazyAddModuleToProgram");
	must(!alone.verify(program, 1, options), "nvvmVerifyProgram");
	must(!alone.compile(program, 1, options), "nvvmCompileProgram");
	must(!alone.size(program, &size), "nvvmGetCompiledResultSize");
	ptx = malloc(size);
	must(ptx && !alone.get(program, ptx), "nvvmGetCompiledResult");
	alone.destroy(&program);
	free(ptx);
}

/* ---- rounds ---- */

static double nanoseconds(void (*work)(void))
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	work();
	clock_gettime(CLOCK_MONOTONIC, &end);
	return 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
}

int main(int argc, char **argv)
{
	must(argc == 5, "bitcode LIBRARY ARCH LIBNVVM ROUNDS");
	read_library(argv[1]);
	arch = argv[2];
	open_nvvm(argv[3]);
	through_handle();	/* what is loaded and looked for once */
	through_library();
	for (int i = 0; i < atoi(argv[4]); i++) {
		double first = nanoseconds(i % 2 ? through_handle : through_library);
		double second = nanoseconds(i % 2 ? through_library : through_handle);

		printf("%.0f %.0f\n", i % 2 ? first : second, i % 2 ? second : first);
	}
	return 0;
}
