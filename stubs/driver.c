/* SPDX-License-Identifier: MIT */
/* driver.c - the installed NVIDIA driver */
#include "driver.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "glibc.h"
#include "settings.h"

/* The loader's own search first, then where it does not look on WSL and NixOS. */
static const char *const cuda_files[] = {
	"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1", NULL
};
static const char *const nvml_files[] = {
	"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
	"/run/opengl-driver/lib/libnvidia-ml.so.1", NULL
};

static void *open_first(const char *const *files)
{
	void *handle = NULL;

	for (; *files && !handle; files++)
		handle = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
	return handle;
}

int lc_driver_version(void)
{
	void *handle = open_first(cuda_files);
	int (*get)(int *) = NULL;
	int version = 0;

	if (handle)
		*(void **)&get = dlsym(handle, "cuDriverGetVersion");
	/* NVIDIA's link-time stub of libcuda answers 34 to everything. */
	if (!get || get(&version) || version < 1000)
		version = 0;
	lc_trace(version ? "the driver supports CUDA %d.%d" : "there is no driver",
		 version / 1000, version % 1000 / 10);
	/* The handle is kept: a runtime that is loaded next needs it anyway. */
	return version;
}

static int branch_of_module(void)
{
	int fd = open("/sys/module/nvidia/version", O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	ssize_t length;

	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	return length > 0 ? atoi(text) : 0;
}

static int branch_of_nvml(void)
{
	void *handle = open_first(nvml_files);
	int (*get)(char *, unsigned) = NULL;
	int (*init)(void) = NULL, (*shut_down)(void) = NULL;
	char text[96] = "";

	if (!handle)
		return 0;
	*(void **)&init = dlsym(handle, "nvmlInit_v2");
	*(void **)&get = dlsym(handle, "nvmlSystemGetDriverVersion");
	*(void **)&shut_down = dlsym(handle, "nvmlShutdown");
	if (init && get && shut_down && init() == 0) {
		if (get(text, sizeof(text)))
			text[0] = 0;
		shut_down();
	}
	dlclose(handle);
	return atoi(text);
}

int lc_driver_branch(void)
{
	int branch = branch_of_module();

	if (!branch)
		branch = branch_of_nvml();
	if (branch)
		lc_trace("the display driver is of branch %d", branch);
	else
		lc_trace("the display driver's branch is unknown");
	return branch;
}
