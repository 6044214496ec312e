/* SPDX-License-Identifier: MIT */
/* libcuda.c - the driver's libraries, found */
#include <stddef.h>
#include <stdio.h>

#include "by_name.h"
#include "driver.h"
#include "folders.h"
#include "glibc.h"
#include "note.h"

/* Where the loader's own search does not look on WSL and NixOS. */
static const char *const places[] = { "/usr/lib/wsl/lib", "/run/opengl-driver/lib" };

LC_DLOPEN_NOTE(libcuda,
	LC_DLOPEN("\"libcuda.so.1\"", "driver", "what the installed driver can run"))

void *lc_driver_library(const char *name)
{
	struct lc_arena arena = { .failed = false };
	struct lc_folders folders = { .arena = &arena };
	void *handle = lc_open_by_name(name);
	char path[128];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !handle; i++) {
		snprintf(path, sizeof(path), "%s/%s", places[i], name);
		if (lc_folder_is_safe(&folders, places[i]))
			handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	lc_arena_free(&arena);
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
