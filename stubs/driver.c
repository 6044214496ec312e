/* SPDX-License-Identifier: MIT */
/* driver.c - the installed NVIDIA driver */
#include "driver.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "glibc.h"
#include "note.h"
#include "settings.h"

LC_DLOPEN_NOTE(nvml,
	LC_DLOPEN("\"libnvidia-ml.so.1\"", "driver", "what the installed driver can run"))

int lc_driver_version(void)
{
	int version;

	/* It stays loaded: a runtime that is loaded next needs it anyway. */
	lc_driver_handle(&version);
	lc_trace(version ? "the driver supports CUDA %d.%d" : "there is no driver",
		 version / 1000, version % 1000 / 10);
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
	void *handle = lc_driver_library("libnvidia-ml.so.1");
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
