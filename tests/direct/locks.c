/* SPDX-License-Identifier: MIT */
/* To be preloaded: a function of CUDA and dlopen(), under one lock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void find_next(const char *name, void *function)
{
	void *address = dlsym(RTLD_NEXT, name);

	memcpy(function, &address, sizeof(address));
}

int cudaRuntimeGetVersion(int *version)
{
	int (*next)(int *), result;

	find_next("cudaRuntimeGetVersion", &next);
	pthread_mutex_lock(&lock);
	result = next(version);
	pthread_mutex_unlock(&lock);
	return result;
}

void *dlopen(const char *file, int flags)
{
	void *(*next)(const char *, int), *handle;

	find_next("dlopen", &next);
	pthread_mutex_lock(&lock);
	handle = next(file, flags);
	pthread_mutex_unlock(&lock);
	return handle;
}
