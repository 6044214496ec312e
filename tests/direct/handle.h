/* SPDX-License-Identifier: MIT */
/* A handle of nvJitLink, or with -DGENERATOR of cuRAND, as it is made and given back. */
#ifndef HANDLE_H
#define HANDLE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
int nvJitLinkCreate(void **handle, unsigned count, const char **options);
int nvJitLinkDestroy(void **handle);
int curandCreateGenerator(void **generator, int kind);
int curandDestroyGenerator(void *generator);
#ifdef __cplusplus
}
#endif

static void *handle;

static inline int make_handle(void)
{
#ifdef GENERATOR
	int result = curandCreateGenerator(&handle, 0);
#else
	const char *options[] = { "-arch=sm_90" };
	int result = nvJitLinkCreate(&handle, 1, options);
#endif

	printf("create %d\n", result);
	fflush(stdout);
	return result;
}

static inline void destroy_handle(void)
{
	if (!handle)
		return;
#ifdef GENERATOR
	printf("destroy %d\n", curandDestroyGenerator(handle));
#else
	printf("destroy %d\n", nvJitLinkDestroy(&handle));
#endif
	handle = NULL;
	fflush(stdout);
}

#endif
