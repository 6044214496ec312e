/* SPDX-License-Identifier: MIT */
/* cudart.c - what the runtime's stub does beyond forwarding */
#include <string.h>

#include "adaptors/adaptors.h"
#include "../base/cuda_version.h"
#include "../loader/driver.h"
#include "../loader/errors.h"
#include "generated/libcudart_stub.h"
#include "../loader/loader.h"
#include "../loader/specifics.h"
#include "registrations.h"

/* The slot's real function as one of type `type`. */
#define REAL(slot, type) ((type)LC_REAL(slot))

/*
 * The runtime remembers errors of its own calls only.  Most code around <<<>>>
 * checks nothing but this function and would miss a call that the stub refused, so
 * the stub's refusals come first.
 */
int32_t lc_hook_cudaPeekAtLastError(unsigned slot)
{
	int32_t pending = lc_pending_status();

	if (pending)
		return pending;
	return lc_load_reaches(slot) ? lc_note_error(REAL(slot, int32_t (*)(void))()) : 0;
}

int32_t lc_hook_cudaGetLastError(unsigned slot)
{
	int32_t pending = lc_pending_status();

	lc_clear_pending();
	return pending ? pending : lc_hook_cudaPeekAtLastError(slot);
}

/*
 * Programs call these two functions to find out whether there is a GPU.  Without a
 * driver the real library answers with error 35 and with version 0, which programs
 * take for "there is none"; 303 is unheard of there, and ends some of them.  So if
 * there is neither a library nor a driver, the two answer as the library would.  With
 * a driver, a GPU is idle because a package is missing, and the user has to be told.
 */
static const char neither[] = "neither an NVIDIA driver nor a CUDA library was found. As for the"
	" driver, " LC_DRIVER_REMEDY ". As for the library, ";

/* Returns true if no library was found, and either CUDA is hidden or there is no
 * driver.  *reason goes before the status's own reason; NULL if that says it all. */
static bool has_nothing(const char **reason)
{
	bool hidden = lc_status()->state == LAZYCUDA_STATE_HIDDEN;

	*reason = hidden ? NULL : neither;
	return lc_found_nothing() && (hidden || !lc_has_driver());
}

static int32_t answer(void *into, unsigned slot, int32_t status)
{
	enum lc_refusal why = lc_load_for(slot);
	const char *reason;

	if (why == LC_NONE)
		return REAL(slot, int32_t (*)(void *))(into);
	if (into)
		memset(into, 0, sizeof(int32_t));
	return why == LC_MISSING && has_nothing(&reason) ?
	       lc_refuse_with(slot, why, status, reason) : lc_refuse(slot, why);
}

int32_t lc_hook_cudaGetDeviceCount(void *count, unsigned slot)
{
	return answer(count, slot, lc_library.errors[LC_DRIVER]);
}

int32_t lc_hook_cudaDriverGetVersion(void *version, unsigned slot)
{
	return answer(version, slot, 0);
}

static const char unknown[] = "unrecognized error code";

void *lc_hook_cudaGetErrorName(int32_t error, unsigned slot)
{
	const char *name;

	if (lc_load_reaches(slot))
		return REAL(slot, void *(*)(int32_t))(error);
	name = lc_status_name(error);
	return (void *)(name ? name : unknown);
}

void *lc_hook_cudaGetErrorString(int32_t error, unsigned slot)
{
	struct lc_refused count = { .slot = LC_SLOT_cudaGetDeviceCount, .why = LC_MISSING,
				    .status = lc_library.errors[LC_DRIVER] };

	/*
	 * A forwarded call is a jump, so the stub does not see an error of the runtime
	 * that has the number of an earlier refusal.  Only the runtime knows of that error.
	 */
	if (lc_is_loaded() && lc_refusal_text(error) && lc_load_reaches(LC_SLOT_cudaPeekAtLastError))
		lc_note_error(REAL(LC_SLOT_cudaPeekAtLastError, int32_t (*)(void))());
	/* Another thread may have got this status and handed it on. */
	if (error == count.status && !lc_refusal_text(error) && has_nothing(&count.reason))
		return (void *)lc_error_of(&count)->message;
	return (void *)lc_error_text(error, slot, unknown);
}

static lc_version cudart_version(lc_finder *find, void *data, int major)
{
	int (*get)(int *);
	int value = 0;

	/* Without a driver the function of CUDA 11 fails, and would leave that as the
	 * thread's last error.  The exports of CUDA 11 tell its minor. */
	if (major < 12)
		return 0;
	get = (int (*)(int *))find("cudaRuntimeGetVersion", data);
	return get && get(&value) == 0 ? lc_version_of_number(value) : 0;
}

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("cudart"),
	.advice = "Install one, for Python with `pip install nvidia-cuda-runtime` (CUDA 13),"
		  " nvidia-cuda-runtime-cu12 or nvidia-cuda-runtime-cu11.",
	.version = cudart_version,
	.adaptors = lc_adaptors,
	.replay_pending = lc_replay_pending,
	.replay_next = lc_replay_next,
	.registered = lc_registered,
	.replay_forked = lc_replay_forked,
};
