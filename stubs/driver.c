/* SPDX-License-Identifier: MIT */
/* driver.c - the installed NVIDIA driver */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "found.h"
#include "generated/libcuda_stub.real.h"
#include "generated/libnvidia-ml_stub.real.h"
#include "glibc.h"
#include "note.h"

LC_DLOPEN_NOTE(driver,
	LC_DLOPEN("\"libcuda.so.1\"", "driver", "what the installed driver can run") ","
	LC_DLOPEN("\"libnvidia-ml.so.1\"", "driver", "what the installed driver can run"))

lc_version lc_cuda_version(lc_finder *find, void *data, int major)
{
	int (*get)(int *) = (int (*)(int *))find("cuDriverGetVersion", data);
	int value = 0;

	(void)major;
	/* NVIDIA's stand-in for linking answers 34 to everything. */
	return get && get(&value) == 0 && value >= 1000 ?
		LC_VERSION(value / 1000, value % 1000 / 10) : 0;
}

lc_version lc_nvml_version(lc_finder *find, void *data, int major)
{
	typedef int (*getter)(char *, unsigned);
	getter get = (getter)find("nvmlSystemGetNVMLVersion", data);
	char text[96] = "";	/* "12.535.104.05" */

	if (!get || get(text, sizeof(text)))
		return 0;
	major = atoi(text);
	return major > 0 && major < 100 ? LC_VERSION(major, 0) : 0;
}

static lc_function find_in(const char *name, void *handle)
{
	lc_function function;
	void *address = dlsym(handle, name);

	memcpy(&function, &address, sizeof(function));
	return function;
}

/* Opens what the stub of the library would take; NULL if there is none. */
static void *open_real(struct lc_arena *arena, const struct lc_library *library,
		       lc_version (*version)(lc_finder *, void *, int), lc_version *said)
{
	struct lc_search search;
	bool resorted = false;

	*said = 0;
	lc_search_real(arena, &search, library);
	while (!arena->failed) {
		int option = lc_choose(arena, &search.at).option;
		void *handle;

		if (option < 0) {
			if (resorted || lc_search_found(&search))
				return NULL;
			resorted = true;
			lc_search_last_resort(arena, &search);
			continue;
		}
		handle = lc_open_found(arena, &search, option);
		*said = handle ? version(find_in, handle, 0) : 0;
		if (*said)
			return handle;
		if (handle) {
			dlclose(handle);
			lc_reject_found(&search, option, lc_stand_in);
		}
	}
	return NULL;
}

int lc_driver_version(struct lc_arena *arena)
{
	lc_version said;

	/* It stays loaded: a runtime that is loaded next needs it anyway. */
	open_real(arena, &lc_real_cuda, lc_cuda_version, &said);
	if (said)
		lc_trace("the driver supports CUDA %d.%d", LC_MAJOR(said), LC_MINOR(said));
	else
		lc_trace("there is no driver");
	return 1000 * LC_MAJOR(said) + 10 * LC_MINOR(said);
}

static int branch_of_module(struct lc_arena *arena)
{
	int fd = open("/sys/module/nvidia/version", O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	ssize_t length;

	if (fd < 0) {
		lc_arena_hinder(arena, errno);
		return 0;
	}
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	return length > 0 ? atoi(text) : 0;
}

/* NVML's version goes on with the driver's: "12.535.104.05". */
static int branch_of_nvml(struct lc_arena *arena)
{
	lc_version said;
	void *handle = open_real(arena, &lc_real_nvml, lc_nvml_version, &said);
	int (*get)(char *, unsigned) = NULL;
	char text[96] = "", *dot = NULL;

	if (!handle)
		return 0;
	*(void **)&get = dlsym(handle, "nvmlSystemGetNVMLVersion");
	if (get && !get(text, sizeof(text)))
		dot = strchr(text, '.');
	dlclose(handle);
	return dot ? atoi(dot + 1) : 0;
}

int lc_driver_branch(struct lc_arena *arena)
{
	int branch = branch_of_module(arena);

	if (!branch)
		branch = branch_of_nvml(arena);
	if (branch)
		lc_trace("the display driver is of branch %d", branch);
	else
		lc_trace("the display driver's branch is unknown");
	return branch;
}
