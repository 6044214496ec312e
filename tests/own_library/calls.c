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

/* Numbers that the host makes: the library really works here. */
static void curand(void)
{
	float uniform[8] = { 0 };
	unsigned bits[8] = { 0 };
	void *generator = &generator;

	printf("curandCreateGeneratorHost: %d, %s\n",
	       CALL(int (*)(void **, int), "curandCreateGeneratorHost", &generator, 100),
	       generator ? "a generator" : "NULL");
	printf("bits: %d", CALL(int (*)(void *, unsigned *, size_t), "curandGenerate", generator,
				bits, 8));
	for (int i = 0; i < 8; i++)
		printf(" %u", bits[i]);
	printf("\nuniform: %d", CALL(int (*)(void *, float *, size_t), "curandGenerateUniform",
				     generator, uniform, 8));
	for (int i = 0; i < 8; i++)
		printf(" %a", uniform[i]);
	printf("\ndestroy: %d\n", CALL(int (*)(void *), "curandDestroyGenerator", generator));
}

/* What a function takes: nothing, a number and a place for one, a place, a status whose text it
 * returns, as callers print it who never look whether it is NULL. */
enum how { PLAIN, PROPERTY, PLACE, TEXT };

static const struct {
	const char *name;
	enum how how;
	int number;
} functions[] = {
	{ "cublasCreate_v2", PLACE, 0 }, { "cublasGetProperty", PROPERTY, 1 },
	{ "cublasGetStatusString", TEXT, 1 }, { "cublasGetStatusName", TEXT, 15 },
	{ "cublasGetCudartVersion", PLAIN, 0 }, { "curandGetVersion", PLACE, 0 },
	{ "curandGetProperty", PROPERTY, 0 }, { "cufftGetVersion", PLACE, 0 },
	{ "cufftGetProperty", PROPERTY, 2 }, { "cufftCreate", PLACE, 0 },
	{ "cusolverGetVersion", PLACE, 0 }, { "cusolverGetProperty", PROPERTY, 0 },
	{ "cusparseGetProperty", PROPERTY, 0 }, { "cusparseGetErrorString", TEXT, 1 },
	{ "cusparseGetErrorName", TEXT, 3 }, { "cudnnGetVersion", PLAIN, 0 },
	{ "cudnnGetCudartVersion", PLAIN, 0 }, { "cudnnGetErrorString", TEXT, 1001 },
	{ "ncclGetVersion", PLACE, 0 }, { "ncclGetErrorString", TEXT, 2 },
	{ "ncclGetLastError", TEXT, 0 },
};

static void call(const char *name, enum how how, int number)
{
	long place = -1;

	if (how == TEXT)
		printf("%s: %s\n", name, CALL(const char *(*)(long), name, number));
	else if (how == PLAIN)
		printf("%s: %zu\n", name, CALL(size_t (*)(void), name));
	else
		printf("%s: %d %d\n", name, how == PROPERTY ?
		       CALL(int (*)(int, void *), name, number, &place) :
		       CALL(int (*)(void *), name, &place), (int)place);
}

int main(int argc, char **argv)
{
	library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: calls FILE LIBRARY");
		return 2;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strncmp(functions[i].name, argv[2], strlen(argv[2])))
			call(functions[i].name, functions[i].how, functions[i].number);
	if (!strcmp(argv[2], "curand"))
		curand();
	return 0;
}
