/* SPDX-License-Identifier: MIT */
/* A handle of nvJitLink, as it is made and given back. */
#ifndef HANDLE_H
#define HANDLE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
int nvJitLinkCreate(void **handle, unsigned count, const char **options);
int nvJitLinkDestroy(void **handle);
#ifdef __cplusplus
}
#endif

static void *handle;

static inline int make_handle(void)
{
	const char *options[] = { "-arch=sm_90" };
	int result = nvJitLinkCreate(&handle, 1, options);

	printf("create %d\n", result);
	fflush(stdout);
	return result;
}

static inline void destroy_handle(void)
{
	if (!handle)
		return;
	printf("destroy %d\n", nvJitLinkDestroy(&handle));
	handle = NULL;
	fflush(stdout);
}

#endif
