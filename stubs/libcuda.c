/* SPDX-License-Identifier: MIT */
/* libcuda.c - the driver's libraries, found */
#include <stddef.h>
#include <stdio.h>

#include "driver.h"
#include "glibc.h"
#include "note.h"

/* The loader's own search first, then where it does not look on WSL and NixOS. */
static const char *const folders[] = { "", "/usr/lib/wsl/lib/", "/run/opengl-driver/lib/" };

LC_DLOPEN_NOTE(libcuda,
	LC_DLOPEN("\"libcuda.so.1\"", "driver", "the installed driver, and its CUDA version"))

void *lc_driver_library(const char *name)
{
	void *handle = NULL;
	char path[128];

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !handle; i++) {
		snprintf(path, sizeof(path), "%s%s", folders[i], name);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

void *lc_driver_handle(int *version)
{
	void *handle = lc_driver_library("libcuda.so.1");
	int (*get)(int *) = NULL;

	*version = 0;
	if (handle)
		*(void **)&get = dlsym(handle, "cuDriverGetVersion");
	/* NVIDIA's link-time stub of libcuda answers 34 to everything. */
	if (get && get(version) == 0 && *version >= 1000)
		return handle;
	*version = 0;
	return NULL;
}
