/* SPDX-License-Identifier: MIT */
/*
 * calls - calls a library, by the names that its programs use, as far as that
 * goes without a GPU, and prints what it says
 *
 *     calls FILE LIBRARY
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *find(const char *name)
{
	void *function = dlsym(library, name);

	if (!function) {
		fprintf(stderr, "there is no %s\n", name);
		exit(2);
	}
	return function;
}

#define CALL(type, name, ...) (((type)find(name))(__VA_ARGS__))

typedef int (*of_address)(void *);
typedef int (*of_number_and_address)(int, void *);

static void say_property(const char *name)
{
	for (int which = 0; which < 3; which++) {
		int value = -1, status = CALL(of_number_and_address, name, which, &value);

		printf("%s %d: %d %d\n", name, which, status, value);
	}
}

/* As callers do, who never look whether it is NULL. */
static void say_text(const char *name, int status)
{
	printf("%s: %s\n", name, CALL(const char *(*)(int), name, status));
}

static void cublas(void)
{
	void *handle = &handle;
	int status = CALL(of_address, "cublasCreate_v2", &handle);

	printf("cublasCreate_v2: %d, %s\n", status, handle ? "a handle" : "NULL");
	say_property("cublasGetProperty");
	say_text("cublasGetStatusString", 1);
	say_text("cublasGetStatusName", 15);
	printf("cublasGetCudartVersion: %zu\n", CALL(size_t (*)(void), "cublasGetCudartVersion"));
	printf("cublasLoggerConfigure: %d\n", CALL(int (*)(int, int, int, void *),
						   "cublasLoggerConfigure", 0, 0, 0, NULL));
}

/* Numbers that the host makes: the library really works here. */
static void curand(void)
{
	float uniform[8] = { 0 };
	unsigned bits[8] = { 0 };
	double normal[4] = { 0 };
	void *generator = &generator;
	int version = -1;

	printf("curandGetVersion: %d", CALL(of_address, "curandGetVersion", &version));
	printf(" %d\n", version);
	say_property("curandGetProperty");
	printf("curandCreateGeneratorHost: %d, %s\n",
	       CALL(int (*)(void **, int), "curandCreateGeneratorHost", &generator, 100),
	       generator ? "a generator" : "NULL");
	printf("seed: %d\n", CALL(int (*)(void *, unsigned long long),
				  "curandSetPseudoRandomGeneratorSeed", generator, 1234));
	printf("bits: %d", CALL(int (*)(void *, unsigned *, size_t), "curandGenerate", generator,
				bits, 8));
	for (int i = 0; i < 8; i++)
		printf(" %u", bits[i]);
	printf("\nuniform: %d", CALL(int (*)(void *, float *, size_t), "curandGenerateUniform",
				     generator, uniform, 8));
	for (int i = 0; i < 8; i++)
		printf(" %a", uniform[i]);
	printf("\nnormal: %d", CALL(int (*)(void *, double *, size_t, double, double),
				    "curandGenerateNormalDouble", generator, normal, 4, 1.0, 2.0));
	for (int i = 0; i < 4; i++)
		printf(" %a", normal[i]);
	printf("\ndestroy: %d\n", CALL(of_address, "curandDestroyGenerator", generator));
}

static void cufft(void)
{
	int version = -1, plan = -1;

	printf("cufftGetVersion: %d", CALL(of_address, "cufftGetVersion", &version));
	printf(" %d\n", version);
	say_property("cufftGetProperty");
	printf("cufftCreate: %d\n", CALL(of_address, "cufftCreate", &plan));
}

static void cusolver(void)
{
	int version = -1;

	printf("cusolverGetVersion: %d", CALL(of_address, "cusolverGetVersion", &version));
	printf(" %d\n", version);
	say_property("cusolverGetProperty");
}

static void cusparse(void)
{
	say_property("cusparseGetProperty");
	say_text("cusparseGetErrorString", 1);
	say_text("cusparseGetErrorName", 3);
}

static void cudnn(void)
{
	printf("cudnnGetVersion: %zu\n", CALL(size_t (*)(void), "cudnnGetVersion"));
	printf("cudnnGetCudartVersion: %zu\n", CALL(size_t (*)(void), "cudnnGetCudartVersion"));
	say_text("cudnnGetErrorString", 1001);
}

static void nccl(void)
{
	int version = -1;

	printf("ncclGetVersion: %d", CALL(of_address, "ncclGetVersion", &version));
	printf(" %d\n", version);
	say_text("ncclGetErrorString", 2);
	printf("ncclGetLastError: %s\n", CALL(const char *(*)(void *), "ncclGetLastError", NULL));
}

static const struct {
	const char *name;
	void (*call)(void);
} libraries[] = {
	{ "cublas", cublas }, { "curand", curand }, { "cufft", cufft }, { "cusolver", cusolver },
	{ "cusparse", cusparse }, { "cudnn", cudnn }, { "nccl", nccl },
};

int main(int argc, char **argv)
{
	library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: calls FILE LIBRARY");
		return 2;
	}
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (!strcmp(libraries[i].name, argv[2]))
			libraries[i].call();
	return 0;
}
