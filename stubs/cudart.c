/* SPDX-License-Identifier: MIT */
/* cudart.c - what the runtime's stub does beyond forwarding */
#include "adaptors/adaptors.h"
#include "errors.h"
#include "generated/libcudart_stub.h"
#include "loader.h"
#include "registrations.h"

/* The slot's real function as one of type `type`. */
#define REAL(slot, type) ((type)lc_slot_table[slot])

/*
 * The runtime remembers errors of its own calls only.  A call that the stub
 * refused would go unnoticed by code that looks no further than here, as most
 * code around <<<>>> does; so the stub's refusals come first.
 */
int32_t lc_hook_cudaGetLastError(unsigned slot)
{
	int32_t pending = lc_pending_status();

	if (pending) {
		lc_clear_pending();
		return pending;
	}
	return lc_reaches(slot) ? REAL(slot, int32_t (*)(void))() : 0;
}

int32_t lc_hook_cudaPeekAtLastError(unsigned slot)
{
	int32_t pending = lc_pending_status();

	if (pending)
		return pending;
	return lc_reaches(slot) ? REAL(slot, int32_t (*)(void))() : 0;
}

static const char unknown[] = "unrecognized error code";

void *lc_hook_cudaGetErrorName(int32_t error, unsigned slot)
{
	const char *name;

	if (lc_reaches(slot))
		return REAL(slot, void *(*)(int32_t))(error);
	name = lc_status_name(error);
	return (void *)(name ? name : unknown);
}

void *lc_hook_cudaGetErrorString(int32_t error, unsigned slot)
{
	return (void *)lc_error_text(error, slot, unknown);
}

/* nvcc calls it before the first use of a managed variable. */
int8_t lc_hook___cudaInitModule(void *handle, unsigned slot)
{
	return lc_reaches(slot) ? REAL(slot, int8_t (*)(void *))(lc_real_handle(handle)) : 0;
}

static lc_version version(lc_finder *find, void *data, int major)
{
	int (*get)(int *);
	int value = 0;

	/* Without a driver CUDA 11 fails here, and would remember that as the
	 * thread's last error; its exports tell its minor. */
	if (major < 12)
		return 0;
	get = (int (*)(int *))find("cudaRuntimeGetVersion", data);
	return get && get(&value) == 0 ? LC_VERSION(value / 1000, value % 1000 / 10) : 0;
}

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("cudart"),
	.advice = "Install one, for instance with `pip install nvidia-cuda-runtime` (CUDA 13),"
		  " nvidia-cuda-runtime-cu12 or nvidia-cuda-runtime-cu11.",
	.version = version,
	.adaptors = lc_adaptors,
	.replay_pending = lc_replay_pending,
	.replay_next = lc_replay_next,
};
