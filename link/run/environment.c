/* SPDX-License-Identifier: MIT */
/* environment.c - the installed CUDA libraries, as the stubs find them, and the GPU that is here */
#include "environment.h"

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/glibc.h"
#include "backends.h"
#include "calls.h"
#include "../tables/versions.h"

static const char *const names[] = {
	[LK_NVRTC] = "nvrtc", [LK_NVJITLINK] = "nvJitLink", [LK_DRIVER] = "cuda"
};

/*
 * The status of a stub that has loaded its library; NULL until then.  That status
 * never changes again, so a link does not have to look for the stub each time.
 */
static const struct lazycuda_status *usable[3];

const char *lk_tool_name(enum lk_tool tool)
{
	return names[tool];
}

const struct lazycuda_status *lk_tool_status(enum lk_tool tool)
{
	const struct lazycuda_status *status = __atomic_load_n(&usable[tool], __ATOMIC_ACQUIRE);

	if (status)
		return status;
	lazycuda_load(names[tool]);
	status = lazycuda_get_status(names[tool]);
	if (status && status->state == LAZYCUDA_STATE_USABLE)
		__atomic_store_n(&usable[tool], status, __ATOMIC_RELEASE);
	return status;
}

const char *lk_why_missing(struct lc_arena *arena, enum lk_tool tool)
{
	const struct lazycuda_status *status = lk_tool_status(tool);
	char *reason;

	if (!status || !status->reason)
		return lc_format(arena, "there is no stub for %s in this process", names[tool]);
	if (status->state == LAZYCUDA_STATE_USABLE)
		return NULL;
	if (status->state == LAZYCUDA_STATE_UNKNOWN)
		return lc_format(arena, "the search for %s could not be finished: memory or file descriptors"
				 " ran out", names[tool]);
	reason = lc_format(arena, "%s", status->reason);
	for (char *c = reason; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return lc_printable(arena, reason);
}

const char *lk_loaded_file(enum lk_tool tool)
{
	const struct lazycuda_status *status = lazycuda_get_status(names[tool]);

	return status && status->state == LAZYCUDA_STATE_USABLE ? status->path : NULL;
}

int lk_loaded_version(enum lk_tool tool)
{
	const struct lazycuda_status *status = lk_tool_status(tool);

	if (!status || status->state != LAZYCUDA_STATE_USABLE)
		return LAZYCUDA_VERSION_NONE;
	return status->major ? LC_CUDA(status->major, status->minor) : LAZYCUDA_VERSION_UNKNOWN;
}

struct lazycuda_environment lk_linkers(void)
{
	struct lazycuda_environment environment = { .size = sizeof(environment) };
	struct lazycuda_driver driver;

	environment.nvjitlink = lk_loaded_version(LK_NVJITLINK);
	driver = lazycuda_get_driver();
	environment.driver = driver.version;
	environment.branch = driver.branch;
	return environment;
}

/* Whether there is a driver after all, whose cuDriverGetVersion() fails.  The stub, which has loaded it,
 * takes it for NVIDIA's stand-in for linking; that says that it is one. */
static bool has_mute_driver(void)
{
	enum { STUB_LIBRARY = 34 };
	const struct lazycuda_status *status = lk_tool_status(LK_DRIVER);
	int (*get)(int *) = NULL, version;

	for (size_t i = 0; status && i < status->candidate_count; i++) {
		const struct lazycuda_candidate *candidate = &status->candidates[i];
		void *library = candidate->reason && strstr(candidate->reason, "stand-in for linking") ?
				lazycuda_open_aside(names[LK_DRIVER], candidate->path) : NULL;

		if (library && lk_bind(&get, dlsym(library, "cuDriverGetVersion")) &&
		    get(&version) != STUB_LIBRARY)
			return true;
	}
	return false;
}

struct lazycuda_environment lazycuda_get_environment(void)
{
	struct lazycuda_environment environment = lk_linkers();

	if (!environment.driver && has_mute_driver())
		environment.driver = LAZYCUDA_VERSION_UNKNOWN;
	environment.nvrtc = lk_loaded_version(LK_NVRTC);
	return environment;
}

struct lazycuda_components *lazycuda_get_components(void)
{
	const struct lazycuda_environment here = lazycuda_get_environment();
	const char *file = lk_loaded_file(here.nvrtc ? LK_NVRTC : LK_NVJITLINK);

	return lazycuda_find_components(file ? file : "");
}

/* ---- the GPU ---- */

/* CUdevice_attribute */
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

bool lk_has_device(void)
{
	return !cuInit(0);
}

/* Asks the device of the current context or, if there is none, the one of this number.  Returns the
 * function that failed, or NULL. */
static const char *ask(int ordinal, int *major, int *minor)
{
	void *context = NULL;
	int device;

	if (cuInit(0))
		return "cuInit";
	if ((cuCtxGetCurrent(&context) || !context || cuCtxGetDevice(&device)) &&
	    cuDeviceGet(&device, ordinal))
		return "cuDeviceGet";
	return cuDeviceGetAttribute(major, CAPABILITY_MAJOR, device) ||
	       cuDeviceGetAttribute(minor, CAPABILITY_MINOR, device) ? "cuDeviceGetAttribute" : NULL;
}

const char *lk_native_arch(struct lc_arena *arena, int device, const char **why)
{
	const char *failed;
	int major, minor;

	if (!lazycuda_get_driver().version) {
		*why = "there is no driver here";
		return NULL;
	}
	failed = ask(device, &major, &minor);
	if (!failed)
		return lc_format(arena, "sm_%d%d", major, minor);
	*why = lc_format(arena, "%s of the driver here failed for device %d", failed, device);
	return NULL;
}
