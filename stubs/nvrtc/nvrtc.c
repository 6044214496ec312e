/* SPDX-License-Identifier: MIT */
/* nvrtc.c - what the run-time compiler's stub does beyond forwarding */
#include <string.h>

#include "../loader/errors.h"
#include "generated/libnvrtc_stub.h"
#include "../loader/lasting.h"
#include "../loader/loader.h"
#include "../loader/specifics.h"

void *lc_hook_nvrtcGetErrorString(int32_t result, unsigned slot)
{
	return (void *)lc_error_text(result, slot, "NVRTC_ERROR unknown");
}

static lc_version nvrtc_version(lc_finder *find, void *data, int major)
{
	int (*get)(int *, int *) = (int (*)(int *, int *))find("nvrtcVersion", data);
	int minor = 0;

	return get && get(&major, &minor) == 0 ? LC_VERSION(major, minor) : 0;
}

static lc_function nvrtc_lasting(const char *name, lc_function function)
{
	return !strcmp(name, "nvrtcCompileProgram") ? lc_note_lasting(function) : function;
}

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("nvrtc"),
	.advice = "Install one, for Python with `pip install nvidia-cuda-nvrtc` (CUDA 13),"
		  " nvidia-cuda-nvrtc-cu12 or nvidia-cuda-nvrtc-cu11.",
	.version = nvrtc_version,
	.lasting = nvrtc_lasting,
	.await_lasting = lc_await_lasting,
};
